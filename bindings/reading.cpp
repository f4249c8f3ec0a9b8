// Reading values: every sync point of an array (item, tolist, float, bool, repr, asnumpy, ...) and the explicit waits.

#include <cstring>

#include "../core/engine/engine.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// Up to this many bytes are copied by the reading thread itself.
constexpr size_t kDirect = 256 * 1024;

// Is the memory as it stands the array's value, until this thread gives up the GIL? Only calls change memory, calls are
// recorded under the GIL, and none that writes here is unfinished. (Without a GIL another thread might record one.)
bool stands(const Array& a) {
#ifdef Py_GIL_DISABLED
  (void)a;
  return false;
#else
  return a.device().kind == 0 && (engine::is_ready(a) || engine::holds(a)) && a.storage()->data();
#endif
}

// Waits for the copy into memory that `owner` keeps; where the wait is broken off, the copy still has its memory.
void wait_for_copy(const Array& token, nb::handle owner) {
  try {
    engine::wait(token);
  } catch (const FailedResult&) {
    throw;  // the copy is over
  } catch (const nb::python_error&) {
    when_done(token, [owner = share(owner)](FailurePtr) {});
    throw;
  }
}

// One element as bytes.
void read_element(const Array& a, int64_t offset, void* to) {
  engine::wait(a);
  if (stands(a)) {
    std::memcpy(to, a.storage()->data() + offset, itemsize(a.dtype));
    return;
  }
  void* data = nullptr;
  nb::object values = empty_numpy(Shape{}, a.dtype == DType::bf16 ? DType::u16 : a.dtype, &data);
  wait_for_copy(copy_to_host(a.view({a.dtype, offset, {}, {}}), data), values);
  std::memcpy(to, data, itemsize(a.dtype));
}

PyObject* to_python(DType dtype, const void* bytes) {
  return visit(dtype, [&](auto zero) -> PyObject* {
    using T = decltype(zero);
    T v;
    std::memcpy(&v, bytes, sizeof v);
    if constexpr (std::is_same_v<T, bool>)
      return PyBool_FromLong(v);
    else if constexpr (std::is_integral_v<T>)
      return std::is_signed_v<T> ? PyLong_FromLongLong(static_cast<long long>(v))
                                 : PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(v));
    else if constexpr (std::is_floating_point_v<T>)
      return PyFloat_FromDouble(v);
    else if constexpr (std::is_same_v<T, f16_t> || std::is_same_v<T, bf16_t>)
      return PyFloat_FromDouble(to_float(v));
    else
      return PyComplex_FromDoubles(v.real(), v.imag());
  });
}

nb::object element(const Array& a, int64_t offset) {
  alignas(16) char bytes[16];
  read_element(a, offset, bytes);
  return nb::steal(checked(to_python(a.dtype, bytes)));
}

// The only element, for float() and the like.
nb::object only_element(const Array& a, const char* what) {
  if (a.size() != 1)
    fail(ErrorKind::type, what, ": only arrays of size 1 can be converted to Python scalars; the shape is ", a.shape);
  sync_point(what);
  return element(a, a.offset);
}

int64_t checked_index(int64_t i, int64_t n, int axis) {
  if (i < -n || i >= n)
    fail(ErrorKind::index, "item: index ", i, " is out of bounds for axis ", axis, " with size ", n);
  return i < 0 ? i + n : i;
}

int64_t item_offset(const Array& a, const Dims& index) {
  int64_t offset = a.offset;
  if (index.size() == a.ndim()) {
    for (int d = 0; d < a.ndim(); d++) offset += checked_index(index[d], a.shape[d], d) * a.strides[d];
    return offset;
  }
  if (index.size() != 1)
    fail(ErrorKind::value, "item: ", index.size(), " indices for an array of dimension ", a.ndim());
  int64_t flat = checked_index(index[0], a.size(), 0);
  for (int d = a.ndim() - 1; d >= 0; d--) {
    offset += flat % a.shape[d] * a.strides[d];
    flat /= a.shape[d];
  }
  return offset;
}

PyObject* item_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&] {
    const Array& a = as_array(self);
    sync_point("item()");
    if (n == 0) {
      if (a.size() != 1)
        fail(ErrorKind::value, "item: can only convert an array of size 1 to a Python scalar; the shape is ", a.shape);
      return element(a, a.offset).release().ptr();
    }
    Dims index;
    if (n == 1 && PyTuple_Check(args[0]))
      index = to_dims(args[0]);
    else
      for (Py_ssize_t i = 0; i < n; i++) index.push_back(to_dims(args[i])[0]);
    return element(a, item_offset(a, index)).release().ptr();
  });
}

PyObject* to_float_slot(PyObject* self) {
  return guarded([&] {
    nb::object v = only_element(as_array(self), "float()");
    if (PyComplex_Check(v.ptr()))
      fail(ErrorKind::type, "float(): the array is ", as_array(self).dtype, "; use .real or abs()");
    return PyNumber_Float(v.ptr());
  });
}
PyObject* to_int_slot(PyObject* self) {
  return guarded([&] {
    nb::object v = only_element(as_array(self), "int()");
    if (PyComplex_Check(v.ptr()))
      fail(ErrorKind::type, "int(): the array is ", as_array(self).dtype, "; use .real or abs()");
    return PyNumber_Long(v.ptr());
  });
}
PyObject* to_index_slot(PyObject* self) {
  return guarded([&] {
    const Array& a = as_array(self);
    if (a.ndim() != 0 || !is_integer(a.dtype))
      fail(ErrorKind::type, "only integer arrays without dimensions can be used as an index; this one is ", a.dtype,
           " of shape ", a.shape);
    return only_element(a, "operator.index()").release().ptr();
  });
}
int to_bool_slot(PyObject* self) {
  return guarded(-1, [&] {
    const Array& a = as_array(self);
    if (a.size() != 1)
      fail(ErrorKind::value, "The truth value of an ",
           a.size() ? "array with more than one element is ambiguous. Use a.any() or a.all()"
                    : "empty array is ambiguous. Use a.size > 0 to find out whether it is empty",
           "; the shape is ", a.shape);
    return PyObject_IsTrue(only_element(a, "bool()").ptr());
  });
}
PyObject* to_complex_method(PyObject* self, PyObject*) {
  return guarded([&] {
    nb::object v = only_element(as_array(self), "complex()");
    Py_complex c = PyComplex_AsCComplex(v.ptr());
    return PyComplex_FromCComplex(c);
  });
}

PyObject* asnumpy_method(PyObject* self, PyObject*) {
  return guarded([&] {
    sync_point("asnumpy()");
    return read(as_array(self)).release().ptr();
  });
}
PyObject* tolist_method(PyObject* self, PyObject*) {
  return guarded([&] {
    sync_point("tolist()");
    nb::object values = read(as_array(self));
    if (as_array(self).dtype == DType::bf16) values = values.attr("astype")(nb::handle(dtype_object(DType::f32)));
    return nb::object(values.attr("tolist")()).release().ptr();
  });
}

PyObject* array_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Arguments<2> given("__array__", {"dtype", "copy"}, args, n, keywords);
    if (given[1] == Py_False)
      fail(ErrorKind::value, "__array__: copy=False, but a NumPy array of these values is always a copy");
    sync_point("__array__()");
    nb::object values = read(as_array(self));
    if (given[0] && given[0] != Py_None) values = values.attr("astype")(nb::handle(given[0]), nb::arg("copy") = false);
    return values.release().ptr();
  });
}

// ---- printing: NumPy's, by functions of the package

PyObject* print(PyObject* self, const char* what, const char* function, PyObject* spec = nullptr) {
  return guarded([&] {
    sync_point(what);
    nb::object values = read(as_array(self));
    nb::object hook = nb::module_::import_("slipstream.np._printing").attr(function);
    nb::object text = spec ? call_python(hook, {self, values, spec}) : call_python(hook, {self, values});
    return text.release().ptr();
  });
}
PyObject* repr_slot(PyObject* self) { return print(self, "repr()", "show_repr"); }
PyObject* str_slot(PyObject* self) { return print(self, "print()", "show_str"); }
PyObject* format_method(PyObject* self, PyObject* spec) { return print(self, "format()", "show_format", spec); }

// ---- explicit waits

PyObject* wait_to_read(PyObject* self, PyObject*) {
  return guarded([&] {
    engine::wait(as_array(self));
    return Py_NewRef(Py_None);
  });
}
PyObject* is_ready_method(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(engine::is_ready(as_array(self))); });
}

}  // namespace

nb::object read(const Array& a) {
  void* data = nullptr;
  nb::object values;
  try {
    values = empty_numpy(a.shape, a.dtype, &data);
  } catch (nb::python_error&) {  // no memory here: if the array failed for the same reason, that is the news
    engine::wait(a);
    throw;
  }
  if ((a.nbytes() <= kDirect || engine::holds(a)) && a.contiguous()) {
    engine::wait(a);
    if (stands(a) || a.size() == 0) {
      if (a.size()) std::memcpy(data, a.storage()->data() + a.offset, a.nbytes());
      return values;
    }
  }
  wait_for_copy(copy_to_host(a, data), values);
  return values;
}

void add_reading(TypeParts& parts) {
  parts.slot(Py_nb_float, to_float_slot);
  parts.slot(Py_nb_int, to_int_slot);
  parts.slot(Py_nb_index, to_index_slot);
  parts.slot(Py_nb_bool, to_bool_slot);
  parts.slot(Py_tp_repr, repr_slot);
  parts.slot(Py_tp_str, str_slot);
  constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
  parts.method("__complex__", to_complex_method, METH_NOARGS, "complex(self): waits.");
  parts.method("__format__", format_method, METH_O, "format(self, spec): waits.");
  parts.method("item", reinterpret_cast<PyCFunction>(item_method), METH_FASTCALL,
               "item($self, /, *args)\n--\n\nOne element as a Python number: waits."
               "\n\n>>> np.ones(1).item()\n1.0");
  parts.method("tolist", tolist_method, METH_NOARGS,
               "tolist($self)\n--\n\nNested lists of Python numbers: waits."
               "\n\n>>> np.eye(2).tolist()\n[[1.0, 0.0], [0.0, 1.0]]");
  parts.method("asnumpy", asnumpy_method, METH_NOARGS,
               "asnumpy($self)\n--\n\nA NumPy array of the values: waits."
               "\n\n>>> np.ones(2).asnumpy().sum().item()\n2.0");
  parts.method("__array__", reinterpret_cast<PyCFunction>(array_method), kFast,
               "__array__($self, dtype=None, copy=None)\n--\n\nA NumPy array of the values: waits.");
  parts.method("wait_to_read", wait_to_read, METH_NOARGS,
               "wait_to_read($self)\n--\n\nWaits until the values are there; raises what failed on the way."
               "\n\n>>> np.ones(2).wait_to_read()");
  parts.method("is_ready", is_ready_method, METH_NOARGS,
               "is_ready($self)\n--\n\nAre the values there? Does not wait."
               "\n\n>>> x = np.ones(2)\n>>> x.wait_to_read()\n>>> x.is_ready()\nTrue");
}

}  // namespace slipstream::python
