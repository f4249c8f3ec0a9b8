// What structural operations share: devices must match, and a result goes to `out` where that is given.
#pragma once

#include <initializer_list>

#include "../array.h"
#include "../op.h"

namespace slipstream {

// Raises unless both arrays live on one device.
void same_device(const char* op, const Array& a, const Array& b);
// Raises unless the scalar is a value of the type (integers only: floats are rounded, as in NumPy).
void check_fits(const char* op, const Scalar& value, DType dtype);

// Where a call writes: `out` itself, or a new array. A new array also stands in for an `out` that has another type,
// shares memory with an input, or has strides the kernel cannot write; finish() then assigns it.
struct Destination {
  Array array;
  const Array* out = nullptr;
  bool direct() const { return out && array.storage() == out->storage(); }
};
Destination destination(const char* op, const Shape& shape, DType dtype, Device device, const Array* out,
                        std::initializer_list<const Array*> inputs, bool writable = true);
// Records the call that writes `to` (as the kernel is to see it: `as`) and returns the user's handle of the result.
Array finish(Record&& call, Destination to, const Array* as = nullptr);

// A result with a history where `out` is given: it is written there, and its history goes with it.
Array written_to(const char* op, const Array* out, Array made);

// A call that writes one new array.
Array record_new(Record&& call, Array result);

}  // namespace slipstream
