// Shortcuts: functions of the package whose plain calls go straight to the core, without a Python frame in between.

#include <cstddef>
#include <string_view>

#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// Does a call without keywords, if it is plain: gives nullptr, without an error, if it is not.
using Plain = PyObject* (*)(PyObject* const* args, Py_ssize_t n);

// Says what the function does in every other case, and has its name, its signature and its documentation.
struct Shortcut {
  PyObject_HEAD vectorcallfunc vectorcall;
  Plain plain;
  PyObject* function;
};
Shortcut* as_shortcut(PyObject* o) { return reinterpret_cast<Shortcut*>(o); }

PyObject* call_shortcut(PyObject* self, PyObject* const* args, size_t nargs, PyObject* keywords) {
  const Shortcut& s = *as_shortcut(self);
  if (!keywords) {
    PyObject* made = guarded([&] { return s.plain(args, PyVectorcall_NARGS(nargs)); });
    if (made || PyErr_Occurred()) return made;
  }
  return PyObject_Vectorcall(s.function, args, nargs, keywords);
}

// ---- the plain calls

// An int, or a tuple of them; anything else is left to others.
bool plain_dims(PyObject* o, Dims* dims) {
  PyObject* const* items = &o;
  Py_ssize_t n = 1;
  if (PyTuple_CheckExact(o)) {
    items = &PyTuple_GET_ITEM(o, 0);
    n = PyTuple_GET_SIZE(o);
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    int overflow = 0;
    if (!PyLong_CheckExact(items[i])) return false;
    dims->push_back(PyLong_AsLongLongAndOverflow(items[i], &overflow));
    if (overflow) return false;
  }
  return true;
}

PyObject* filled(PyObject* shape, const Scalar& value) {
  Dims dims;
  if (!plain_dims(shape, &dims)) return nullptr;
  return wrap_made([&] { return full(dims, value, default_dtype(value.kind), current_device()); });
}

PyObject* plain_zeros(PyObject* const* args, Py_ssize_t n) {
  return n == 1 ? filled(args[0], Scalar::of(0.0)) : nullptr;
}
PyObject* plain_ones(PyObject* const* args, Py_ssize_t n) {
  return n == 1 ? filled(args[0], Scalar::of(1.0)) : nullptr;
}
PyObject* plain_full(PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return nullptr;
  Given given = classify(args[1]);
  return is_scalar(given) ? filled(args[0], to_scalar(args[1], given, default_dtype(kind_of(given)))) : nullptr;
}

template <auto product>
PyObject* plain_product(PyObject* const* args, Py_ssize_t n) {
  if (n != 2 || !is_ndarray(args[0]) || !is_ndarray(args[1])) return nullptr;
  return wrap_made([&] { return product(as_array(args[0]), as_array(args[1]), nullptr); });
}

template <auto join>
PyObject* plain_join(PyObject* const* args, Py_ssize_t n) {
  if (n < 1 || n > 2 || !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) return nullptr;
  if (n == 2 && !PyLong_CheckExact(args[1])) return nullptr;
  PyObject** items = PySequence_Fast_ITEMS(args[0]);
  Py_ssize_t count = PySequence_Fast_GET_SIZE(args[0]);
  std::vector<Array> arrays;
  arrays.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!is_ndarray(items[i])) return nullptr;
    arrays.push_back(as_array(items[i]));
  }
  int64_t axis = n == 2 ? to_integer(args[1], "axis") : 0;
  return wrap_made([&] { return join(arrays, axis, nullptr, std::nullopt); });
}

PyObject* plain_expand_dims(PyObject* const* args, Py_ssize_t n) {
  if (n != 2 || !is_ndarray(args[0]) || !PyLong_CheckExact(args[1])) return nullptr;
  int64_t axis = to_integer(args[1], "expand_dims: axis");
  return wrap(expand_dims(as_array(args[0]), {&axis, 1}));
}

PyObject* plain_squeeze(PyObject* const* args, Py_ssize_t n) {
  return n == 1 && is_ndarray(args[0]) ? wrap(squeeze(as_array(args[0]), std::nullopt)) : nullptr;
}

PyObject* plain_reshape(PyObject* const* args, Py_ssize_t n) {
  Dims dims;
  if (n != 2 || !is_ndarray(args[0]) || !plain_dims(args[1], &dims)) return nullptr;
  return wrap_made([&] { return reshape(as_array(args[0]), dims); });
}

PyObject* plain_where(PyObject* const* args, Py_ssize_t n) {
  static PyObject* row = package_function("slipstream._core", "where");
  bool plain = n == 3 && args[1] != Py_None && args[2] != Py_None;
  return plain ? checked(PyObject_Vectorcall(row, args, 3, nullptr)) : nullptr;
}

struct Named {
  std::string_view name;
  Plain plain;
};
constexpr Named kPlain[] = {{"zeros", plain_zeros},
                            {"ones", plain_ones},
                            {"full", plain_full},
                            {"dot", plain_product<&dot>},
                            {"matmul", plain_product<&matmul>},
                            {"concatenate", plain_join<&concatenate>},
                            {"stack", plain_join<&stack>},
                            {"expand_dims", plain_expand_dims},
                            {"squeeze", plain_squeeze},
                            {"reshape", plain_reshape},
                            {"where", plain_where}};

// ---- the type

PyObject* wrapped(PyObject* self, void*) { return Py_NewRef(as_shortcut(self)->function); }
PyObject* of_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_shortcut(self)->function, static_cast<const char*>(name));
}
PyObject* repr(PyObject* self) { return PyObject_Repr(as_shortcut(self)->function); }
PyObject* reduce_by_name(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(as_shortcut(self)->function, "__qualname__");
}
PyObject* bind_shortcut(PyObject* self, PyObject* instance, PyObject*) {
  return instance ? PyMethod_New(self, instance) : Py_NewRef(self);
}

PyTypeObject* make_shortcut_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Shortcut, vectorcall), READONLY, nullptr}, {}};
  auto same = [](const char* name) {
    return PyGetSetDef{name, of_function, nullptr, nullptr, const_cast<char*>(name)};
  };
  static PyGetSetDef properties[] = {{"__wrapped__", wrapped, nullptr, nullptr, nullptr},
                                     same("__name__"),
                                     same("__qualname__"),
                                     same("__module__"),
                                     same("__doc__"),
                                     same("__annotations__"),
                                     {}};
  static PyMethodDef methods[] = {{"__reduce__", reduce_by_name, METH_NOARGS, nullptr}, {}};
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind_shortcut)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_members, members},
                         {Py_tp_getset, properties},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION;
  PyType_Spec spec{"slipstream._core.shortcut_function", sizeof(Shortcut), 0, kFlags, slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

// Kept for good, like the functions themselves.
nb::object shortcut(nb::object function) {
  static PyTypeObject* type = make_shortcut_type();
  nb::str name = nb::str(function.attr("__name__"));
  for (const Named& known : kPlain) {
    if (known.name != name.c_str()) continue;
    nb::object made = nb::steal(checked(type->tp_alloc(type, 0)));
    Shortcut* s = as_shortcut(made.ptr());
    s->vectorcall = call_shortcut;
    s->plain = known.plain;
    s->function = function.release().ptr();
    made.inc_ref();
    return made;
  }
  fail(ErrorKind::value, "shortcut: the core has none for ", name.c_str());
}

}  // namespace

void bind_shortcuts(nb::module_& m) {
  m.def("shortcut", &shortcut, nb::arg("function"),
        "The function, with its plain calls (positions alone, arrays and numbers) going straight to the core.");
}

}  // namespace slipstream::python
