// The type ndarray: its object, its properties, copies between dtypes and devices.

#include "../core/graph/tape.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

PyTypeObject* ndarray_type = nullptr;

// ---- the object

PyObject* wrap(Array&& array) {
  return wrap_made([&] { return std::move(array); });
}

void dealloc_array(PyObject* o) {
  auto* self = reinterpret_cast<ArrayObject*>(o);
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  PyTypeObject* type = Py_TYPE(o);
  tape::let_go(self->array);
  self->array.~Array();
  type->tp_free(o);
  Py_DECREF(type);
}

// ndarray(shape, dtype=None, device=None): uninitialised, as in NumPy.
static PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    PyObject *shape = nullptr, *dtype = Py_None, *device = Py_None;
    static const char* names[] = {"shape", "dtype", "device", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:ndarray", const_cast<char**>(names), &shape, &dtype, &device))
      return nullptr;
    Array array = empty(to_dims(shape), to_dtype_or_none(dtype).value_or(default_dtype(Kind::real)), to_device(device));
    PyObject* o = checked(type->tp_alloc(type, 0));
    new (&as_array(o)) Array(std::move(array));
    return o;
  });
}

void parse_arguments(const char* function, const char* const* names, size_t count, PyObject* const* args, Py_ssize_t n,
                     PyObject* keywords, PyObject** values) {
  if (static_cast<size_t>(n) > count)
    fail(ErrorKind::type, function, "() takes at most ", count, " arguments (", n, " given)");
  for (Py_ssize_t i = 0; i < n; i++) values[i] = args[i];
  Py_ssize_t more = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < more; k++) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    size_t i = 0;
    while (i < count && PyUnicode_CompareWithASCIIString(name, names[i]) != 0) i++;
    if (i == count)
      fail(ErrorKind::type, function, "() got an unexpected keyword argument '", PyUnicode_AsUTF8(name), "'");
    if (values[i]) fail(ErrorKind::type, function, "() got multiple values for argument '", names[i], "'");
    values[i] = args[n + k];
  }
}

// ---- properties

namespace {

template <auto F>
PyObject* get(PyObject* self, void*) {
  return guarded([&] {
    const Array& a = as_array(self);
    if constexpr (std::is_same_v<decltype(F(a)), Array>)
      return wrap_made([&] { return F(a); });
    else
      return F(a).release().ptr();
  });
}

nb::object shape_of(const Array& a) { return to_tuple(a.shape); }
nb::object strides_of(const Array& a) { return to_tuple(a.strides); }
nb::object dtype_of(const Array& a) { return nb::borrow(dtype_object(a.dtype)); }
nb::object ndim_of(const Array& a) { return nb::int_(a.ndim()); }
nb::object size_of(const Array& a) { return nb::int_(a.size()); }
nb::object itemsize_of(const Array& a) { return nb::int_(itemsize(a.dtype)); }
nb::object nbytes_of(const Array& a) { return nb::int_(a.nbytes()); }
nb::object device_property(const Array& a) { return device_object(a.device()); }

Array transposed(const Array& a) { return transpose(a); }
Array matrix_transposed(const Array& a) {
  if (a.ndim() < 2) fail(ErrorKind::value, "mT: the array has ", a.ndim(), " dimensions, but needs at least 2");
  return swapaxes(a, -1, -2);
}

Array part(const Array& a, bool imaginary) {
  View v = a;
  v.dtype = real_of(a.dtype);
  if (imaginary) v.offset += static_cast<int64_t>(itemsize(v.dtype));
  Array made = a.view(std::move(v));
  if (tape::follows(a))  // the gradient of the row of that name
    tape::note(imaginary ? "imag" : "real", made, {&a}, [imaginary, dtype = a.dtype](const Array& g) {
      Array whole = astype(g, dtype);
      const Arg turned[] = {Arg(whole), Arg(Scalar::of(0.0, -1.0))};
      return std::vector<Array>{imaginary ? elementwise(Row::multiply, turned) : whole};
    });
  return made;
}
Array real_part(const Array& a) { return is_complex(a.dtype) ? part(a, false) : a; }
Array imaginary_part(const Array& a) {
  return is_complex(a.dtype) ? part(a, true) : full(a.shape, Scalar::of(int64_t{0}), a.dtype, a.device());
}

int set_part(PyObject* self, PyObject* value, bool imaginary) {
  return guarded(-1, [&] {
    Array& a = as_array(self);
    if (!value) fail(ErrorKind::type, "real and imag cannot be deleted");
    if (imaginary && !is_complex(a.dtype))
      fail(ErrorKind::type, "imag: the array is ", a.dtype, ", which has no imaginary part");
    assign(is_complex(a.dtype) ? part(a, imaginary) : a, to_value(value, a.device(), a.dtype));
    return 0;
  });
}
int set_real(PyObject* self, PyObject* value, void*) { return set_part(self, value, false); }
int set_imag(PyObject* self, PyObject* value, void*) { return set_part(self, value, true); }

int set_shape(PyObject* self, PyObject* value, void*) {
  return guarded(-1, [&] {
    if (!value) fail(ErrorKind::type, "shape cannot be deleted");
    Shape shape = to_dims(value);
    if (as_array(self).node())
      fail(ErrorKind::runtime, "shape: the array has a gradient or is part of a recorded graph; use reshape");
    std::optional<Array> view = reshape_view(as_array(self), shape);
    if (!view)
      fail(ErrorKind::value, "shape: an array with these strides cannot take the shape ", shape,
           " without a copy; use reshape");
    as_array(self) = std::move(*view);
    return 0;
  });
}

struct Flags {
  bool c_contiguous, f_contiguous, writeable;
};
nb::object flags_of(const Array& a) {
  return nb::cast(Flags{a.contiguous(), transpose(a.detached()).contiguous(), !a.storage()->read_only});
}

// ---- copies

PyObject* copy_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<1>("copy", {"order"}, args, n, keywords);
    return wrap_made([&] { return copy(as_array(self)); });
  });
}
PyObject* copy_plain(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(copy(as_array(self))); });
}

PyObject* astype_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Arguments<6> given("astype", {"dtype", "order", "casting", "subok", "copy", "device"}, args, n, keywords);
    if (!given[0]) fail(ErrorKind::type, "astype: dtype is missing");
    const Array& a = as_array(self);
    DType to = to_dtype(given[0]);
    if (given[2] && PyUnicode_CompareWithASCIIString(given[2], "unsafe") != 0) {
      nb::object allowed = numpy().module.attr("can_cast")(nb::handle(dtype_object(a.dtype)),
                                                           nb::handle(dtype_object(to)), nb::handle(given[2]));
      if (!nb::cast<bool>(allowed))
        fail(ErrorKind::type, "astype: cannot cast ", a.dtype, " to ", to, " according to the rule '",
             PyUnicode_AsUTF8(given[2]), "'");
    }
    Device device = given[5] ? to_device(given[5]) : a.device();
    int copying = given[4] ? PyObject_IsTrue(given[4]) : 1;
    checked(copying);
    if (!copying && to == a.dtype && device == a.device()) return Py_NewRef(self);
    Array made = to == a.dtype && !(device == a.device()) ? a : astype(a, to);
    return wrap(device == a.device() ? std::move(made) : copy_to_device(made, device));
  });
}

// copyto(other): into another array (of any device), or onto a device as a new array.
PyObject* copyto_method(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    const Array& a = as_array(self);
    if (!is_ndarray(other)) return wrap(copy_to_device(a, to_device(other)));
    if (!(as_array(other).shape == a.shape))
      fail(ErrorKind::value, "copyto: an array of shape ", a.shape, " cannot be copied to one of shape ",
           as_array(other).shape);
    assign(as_array(other), a);
    return Py_NewRef(other);
  });
}

PyObject* on_device(PyObject* self, PyObject* device) {  // itself where it is there already
  return guarded([&]() -> PyObject* {
    Device to = to_device(device);
    const Array& a = as_array(self);
    return a.device() == to ? Py_NewRef(self) : wrap(copy_to_device(a, to));
  });
}
PyObject* to_device_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<2> given("to_device", {"device", "stream"}, args, n, keywords);
    if (!given[0]) fail(ErrorKind::type, "to_device: device is missing");
    if (given[1] && given[1] != Py_None)
      fail(ErrorKind::value, "to_device: streams are the engine's; stream must be None");
    return on_device(self, given[0]);
  });
}

PyObject* reduce_method(PyObject* self, PyObject*) {  // pickle
  return guarded([&]() -> PyObject* {
    sync_point("pickling");
    const Array& a = as_array(self);
    static PyObject* rebuild = package_function("slipstream._core", "_unpickle");
    return nb::make_tuple(nb::handle(rebuild), nb::make_tuple(read(a), device_object(a.device()))).release().ptr();
  });
}

// Not a function of nanobind's: pickle has to find it by its name.
PyObject* unpickle(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *values, *device;
    if (!PyArg_ParseTuple(args, "OO", &values, &device)) return nullptr;
    return wrap(from_numpy(values, to_device(device)));
  });
}

}  // namespace

void add_properties(TypeParts& parts) {
  parts.property("shape", get<shape_of>, set_shape,
                 "Sizes of the axes."
                 "\n\n>>> np.ones((2, 3)).shape\n(2, 3)");
  parts.property("strides", get<strides_of>, nullptr,
                 "Bytes between neighbours along each axis."
                 "\n\n>>> np.ones((2, 3)).strides\n(12, 4)");
  parts.property("dtype", get<dtype_of>, nullptr,
                 "Type of the elements, a numpy.dtype."
                 "\n\n>>> np.ones(2).dtype\ndtype('float32')");
  parts.property("ndim", get<ndim_of>, nullptr,
                 "Number of axes."
                 "\n\n>>> np.ones((2, 3)).ndim\n2");
  parts.property("size", get<size_of>, nullptr,
                 "Number of elements."
                 "\n\n>>> np.ones((2, 3)).size\n6");
  parts.property("itemsize", get<itemsize_of>, nullptr,
                 "Bytes of one element."
                 "\n\n>>> np.ones(2).itemsize\n4");
  parts.property("nbytes", get<nbytes_of>, nullptr,
                 "Bytes of all elements."
                 "\n\n>>> np.ones((2, 3)).nbytes\n24");
  parts.property("device", get<device_property>, nullptr,
                 "Where the array lives."
                 "\n\n>>> np.ones(2).device\ncpu(0)");
  parts.property("ctx", get<device_property>, nullptr,
                 "The device, by MXNet 1's name."
                 "\n\n>>> np.ones(2).ctx\ncpu(0)");
  parts.property("context", get<device_property>, nullptr,
                 "The device, by MXNet 1's name."
                 "\n\n>>> np.ones(2).ctx\ncpu(0)");
  parts.property("flags", get<flags_of>, nullptr,
                 "c_contiguous, f_contiguous, writeable."
                 "\n\n>>> np.ones((2, 3)).flags.c_contiguous\nTrue");
  parts.property("T", get<transposed>, nullptr,
                 "A view with the axes reversed."
                 "\n\n>>> np.ones((2, 3)).T.shape\n(3, 2)");
  parts.property("mT", get<matrix_transposed>, nullptr,
                 "A view with the last two axes swapped."
                 "\n\n>>> np.ones((4, 2, 3)).mT.shape\n(4, 3, 2)");
  parts.property("real", get<real_part>, set_real,
                 "The real part, a view."
                 "\n\n>>> np.array([1 + 2j]).real\narray([1.])");
  parts.property("imag", get<imaginary_part>, set_imag,
                 "The imaginary part, a view; zeros for real arrays."
                 "\n\n>>> np.array([1 + 2j]).imag\narray([2.])");

  constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
  parts.method("copy", reinterpret_cast<PyCFunction>(copy_method), kFast,
               "copy($self, order='C')\n--\n\nA row-major copy."
               "\n\n>>> np.ones(2).copy()\narray([1., 1.])");
  parts.method("__copy__", copy_plain, METH_NOARGS, "A copy.");
  parts.method("__deepcopy__", copy_plain, METH_O, "A copy.");
  parts.method("astype", reinterpret_cast<PyCFunction>(astype_method), kFast,
               "astype($self, dtype, order='K', casting='unsafe', subok=True, copy=True, device=None)\n--\n\n"
               "The array in another type."
               "\n\n>>> np.array([1.5]).astype(\"int32\")\narray([1], dtype=int32)");
  parts.method("copyto", copyto_method, METH_O,
               "copyto($self, other, /)\n--\n\nCopies into an array, or onto a device."
               "\n\n>>> np.ones(2).copyto(np.zeros(2))\narray([1., 1.])");
  parts.method("as_in_ctx", on_device, METH_O,
               "as_in_ctx($self, ctx, /)\n--\n\nThe array on a device; itself if it is there."
               "\n\n>>> np.ones(2).as_in_ctx(npx.cpu(1)).device\ncpu(1)");
  parts.method("as_in_context", on_device, METH_O,
               "as_in_context($self, context, /)\n--\n\nThe array on a device."
               "\n\n>>> np.ones(2).as_in_context(npx.cpu(1)).device\ncpu(1)");
  parts.method("to_device", reinterpret_cast<PyCFunction>(to_device_method), kFast,
               "to_device($self, device, /, stream=None)\n--\n\nThe array on a device; itself if it is there."
               "\n\n>>> np.ones(2).to_device(npx.cpu(1)).device\ncpu(1)");
  parts.method("__reduce__", reduce_method, METH_NOARGS, "Values, dtype and device, for pickle.");
}

void bind_ndarray(nb::module_& m) {
  static TypeParts parts;  // the type points into it
  parts.slot(Py_tp_dealloc, dealloc_array);
  parts.slot(Py_tp_new, make);
  parts.slot(Py_tp_hash, PyObject_HashNotImplemented);
  static const char doc[] =
      "An array whose values may still be on their way. Made by the functions of slipstream.np."
      "\n\n>>> np.ndarray((2, 3), dtype=\"int32\").shape\n(2, 3)";
  parts.slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  add_properties(parts);
  add_reading(parts);
  add_exchange(parts);
  add_operators(parts);
  add_indexing(parts);
  add_views(parts);
  add_callbacks(parts);
  add_gradients(parts);
  static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayHead, weakrefs), READONLY, nullptr},
                                  {}};
  parts.methods.push_back({});
  parts.properties.push_back({});
  parts.slots.push_back({Py_tp_methods, parts.methods.data()});
  parts.slots.push_back({Py_tp_getset, parts.properties.data()});
  parts.slots.push_back({Py_tp_members, members});
  parts.slots.push_back({0, nullptr});
  PyType_Spec spec{"slipstream.np.ndarray", sizeof(ArrayObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                   parts.slots.data()};
  ndarray_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  nb::handle type(reinterpret_cast<PyObject*>(ndarray_type));
  type.attr("__array_priority__") = 1000.0;
  m.attr("ndarray") = type;

  nb::class_<Flags>(m, "Flags", "Memory layout of an array.")
      .def_ro("c_contiguous", &Flags::c_contiguous)
      .def_ro("f_contiguous", &Flags::f_contiguous)
      .def_prop_ro("contiguous", [](const Flags& f) { return f.c_contiguous; })
      .def_ro("writeable", &Flags::writeable)
      .def("__getitem__",
           [](nb::handle self, const std::string& key) {
             std::string name = key == "C"   ? "c_contiguous"
                                : key == "F" ? "f_contiguous"
                                : key == "W" ? "writeable"
                                             : key;
             for (char& c : name) c = static_cast<char>(tolower(c));
             return nb::getattr(self, name.c_str());
           })
      .def("__repr__", [](const Flags& f) {
        return std::string("  C_CONTIGUOUS : ") + (f.c_contiguous ? "True" : "False") +
               "\n  F_CONTIGUOUS : " + (f.f_contiguous ? "True" : "False") +
               "\n  WRITEABLE : " + (f.writeable ? "True" : "False");
      });
  m.def(
      "rebind",
      [](nb::handle x, nb::handle to) {
        if (as_array(x.ptr()).node())
          fail(ErrorKind::runtime, "resize: the array has a gradient or is part of a recorded graph; use np.resize");
        as_array(x.ptr()) = as_array(to.ptr()).detached();
      },
      nb::arg("x"), nb::arg("to"), "Makes a handle stand for another array, as `x.resize` does.");
  static PyMethodDef functions[] = {{"_unpickle", unpickle, METH_VARARGS, "An array from what pickle kept."}, {}};
  checked(PyModule_AddFunctions(m.ptr(), functions));
}

}  // namespace slipstream::python
