// Recording elementwise operations, reductions and assignments: dtype rules, broadcasting, and the call's errors.
#pragma once

#include <optional>
#include <span>

#include "array.h"
#include "rows.h"

namespace slipstream {

// An argument: an array, or a Python scalar (weak in promotion).
struct Arg {
  Arg(Array a) : own_(std::move(a)) {}
  Arg(Scalar s) : scalar(s) {}
  // Of an array that somebody else keeps for as long as the argument lives: no handle is made.
  static Arg lent(const Array& a) { return Arg(&a); }
  bool is_scalar() const { return !array(); }
  const Array& array() const { return lent_ ? *lent_ : own_; }

  Scalar scalar;

 private:
  explicit Arg(const Array* a) : lent_(a) {}

  const Array* lent_ = nullptr;
  Array own_;
};

struct ElementwiseOptions {
  const Array* out = nullptr;    // write here (same shape as the result, NumPy's same_kind casting), return it
  const Array* where = nullptr;  // bool mask: elements where it is false keep what `out` holds (zero without out)
  std::optional<DType> dtype;    // compute in this type instead of the promoted one
};

// One row of the table on its arguments. At least one argument is an array.
Array elementwise(Row row, std::span<const Arg> args, const ElementwiseOptions& options = {});
inline Array elementwise(Row row, std::initializer_list<Arg> args, const ElementwiseOptions& options = {}) {
  return elementwise(row, std::span<const Arg>(args.begin(), args.size()), options);
}

struct ReduceOptions {
  uint32_t axes = 0;             // bit i: reduce axis i
  bool keepdims = false;
  const Array* out = nullptr;
  const Array* where = nullptr;
  std::optional<DType> dtype;
  std::optional<Scalar> initial;
};
// One reduction row (sum, prod, min, max, any, all, ...). min and max of nothing raise.
Array reduce(Row row, const Array& x, const ReduceOptions& options);

// Composed of rows; the planner fuses them.
Array mean(const Array& x, const ReduceOptions& options);
Array variance(const Array& x, const ReduceOptions& options, double correction);  // ddof
Array deviation(const Array& x, const ReduceOptions& options, double correction);
Array logsumexp(const Array& x, const ReduceOptions& options);

// A new array of another type (or of the same, a copy), row-major.
Array astype(const Array& x, DType dtype);
inline Array copy(const Array& x) { return astype(x, x.dtype); }
Array copy(const Array& x, const View& part);  // of a view of x; without a history
// x itself if it is row-major, else a row-major copy.
Array contiguous(const Array& x);
// target[...] = value: broadcast, converted (any cast), right where both overlap. Between devices too.
void assign(const Array& target, const Arg& value);

// The types a row computes in and gives for these argument types, as NumPy would; raises TypeError with the row's name.
struct RowTypes {
  DType compute;
  DType result;
};
RowTypes row_types(Row row, std::span<const Arg> args);

// What the table says of a row, for the front end that makes functions, stubs, docs and tests from it.
struct RowInfo {
  const char* name;
  int arity;               // 1, 2 or 3; reductions: 1
  bool is_reduction;
  const char* types;       // the rule's name: ARITH, FLOAT, ...
  const char* value;       // the expression, as text
  const char* gradient;    // as text; "" where there is none
  double low, high;        // sample domain for tests
  const char* doc;
};
const RowInfo& row_info(Row row);

}  // namespace slipstream
