// Methods of ndarray that give the same elements another shape or order.

#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

char to_order(PyObject* o) {
  if (!o || o == Py_None) return 'C';
  const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (text && (*text == 'C' || *text == 'F' || *text == 'A' || *text == 'K') && !text[1]) return *text;
  fail(ErrorKind::value, "order ", nb::repr(o).c_str(), " is none of 'C', 'F', 'A', 'K'");
}

Array reshaped(const Array& x, Dims shape, char order, PyObject* copying) {
  if (order == 'F') {
    std::reverse(shape.begin(), shape.end());
    return transpose(reshaped(transpose(x), shape, 'C', copying));
  }
  if (order == 'K') fail(ErrorKind::value, "reshape: order 'K' is none of 'C', 'F', 'A'");
  if (copying == Py_None) return reshape(x, shape);
  int wanted = PyObject_IsTrue(copying);
  checked(wanted);
  if (wanted) return reshape(copy(x), shape);
  std::optional<Array> view = reshape_view(x, shape);
  if (!view)
    fail(ErrorKind::value, "reshape: copy=False, but ", x.shape, " with strides ", x.strides, " is no view as ", shape);
  return std::move(*view);
}

namespace {

// Integers, one by one or as one sequence.
Dims to_integers(PyObject* const* args, Py_ssize_t n) {
  if (n == 1) return to_dims(args[0]);
  Dims dims;
  for (Py_ssize_t i = 0; i < n; i++) {
    Py_ssize_t v = PyNumber_AsSsize_t(args[i], PyExc_OverflowError);
    if (v == -1 && PyErr_Occurred()) nb::raise_python_error();
    dims.push_back(v);
  }
  return dims;
}

PyObject* reshape_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<3> given("reshape", {"order", "copy", "newshape"}, args + n, 0, keywords);
    if ((n == 0) == !given[2]) fail(ErrorKind::type, "reshape: give one shape");
    Dims shape = given[2] ? to_dims(given[2]) : to_integers(args, n);
    char order = to_order(given[0]);
    return wrap_made([&] { return reshaped(as_array(self), shape, order, given[1] ? given[1] : Py_None); });
  });
}

PyObject* transpose_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&] {
    const Array& x = as_array(self);
    if (n == 0 || (n == 1 && args[0] == Py_None)) return wrap_made([&] { return transpose(x); });
    Dims axes = to_integers(args, n);
    return wrap(transpose(x, std::span<const int64_t>(axes.begin(), static_cast<size_t>(axes.size()))));
  });
}

PyObject* swapaxes_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<2> given("swapaxes", {"axis1", "axis2"}, args, n, keywords);
    if (!given[0] || !given[1]) fail(ErrorKind::type, "swapaxes: two axes are needed");
    return wrap(swapaxes(as_array(self), to_dims(given[0])[0], to_dims(given[1])[0]));
  });
}

PyObject* squeeze_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<1> given("squeeze", {"axis"}, args, n, keywords);
    bool all = !given[0] || given[0] == Py_None;
    return wrap(squeeze(as_array(self), all ? std::nullopt : std::optional(to_axes(given[0]))));
  });
}

char order_of_line(PyObject* const* args, Py_ssize_t n, PyObject* keywords, const char* function) {
  Arguments<1> given(function, {"order"}, args, n, keywords);
  char order = to_order(given[0]);
  return order == 'K' ? 'C' : order;
}

PyObject* ravel_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    char order = order_of_line(args, n, keywords, "ravel");
    return wrap(contiguous(reshaped(as_array(self), Dims{-1}, order, Py_None)));
  });
}

PyObject* flatten_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    char order = order_of_line(args, n, keywords, "flatten");
    return wrap(reshaped(as_array(self), Dims{-1}, order, Py_True));
  });
}

}  // namespace

void add_views(TypeParts& parts) {
  constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
  parts.method("reshape", reinterpret_cast<PyCFunction>(reshape_method), kFast,
               "reshape($self, *shape, order='C', copy=None, newshape=None)\n--\n\n"
               "The same elements in another shape, given as lengths or as a tuple; one may be -1."
               "\n\n>>> np.ones((2, 3)).reshape(3, -1).shape\n(3, 2)");
  parts.method("transpose", reinterpret_cast<PyCFunction>(transpose_method), METH_FASTCALL,
               "transpose($self, *axes)\n--\n\n"
               "A view with the axes reversed, or in the order given, as numbers or as a tuple."
               "\n\n>>> np.ones((2, 3, 4)).transpose(1, 0, 2).shape\n(3, 2, 4)");
  parts.method("swapaxes", reinterpret_cast<PyCFunction>(swapaxes_method), kFast,
               "swapaxes($self, axis1, axis2)\n--\n\nA view with two axes exchanged."
               "\n\n>>> np.ones((2, 3)).swapaxes(0, 1).shape\n(3, 2)");
  parts.method("squeeze", reinterpret_cast<PyCFunction>(squeeze_method), kFast,
               "squeeze($self, axis=None)\n--\n\nA view without axes of length 1: all of them, or those named."
               "\n\n>>> np.ones((1, 3)).squeeze().shape\n(3,)");
  parts.method("ravel", reinterpret_cast<PyCFunction>(ravel_method), kFast,
               "ravel($self, order='C')\n--\n\nThe elements in one dimension: a view if they lie so, else a copy."
               "\n\n>>> np.eye(2).ravel()\narray([1., 0., 0., 1.])");
  parts.method("flatten", reinterpret_cast<PyCFunction>(flatten_method), kFast,
               "flatten($self, order='C')\n--\n\nA copy in one dimension."
               "\n\n>>> np.eye(2).flatten()\narray([1., 0., 0., 1.])");
}

}  // namespace slipstream::python
