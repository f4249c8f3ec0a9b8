// Fourier transforms in lanes: so many lines at once as a vector has elements, each lane one line.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace slipstream::engine {
class Backend;
}

namespace slipstream::cpu {

template <class T>
inline constexpr int kFftLanes = 32 / sizeof(T);

struct FftPass {
  int radix;
  int64_t length;    // of the transforms that it joins, `radix` at a time
  int64_t twiddles;  // where its factors begin, in complex numbers
};

// How lines of one length are transformed: by joining ever longer transforms, whose lengths' quotients are small primes
// (or 4); lines with a large prime in their length through a convolution of a longer plan.
template <class T>
struct FftPlan {
  explicit FftPlan(int64_t n);
  static std::shared_ptr<const FftPlan> of(int64_t n);  // the thread's last ones are kept

  int64_t n;
  std::vector<FftPass> passes;
  std::vector<int64_t> position;  // where each element goes before the first pass
  std::vector<T> twiddles;        // pairs
  std::shared_ptr<const FftPlan> wide;  // for the convolution; then these are set, pairs as well:
  std::vector<T> chirp, filter;

  int64_t room() const { return 2 * kFftLanes<T> * (wide ? n + 2 * wide->n : n); }  // numbers that a job needs
};

enum class FftSide : uint8_t {
  complex,
  swapped,  // real and imaginary parts exchanged, which makes a forward transform a backward one
  real,     // two lines of real numbers in the parts of one lane
  half,     // the first half of the transforms of two lines of real numbers
};

// Lines to transform: at most kFftLanes, or twice as many where lanes are pairs of real lines. Steps in bytes.
template <class T>
struct FftJob {
  const FftPlan<T>* plan = nullptr;
  int lines = 0;
  const char* in[2 * kFftLanes<T>] = {};
  char* out[2 * kFftLanes<T>] = {};
  int64_t in_step = 0, out_step = 0;
  int64_t in_length = 0, out_length = 0;  // elements there are, and that are wanted
  FftSide from = FftSide::complex, to = FftSide::complex;
  T factor = 1;
  // Results are multiplied by twist_high[k / kTwist] * twist_low[k % kTwist], in lanes, where these are given.
  static constexpr int64_t kTwist = 32;
  const T *twist_high = nullptr, *twist_low = nullptr;
  T* room = nullptr;  // aligned to 64 bytes
};

// The loops of the instruction set in use, beside those of dispatch.h.
struct FftLoops {
  void (*f32)(const FftJob<float>&) = nullptr;
  void (*f64)(const FftJob<double>&) = nullptr;
};
const FftLoops& fft_loops();

inline void run_job(const FftJob<float>& job) { fft_loops().f32(job); }
inline void run_job(const FftJob<double>& job) { fft_loops().f64(job); }

void register_fft(engine::Backend& backend);

}  // namespace slipstream::cpu
