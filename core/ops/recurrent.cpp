// Recurrent layers: checks, and the calls of their kernels.
#include "recurrent.h"

#include "../cpu/panels.h"
#include "../elementwise.h"
#include "../engine/engine.h"
#include "check.h"
#include "matmul.h"
#include "structural.h"

namespace slipstream {

const Op kLstm{"lstm"};
const Op kLstmGradient{"lstm_gradient"};

namespace {

void check_array(const Array& x, const Shape& shape, const Array& projected) {
  if (!(x.shape == shape)) fail(ErrorKind::value, "lstm: shape ", x.shape, " is not ", shape);
  if (x.dtype != projected.dtype) fail(ErrorKind::type, "lstm: dtypes ", x.dtype, " and ", projected.dtype, " differ");
  same_device("lstm", projected, x);
}

// The shape (steps, batch, width) of what comes after each step.
Shape check(const Array& projected, const Array& weight) {
  if (projected.dtype != DType::f32 && projected.dtype != DType::f64)
    fail(ErrorKind::type, "lstm: dtype ", projected.dtype, " is neither float32 nor float64");
  if (projected.ndim() != 3 || projected.shape[2] % 4 != 0)
    fail(ErrorKind::value, "lstm: projected has shape ", projected.shape, ", not (steps, batch, 4 * width)");
  int64_t width = projected.shape[2] / 4;
  check_array(weight, Shape{4 * width, width}, projected);
  return {projected.shape[0], projected.shape[1], width};
}

Record call_of(const Op& op, bool backwards) {
  auto params = std::make_shared<LstmParams>();
  params->backwards = backwards;
  Record call;
  call.op = &op;
  call.params = std::move(params);
  return call;
}

Array as_matrix(const Array& x) { return matrix_layout(x) ? x : copy(x); }

}  // namespace

bool lstm_pays(const Array& projected, const Array& weight, const Array& state, const Array& cell) {
  constexpr size_t kCache = size_t{4} << 20;
  bool loops = projected.dtype == DType::f32   ? cpu::panel_loops().f32.height > 0
               : projected.dtype == DType::f64 ? cpu::panel_loops().f64.height > 0
                                               : false;
  bool one_type = weight.dtype == projected.dtype && state.dtype == projected.dtype && cell.dtype == projected.dtype;
  return loops && one_type && projected.device().kind == 0 && weight.nbytes() <= kCache && projected.size() > 0;
}

LstmSteps lstm(const Array& projected, const Array& weight, const Array& state, const Array& cell, bool backwards,
               bool want_gates) {
  Shape shape = check(projected, weight);
  for (const Array* x : {&state, &cell}) check_array(*x, Shape{shape[1], shape[2]}, projected);
  Record call = call_of(kLstm, backwards);
  call.inputs.emplace_back(contiguous(projected));
  call.inputs.emplace_back(as_matrix(weight));
  for (const Array* x : {&state, &cell}) call.inputs.emplace_back(contiguous(*x));
  shape[0]++;
  LstmSteps made{Array(shape, projected.dtype, projected.device()), Array(shape, projected.dtype, projected.device()),
                 want_gates ? Array(projected.shape, projected.dtype, projected.device()) : Array()};
  for (const Array* out : {&made.states, &made.cells}) call.outputs.emplace_back(*out);
  if (want_gates) call.outputs.emplace_back(made.gates);
  engine::record(std::move(call));
  return made;
}

LstmSlopes lstm_gradient(const Array& gates, const Array& cells, const Array& weight, const Array& of_outputs,
                         const Array& of_cells, bool backwards) {
  Shape shape = check(gates, weight), row{shape[1], shape[2]};
  check_array(cells, Shape{shape[0] + 1, shape[1], shape[2]}, gates);
  for (const Array* x : {&of_outputs, &of_cells}) check_array(*x, shape, gates);
  Record call = call_of(kLstmGradient, backwards);
  for (const Array* x : {&gates, &cells}) call.inputs.emplace_back(contiguous(*x));
  call.inputs.emplace_back(as_matrix(weight));
  for (const Array* x : {&of_outputs, &of_cells}) call.inputs.emplace_back(contiguous(*x));
  LstmSlopes made{Array(gates.shape, gates.dtype, gates.device()), Array(row, gates.dtype, gates.device()),
                  Array(row, gates.dtype, gates.device())};
  for (const Array* out : {&made.projected, &made.state, &made.cell}) call.outputs.emplace_back(*out);
  engine::record(std::move(call));
  return made;
}

}  // namespace slipstream
