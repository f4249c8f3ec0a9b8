// Random arrays: a call takes its share of the generator's positions when it is recorded, so results never depend on
// when or where it runs.
#include "random.h"

#include <atomic>
#include <cmath>
#include <random>

#include "../cpu/random_loops.h"
#include "../elementwise.h"
#include "check.h"
#include "sample.h"
#include "structural.h"

namespace slipstream {

const Op kUniform{"random_uniform"};
const Op kNormal{"random_normal"};
const Op kIntegers{"random_integers"};
const Op kPermutation{"random_permutation", kLong};

namespace {

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Generators of the devices. Two devices that share a slot share its numbers, which is no harm.
struct Generators {
  static constexpr uint64_t kSlots = 256;
  std::array<RandomState, kSlots> states;

  Generators() { seed((uint64_t{std::random_device{}()} << 32) | std::random_device{}()); }
  void seed(uint64_t value) {
    for (uint64_t slot = 0; slot < kSlots; slot++) {
      std::atomic_ref(states[slot].key).store(mix(value + 0x9e3779b97f4a7c15u * (slot + 1)));
      std::atomic_ref(states[slot].position).store(0);
    }
  }
};

Generators& generators() {
  static Generators all;
  return all;
}

// Groups of words that n elements of the given size use: small ones take one word each, others two.
uint64_t groups_of(int64_t n, int64_t words_each) {
  return static_cast<uint64_t>((n * words_each + cpu::kGroupWords - 1) / cpu::kGroupWords);
}

template <class P>
std::shared_ptr<P> take_numbers(RandomState& state, int64_t n, int64_t words_each) {
  auto params = std::make_shared<P>();
  params->key = std::atomic_ref(state.key).load();
  params->first = std::atomic_ref(state.position).fetch_add(groups_of(n, words_each));
  return params;
}

Array record_random(const Op& op, std::shared_ptr<const OpParams> params, Array result) {
  Record call;
  call.op = &op;
  call.params = std::move(params);
  return record_new(std::move(call), std::move(result));
}

// Uniform and normal: float32 and float64 have kernels, 16-bit floats are rounded from float32.
Array real_numbers(const Op& op, RandomState& state, double a, double b, const Shape& shape, DType dtype,
                   Device device) {
  if (!is_float(dtype)) fail(ErrorKind::type, op.name, ": the type must be a float, not ", dtype);
  DType type = dtype == DType::f64 ? dtype : DType::f32;
  Array result(shape, type, device);
  auto params = take_numbers<RandomParams>(state, result.size(), type == DType::f64 ? 2 : 1);
  params->a = a;
  params->b = b;
  result = record_random(op, params, std::move(result));
  return dtype == type ? result : astype(result, dtype);
}

// Is every value low .. low + range - 1 one of the type's?
void check_range(int64_t low, uint64_t range, DType dtype) {
  if (!is_integer(dtype) && dtype != DType::b1)
    fail(ErrorKind::type, "random_integers: the type must be an integer, not ", dtype);
  int bits = dtype == DType::b1 ? 1 : static_cast<int>(itemsize(dtype)) * 8;
  bool is_signed = is_signed_integer(dtype);
  __int128 bottom = is_signed ? -(__int128{1} << (bits - 1)) : 0, size = __int128{1} << bits;
  __int128 values = range ? __int128{range} : __int128{1} << 64;
  if (low < bottom || low + values > bottom + size)
    fail(ErrorKind::value, "random_integers: values from ", low, " on, ", range, " of them, are out of bounds for ",
         dtype);
}

}  // namespace

std::shared_ptr<SampleParams> take_sample_numbers(RandomState& state, int64_t n) {
  return take_numbers<SampleParams>(state, n, cpu::kGroupWords / cpu::kGroupBlocks);
}

RandomState& default_random(Device device) {
  return generators().states[(device.kind * 64u + device.id) % Generators::kSlots];
}

void seed_random(uint64_t seed) { generators().seed(seed); }

Array random_uniform(RandomState& state, double low, double high, const Shape& shape, DType dtype, Device device) {
  if (!std::isfinite(high - low))
    fail(ErrorKind::overflow, "uniform: the range from ", low, " to ", high, " is too large");
  return real_numbers(kUniform, state, low, high, shape, dtype, device);
}

Array random_normal(RandomState& state, double loc, double scale, const Shape& shape, DType dtype, Device device) {
  if (scale < 0) fail(ErrorKind::value, "normal: scale must not be negative: ", scale);
  return real_numbers(kNormal, state, loc, scale, shape, dtype, device);
}

Array random_integers(RandomState& state, int64_t low, uint64_t range, const Shape& shape, DType dtype, Device device) {
  check_range(low, range, dtype);
  Array result(shape, dtype, device);
  auto params = take_numbers<IntegersParams>(state, result.size(), 2);
  params->low = static_cast<uint64_t>(low);
  params->range = range;
  return record_random(kIntegers, params, std::move(result));
}

Array random_permutation(RandomState& state, int64_t n, Device device) {
  Array result(Shape{n}, DType::i64, device);
  return record_random(kPermutation, take_numbers<RandomParams>(state, n, 2), std::move(result));
}

}  // namespace slipstream
