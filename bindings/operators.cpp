// Operators as type slots: from Python's evaluation loop straight to the record, with no Python in between.

#include "../core/elementwise.h"
#include "../core/graph/tape.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

PyObject* binary(Row row, PyObject* a, PyObject* b) {
  Given x = classify(a), y = classify(b);
  if (x == Given::unknown || y == Given::unknown) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const Arg args[2] = {to_arg(a, x, row, b), to_arg(b, y, row, a)};
    return wrap_made([&] { return elementwise(row, args); });
  });
}

// A recorded result that nobody else can see, as in y[0] += x: a new array does as well as a write, which would raise.
bool is_unseen_result(PyObject* self) {
  const Array& a = as_array(self);
  return tape::follows_views(a) && !a.node()->is_leaf() && Py_REFCNT(self) == 1 && a.storage()->has_one_handle();
}

PyObject* in_place(Row row, PyObject* self, PyObject* other) {
  Given y = classify(other);
  if (y == Given::unknown) Py_RETURN_NOTIMPLEMENTED;
  if (is_unseen_result(self)) return binary(row, self, other);
  return guarded([&] {
    const Arg args[2] = {Arg::lent(as_array(self)), to_arg(other, y, row, self)};
    elementwise(row, args, {.out = &as_array(self)});
    return Py_NewRef(self);
  });
}

PyObject* unary(Row row, PyObject* self) {
  return guarded([&] {
    const Arg args[1] = {Arg::lent(as_array(self))};
    return wrap_made([&] { return elementwise(row, args); });
  });
}

template <Row row>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(row, a, b);
}
template <Row row>
PyObject* in_place_slot(PyObject* a, PyObject* b) {
  return in_place(row, a, b);
}
template <Row row>
PyObject* unary_slot(PyObject* a) {
  return unary(row, a);
}

// NumPy's operator squares booleans (int8) where its function raises them to an integer (int64).
bool squares_booleans(PyObject* a, PyObject* b) {
  int overflow = 0;
  return PyLong_CheckExact(b) && is_ndarray(a) && as_array(a).dtype == DType::b1 &&
         PyLong_AsLongAndOverflow(b, &overflow) == 2;
}

PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (squares_booleans(a, b)) return unary(Row::square, a);
  return binary(Row::pow, a, b);
}
PyObject* in_place_power_slot(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place(Row::pow, a, b);
}

PyObject* divmod_slot(PyObject* a, PyObject* b) {
  PyObject* quotient = binary(Row::floor_divide, a, b);
  if (!quotient || quotient == Py_NotImplemented) return quotient;
  PyObject* rest = binary(Row::remainder, a, b);
  if (!rest) {
    Py_DECREF(quotient);
    return nullptr;
  }
  PyObject* pair = PyTuple_Pack(2, quotient, rest);
  Py_DECREF(quotient);
  Py_DECREF(rest);
  return pair;
}

Array matrix(PyObject* o, Given given, PyObject* other) {
  if (is_scalar(given)) fail(ErrorKind::value, "matmul: a scalar is no matrix; use * instead");
  return to_arg(o, given, Row::multiply, other).array();
}

PyObject* matmul_slot(PyObject* a, PyObject* b) {
  Given x = classify(a), y = classify(b);
  if (x == Given::unknown || y == Given::unknown) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] { return wrap_made([&] { return matmul(matrix(a, x, b), matrix(b, y, a)); }); });
}

PyObject* in_place_matmul_slot(PyObject* self, PyObject* other) {
  Given y = classify(other);
  if (y == Given::unknown) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Array& a = as_array(self);
    Array product = matmul(a, matrix(other, y, self));
    if (!(product.shape == a.shape))
      fail(ErrorKind::value, "matmul: the result has shape ", product.shape, ", which cannot be written to ", a.shape);
    const Arg args[1] = {product};
    elementwise(Row::positive, args, {.out = &a});
    return Py_NewRef(self);
  });
}

Row comparison(int op) {
  switch (op) {
    case Py_LT: return Row::less;
    case Py_LE: return Row::less_equal;
    case Py_GT: return Row::greater;
    case Py_GE: return Row::greater_equal;
    case Py_EQ: return Row::equal;
    default: return Row::not_equal;
  }
}

PyObject* compare_slot(PyObject* a, PyObject* b, int op) {
  bool never_equal = b == Py_None || PyUnicode_Check(b) || PyBytes_Check(b);
  if (never_equal && (op == Py_EQ || op == Py_NE)) {
    const Array& x = as_array(a);
    return guarded([&] { return wrap(full(x.shape, Scalar::of(op == Py_NE), DType::b1, x.device())); });
  }
  return binary(comparison(op), a, b);
}

}  // namespace

void add_operators(TypeParts& parts) {
  parts.slot(Py_nb_add, binary_slot<Row::add>);
  parts.slot(Py_nb_subtract, binary_slot<Row::subtract>);
  parts.slot(Py_nb_multiply, binary_slot<Row::multiply>);
  parts.slot(Py_nb_true_divide, binary_slot<Row::divide>);
  parts.slot(Py_nb_floor_divide, binary_slot<Row::floor_divide>);
  parts.slot(Py_nb_remainder, binary_slot<Row::remainder>);
  parts.slot(Py_nb_and, binary_slot<Row::bitwise_and>);
  parts.slot(Py_nb_or, binary_slot<Row::bitwise_or>);
  parts.slot(Py_nb_xor, binary_slot<Row::bitwise_xor>);
  parts.slot(Py_nb_lshift, binary_slot<Row::bitwise_left_shift>);
  parts.slot(Py_nb_rshift, binary_slot<Row::bitwise_right_shift>);
  parts.slot(Py_nb_power, power_slot);
  parts.slot(Py_nb_divmod, divmod_slot);
  parts.slot(Py_nb_matrix_multiply, matmul_slot);

  parts.slot(Py_nb_inplace_add, in_place_slot<Row::add>);
  parts.slot(Py_nb_inplace_subtract, in_place_slot<Row::subtract>);
  parts.slot(Py_nb_inplace_multiply, in_place_slot<Row::multiply>);
  parts.slot(Py_nb_inplace_true_divide, in_place_slot<Row::divide>);
  parts.slot(Py_nb_inplace_floor_divide, in_place_slot<Row::floor_divide>);
  parts.slot(Py_nb_inplace_remainder, in_place_slot<Row::remainder>);
  parts.slot(Py_nb_inplace_and, in_place_slot<Row::bitwise_and>);
  parts.slot(Py_nb_inplace_or, in_place_slot<Row::bitwise_or>);
  parts.slot(Py_nb_inplace_xor, in_place_slot<Row::bitwise_xor>);
  parts.slot(Py_nb_inplace_lshift, in_place_slot<Row::bitwise_left_shift>);
  parts.slot(Py_nb_inplace_rshift, in_place_slot<Row::bitwise_right_shift>);
  parts.slot(Py_nb_inplace_power, in_place_power_slot);
  parts.slot(Py_nb_inplace_matrix_multiply, in_place_matmul_slot);

  parts.slot(Py_nb_negative, unary_slot<Row::negative>);
  parts.slot(Py_nb_positive, unary_slot<Row::positive>);
  parts.slot(Py_nb_absolute, unary_slot<Row::abs>);
  parts.slot(Py_nb_invert, unary_slot<Row::bitwise_invert>);
  parts.slot(Py_tp_richcompare, compare_slot);
}

}  // namespace slipstream::python
