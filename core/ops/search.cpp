// searchsorted, distinct numbers, counts, histograms, and the convolution of two lines.
#include "search.h"

#include "../elementwise.h"
#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kSearchsorted{"searchsorted", kMayFail};
const Op kDistinct{"distinct"};
const Op kBincount{"bincount", kMayFail};
const Op kHistogram{"histogram", kMayFail};
const Op kConvolve{"convolve"};

namespace {

Array typed(const Array& x, DType dtype) { return x.dtype == dtype ? contiguous(x) : astype(x, dtype); }

void one_line(const char* op, const char* what, const Array& x) {
  if (x.ndim() != 1) fail(ErrorKind::value, op, ": ", what, " has shape ", x.shape, ", but must have one dimension");
}

}  // namespace

Array searchsorted(const Array& a, const Array& v, bool right, const Array* sorter) {
  one_line("searchsorted", "a", a);
  same_device("searchsorted", a, v);
  DType dtype = promote(a.dtype, v.dtype);
  auto params = std::make_shared<SearchParams>();
  params->right = right;
  Record call;
  call.op = &kSearchsorted;
  call.params = params;
  call.inputs.emplace_back(typed(a, dtype));
  call.inputs.emplace_back(typed(v, dtype));
  if (sorter) {
    one_line("searchsorted", "sorter", *sorter);
    same_device("searchsorted", a, *sorter);
    if (!is_integer(sorter->dtype))
      fail(ErrorKind::type, "searchsorted: sorter must be of integers, not of ", sorter->dtype);
    if (sorter->size() != a.size())
      fail(ErrorKind::value, "searchsorted: sorter has ", sorter->size(), " elements, a has ", a.size());
    call.inputs.emplace_back(typed(*sorter, DType::i64));
  }
  return record_new(std::move(call), Array(v.shape, DType::i64, a.device()));
}

std::vector<Array> distinct(const Array& sorted, const Array* order, bool equal_nan) {
  one_line("unique", "the array", sorted);
  auto params = std::make_shared<DistinctParams>();
  params->equal_nan = equal_nan;
  Record call;
  call.op = &kDistinct;
  call.params = params;
  call.inputs.emplace_back(contiguous(sorted));
  std::vector<Array> results = {Array(sorted.shape, DType::i64, sorted.device()),
                                Array(Shape{}, DType::i64, sorted.device())};
  if (order) {
    call.inputs.emplace_back(contiguous(*order));
    results.emplace_back(sorted.shape, DType::i64, sorted.device());
  }
  for (const Array& result : results) call.outputs.emplace_back(result);
  engine::record(std::move(call));
  return results;
}

Array bincount(const Array& x, int64_t length, const Array* weights) {
  one_line("bincount", "the array", x);
  if (!is_integer(x.dtype) && x.dtype != DType::b1)
    fail(ErrorKind::type, "bincount: the array must be of integers, not of ", x.dtype);
  if (length < 0) fail(ErrorKind::value, "bincount: a length of ", length, " is negative");
  Record call;
  call.op = &kBincount;
  call.inputs.emplace_back(contiguous(x));
  if (weights) {
    same_device("bincount", x, *weights);
    if (!(weights->shape == x.shape))
      fail(ErrorKind::value, "bincount: weights have shape ", weights->shape, ", the array has ", x.shape);
    call.inputs.emplace_back(typed(*weights, DType::f64));
  }
  return record_new(std::move(call), Array(Shape{length}, weights ? DType::f64 : DType::i64, x.device()));
}

Array histogram(const Array& x, const Array& edges, const Array* weights, bool equal_width) {
  one_line("histogram", "the list of edges", edges);
  same_device("histogram", x, edges);
  if (is_complex(x.dtype) || is_complex(edges.dtype)) fail(ErrorKind::type, "histogram: complex numbers have no bins");
  if (edges.size() < 1) fail(ErrorKind::value, "histogram: there are no edges");
  DType dtype = promote(x.dtype, edges.dtype);
  auto params = std::make_shared<HistogramParams>();
  params->equal_width = equal_width;
  Record call;
  call.op = &kHistogram;
  call.params = params;
  call.inputs.emplace_back(reshape(typed(x, dtype), Shape{-1}));
  call.inputs.emplace_back(typed(edges, dtype));
  if (weights) {
    same_device("histogram", x, *weights);
    if (!(weights->shape == x.shape))
      fail(ErrorKind::value, "histogram: weights have shape ", weights->shape, ", the array has ", x.shape);
    call.inputs.emplace_back(reshape(typed(*weights, DType::f64), Shape{-1}));
  }
  return record_new(std::move(call), Array(Shape{edges.size() - 1}, weights ? DType::f64 : DType::i64, x.device()));
}

namespace {

// Each line's gradient is the result's, convolved with the other line backwards.
void note_convolve(const Array& made, const Array& a, const Array& b, int64_t first) {
  tape::note("convolve", made, {&a, &b}, [a = tape::Saved(a), b = tape::Saved(b), first](const Array& g) {
    auto back = [&](const tape::Saved& of, const tape::Saved& other) {
      std::array<int64_t, 1> axis{0};
      Array line = flip(other.get(), axis);
      if (is_complex(line.dtype)) line = elementwise(Row::conj, {Arg(line)});
      Array made = convolve(g, line, other.view().shape[0] - 1 - first, of.view().shape[0]);
      return tape::back_to(made, of.view().shape, of.view().dtype);
    };
    return std::vector<Array>{tape::wanted(0) ? back(a, b) : Array(), tape::wanted(1) ? back(b, a) : Array()};
  });
}

}  // namespace

Array convolve(const Array& a, const Array& b, int64_t first, int64_t n) {
  one_line("convolve", "an argument", a);
  one_line("convolve", "an argument", b);
  same_device("convolve", a, b);
  if (a.size() == 0 || b.size() == 0) fail(ErrorKind::value, "convolve: an argument is empty");
  if (b.size() > a.size()) return convolve(b, a, first, n);
  DType dtype = promote(a.dtype, b.dtype);
  auto params = std::make_shared<ConvolveParams>();
  params->first = first;
  Record call;
  call.op = &kConvolve;
  call.params = params;
  call.inputs.emplace_back(typed(a.detached(), dtype));
  call.inputs.emplace_back(typed(b.detached(), dtype));
  Array made = record_new(std::move(call), Array(Shape{n}, dtype, a.device()));
  if (tape::follows(a) || tape::follows(b)) note_convolve(made, a, b, first);
  return made;
}

}  // namespace slipstream
