// Fourier transforms: checks, and the plan that a length needs.
#include "fft.h"

#include "../cpu/fft.h"
#include "../engine/engine.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kFft{"fft"};

namespace {

constexpr int64_t kLong = 1 << 14;  // lines that do not fit the cache in lanes

// A long line is a matrix, whose columns and then rows are transformed: the height of one that is about as high as
// wide, or 1 where the length's factors do not allow it.
int64_t height(int64_t n) {
  if (n < kLong) return 1;
  int64_t best = 1;
  for (int64_t a = 1; a * a <= n; a++)
    if (n % a == 0) best = a;
  return best * 64 >= n / best ? best : 1;
}

template <class T>
void choose_plans(FftParams& params) {
  int64_t rows = params.kind <= FftKind::backward ? height(params.n) : 1;
  params.plan = cpu::FftPlan<T>::of(params.n / rows);
  if (rows > 1) params.second = cpu::FftPlan<T>::of(rows);
}

void check_type(const Array& x, FftKind kind) {
  bool fits = kind == FftKind::real ? x.dtype == DType::f32 || x.dtype == DType::f64 : is_complex(x.dtype);
  if (!fits) fail(ErrorKind::type, "fft: type ", x.dtype, " is not supported");
  if (x.device().kind != 0) fail(ErrorKind::value, "fft: not available on ", x.device(), "; copy to a CPU first");
}

}  // namespace

Array fft(const Array& x, int64_t n, int64_t axis, FftKind kind, double factor) {
  check_type(x, kind);
  auto params = std::make_shared<FftParams>();
  params->axis = normalize_axis(axis, x.ndim(), "fft");
  params->kind = kind;
  params->n = n;
  params->factor = factor;
  if (n < 1) fail(ErrorKind::value, "fft: ", n, " points; at least one is needed");
  bool wide = real_of(x.dtype) == DType::f64;
  wide ? choose_plans<double>(*params) : choose_plans<float>(*params);

  Shape shape = x.shape;
  shape[params->axis] = kind == FftKind::real ? n / 2 + 1 : n;
  DType type = kind == FftKind::real ? complex_of(x.dtype) : kind == FftKind::half ? real_of(x.dtype) : x.dtype;
  Array result(shape, type, x.device());
  Record call;
  call.op = &kFft;
  call.inputs.emplace_back(x);
  call.outputs.emplace_back(result);
  if (params->second) call.outputs.emplace_back(Array(shape, type, x.device()));
  call.params = params;
  engine::record(std::move(call));
  return result;
}

}  // namespace slipstream
