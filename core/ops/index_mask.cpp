// Where a mask is true: counted and waited for, since shapes depend on it; then elements or their places are recorded.
#include "../engine/engine.h"
#include "check.h"
#include "index.h"

namespace slipstream {

const Op kCountMask{"count_mask"}, kCompress{"index"}, kNonzero{"nonzero"};

FoundMask find_mask(const Array& x) {
  Array given = x.detached();
  Array mask = given.dtype == DType::b1 ? contiguous(given)
                                        : elementwise(Row::not_equal, {given, Scalar::of(static_cast<int64_t>(0))});
  int64_t blocks = (mask.size() + kMaskBlock - 1) / kMaskBlock;
  auto places = std::make_shared<MaskParams>();
  places->before.push_back(0);
  if (blocks == 0) return {mask, places};
  Record call;
  call.op = &kCountMask;
  call.inputs.emplace_back(mask);
  Array counts = record_new(std::move(call), Array(Shape{blocks}, DType::i64, mask.device()));
  Array host = counts.device() == Device{} ? counts : copy_to_device(counts, Device{});
  engine::wait(host);
  const auto* number = reinterpret_cast<const int64_t*>(host.storage()->data());
  for (int64_t b = 0; b < blocks; b++) places->before.push_back(places->before.back() + number[b]);
  return {mask, places};
}

Array nonzero(const FoundMask& found) {
  Record call;
  call.op = &kNonzero;
  call.params = found.places;
  call.inputs.emplace_back(found.mask);
  return record_new(std::move(call), Array(Shape{found.mask.ndim(), found.number()}, DType::i64, found.mask.device()));
}

Array compress(const Array& x, const FoundMask& found) {
  same_device("index", x, found.mask);
  Record call;
  call.op = &kCompress;
  call.params = found.places;
  call.inputs.emplace_back(contiguous(x));
  call.inputs.emplace_back(found.mask);
  return record_new(std::move(call), Array(Shape{found.number()}, x.dtype, x.device()));
}

}  // namespace slipstream
