// Fourier transforms of a few lines at once, a lane of a vector each: nothing is shuffled but on the way in and out.
#include "../fft.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../../dtype.h"

namespace slipstream::SLIP_ISA {

namespace {

using cpu::FftJob;
using cpu::FftPass;
using cpu::FftPlan;
using cpu::FftSide;

template <class T>
struct Lane {
  static constexpr int kWidth = cpu::kFftLanes<T>;
  using V [[gnu::vector_size(32)]] = T;
  using Mask [[gnu::vector_size(32)]] = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  struct C {
    V re, im;
    C operator+(const C& o) const { return {re + o.re, im + o.im}; }
    C operator-(const C& o) const { return {re - o.re, im - o.im}; }
    C times(T wr, T wi) const { return {re * wr - im * wi, re * wi + im * wr}; }
    C times(const C& w) const { return {re * w.re - im * w.im, re * w.im + im * w.re}; }
    C scaled(T f) const { return {re * f, im * f}; }
    C by_minus_i() const { return {im, -re}; }
  };

  // ---- passes

  template <bool first>
  static void pass2(C* x, int64_t m, int64_t blocks, const T* w) {
    for (int64_t b = 0; b < blocks; b++, x += 2 * m)
      for (int64_t j = 0; j < m; j++) {
        C u = x[j], v = first ? x[j + m] : x[j + m].times(w[2 * j], w[2 * j + 1]);
        x[j] = u + v;
        x[j + m] = u - v;
      }
  }

  template <bool first>
  static void pass4(C* x, int64_t m, int64_t blocks, const T* w) {
    for (int64_t b = 0; b < blocks; b++, x += 4 * m)
      for (int64_t j = 0; j < m; j++) {
        const T* f = w + 6 * j;
        C x0 = x[j], x1 = x[j + m], x2 = x[j + 2 * m], x3 = x[j + 3 * m];
        if constexpr (!first) x1 = x1.times(f[0], f[1]), x2 = x2.times(f[2], f[3]), x3 = x3.times(f[4], f[5]);
        C even = x0 + x2, odd = x0 - x2, sum = x1 + x3, difference = (x1 - x3).by_minus_i();
        x[j] = even + sum;
        x[j + m] = odd + difference;
        x[j + 2 * m] = even - sum;
        x[j + 3 * m] = odd - difference;
      }
  }

  // An odd prime, by its cosines and sines (after those of the passes' factors).
  static void pass_odd(C* x, int p, int64_t m, int64_t blocks, const T* w) {
    constexpr int kMost = 32;
    const T* roots = w + 2 * (p - 1) * m;
    C sum[kMost], difference[kMost];
    int half = (p - 1) / 2;
    for (int64_t b = 0; b < blocks; b++, x += p * m)
      for (int64_t j = 0; j < m; j++) {
        const T* f = w + 2 * (p - 1) * j;
        C first = x[j], total = first;
        for (int q = 1; q <= half; q++) {
          C u = x[j + q * m].times(f[2 * q - 2], f[2 * q - 1]);
          int r = p - q;
          C v = x[j + r * m].times(f[2 * r - 2], f[2 * r - 1]);
          sum[q] = u + v;
          difference[q] = u - v;
          total = total + sum[q];
        }
        x[j] = total;
        for (int k = 1; k <= half; k++) {
          C even = first, odd{};
          for (int q = 1; q <= half; q++) {
            int at = q * k % p;
            even = even + sum[q].scaled(roots[2 * at]);
            odd = odd + difference[q].scaled(roots[2 * at + 1]);
          }
          C turned{-odd.im, odd.re};  // i times it
          x[j + k * m] = even + turned;
          x[j + (p - k) * m] = even - turned;
        }
      }
  }

  static void pass(const FftPlan<T>& plan, const FftPass& p, C* x, int64_t blocks) {
    const T* w = plan.twiddles.data() + 2 * p.twiddles;
    if (p.radix == 4) return p.length == 1 ? pass4<true>(x, 1, blocks, w) : pass4<false>(x, p.length, blocks, w);
    if (p.radix == 2) return p.length == 1 ? pass2<true>(x, 1, blocks, w) : pass2<false>(x, p.length, blocks, w);
    pass_odd(x, p.radix, p.length, blocks, w);
  }

  // Forward, on elements that are in their places. Short transforms stay in the nearest cache until they are long.
  static void transform(const FftPlan<T>& plan, C* x) {
    constexpr int64_t kNear = 256;
    size_t inner = 0;
    int64_t length = 1;
    while (inner < plan.passes.size() && length * plan.passes[inner].radix <= kNear)
      length *= plan.passes[inner++].radix;
    for (int64_t at = 0; at < plan.n; at += length)
      for (size_t i = 0; i < inner; i++)
        pass(plan, plan.passes[i], x + at, length / (plan.passes[i].length * plan.passes[i].radix));
    for (size_t i = inner; i < plan.passes.size(); i++)
      pass(plan, plan.passes[i], x, plan.n / (plan.passes[i].length * plan.passes[i].radix));
  }

  // A convolution with a chirp: x and the result lie in order.
  static void convolve(const FftPlan<T>& plan, C* x, C* wide) {
    const FftPlan<T>& other = *plan.wide;
    std::memset(static_cast<void*>(wide), 0, sizeof(C) * static_cast<size_t>(other.n));
    for (int64_t i = 0; i < plan.n; i++)
      wide[other.position[static_cast<size_t>(i)]] = x[i].times(plan.chirp[2 * i], plan.chirp[2 * i + 1]);
    transform(other, wide);
    // Backwards by exchanging the parts; the filter holds the factor 1 / n.
    C* back = x + plan.n + other.n;
    for (int64_t i = 0; i < other.n; i++) {
      C made = wide[i].times(plan.filter[2 * i], plan.filter[2 * i + 1]);
      back[other.position[static_cast<size_t>(i)]] = {made.im, made.re};
    }
    transform(other, back);
    for (int64_t i = 0; i < plan.n; i++) {
      C swapped{back[i].im, back[i].re};
      x[i] = swapped.times(plan.chirp[2 * i], plan.chirp[2 * i + 1]);
    }
  }

  // ---- in and out

  // Choices among the elements of two vectors, known when this is compiled.
  using Numbers = std::make_index_sequence<kWidth>;
  template <class Choice, size_t... j>
  static V choose(V a, V b, Choice, std::index_sequence<j...>) {
    return __builtin_shuffle(a, b, Mask{Choice::of(int(j))...});
  }
  template <class Choice>
  static V choose(V a, V b) {
    return choose(a, b, Choice{}, Numbers{});
  }
  template <int step>
  struct Low {
    static constexpr int of(int j) { return j & step ? kWidth + j - step : j; }
  };
  template <int step>
  struct High {
    static constexpr int of(int j) { return j & step ? kWidth + j : j + step; }
  };
  struct Even {
    static constexpr int of(int j) { return 2 * j; }
  };
  struct Odd {
    static constexpr int of(int j) { return 2 * j + 1; }
  };
  struct FirstPairs {
    static constexpr int of(int j) { return j / 2 + (j & 1) * kWidth; }
  };
  struct LastPairs {
    static constexpr int of(int j) { return kWidth / 2 + j / 2 + (j & 1) * kWidth; }
  };

  // Rows become columns: of kWidth vectors.
  template <int step = kWidth / 2>
  static void transpose(V* rows) {
    if constexpr (step > 0) {
      for (int i = 0; i < kWidth; i++)
        if (!(i & step)) {
          V a = rows[i], b = rows[i + step];
          rows[i] = choose<Low<step>>(a, b);
          rows[i + step] = choose<High<step>>(a, b);
        }
      transpose<step / 2>(rows);
    }
  }

  static V load(const char* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }

  struct Places {
    const FftPlan<T>& plan;
    C* x;
    C& operator[](int64_t i) const { return x[plan.wide ? i : plan.position[static_cast<size_t>(i)]]; }
  };

  static T number(const char* at) {
    T v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }

  // Whole vectors along dense lines; the number of elements that were done.
  static int64_t read_dense(const FftJob<T>& job, const Places& to, int64_t n) {
    bool pairs = job.from == FftSide::real;
    constexpr int64_t kItem = sizeof(T);
    if (job.lines != (pairs ? 2 : 1) * kWidth || job.in_step != (pairs ? kItem : 2 * kItem)) return 0;
    V rows[kWidth], others[kWidth];
    int64_t i = 0;
    if (pairs) {
      for (; i + kWidth <= n; i += kWidth) {
        for (int l = 0; l < kWidth; l++) rows[l] = load(job.in[2 * l] + i * kItem);
        for (int l = 0; l < kWidth; l++) others[l] = load(job.in[2 * l + 1] + i * kItem);
        transpose(rows);
        transpose(others);
        for (int j = 0; j < kWidth; j++) to[i + j] = {rows[j], others[j]};
      }
    } else {
      for (; i + kWidth / 2 <= n; i += kWidth / 2) {
        for (int l = 0; l < kWidth; l++) rows[l] = load(job.in[l] + 2 * i * kItem);
        transpose(rows);
        for (int j = 0; j < kWidth / 2; j++) {
          V re = rows[2 * j], im = rows[2 * j + 1];
          to[i + j] = job.from == FftSide::swapped ? C{im, re} : C{re, im};
        }
      }
    }
    return i;
  }

  // Lanes that lie beside each other in memory.
  static int64_t read_adjacent(const FftJob<T>& job, const Places& to, int64_t n) {
    constexpr int64_t kItem = 2 * sizeof(T);
    if (job.from > FftSide::swapped || job.lines != kWidth) return 0;
    for (int l = 1; l < kWidth; l++)
      if (job.in[l] != job.in[0] + l * kItem) return 0;
    for (int64_t i = 0; i < n; i++) {
      V a = load(job.in[0] + i * job.in_step), b = load(job.in[0] + i * job.in_step + sizeof(V));
      V re = choose<Even>(a, b), im = choose<Odd>(a, b);
      to[i] = job.from == FftSide::swapped ? C{im, re} : C{re, im};
    }
    return n;
  }

  static void read_one(const FftJob<T>& job, C& to, int64_t i) {
    constexpr int64_t kItem = sizeof(T);
    for (int line = 0; line < job.lines; line++) {
      const char* at = job.in[line] + i * job.in_step;
      if (job.from == FftSide::real) {
        (line & 1 ? to.im : to.re)[line / 2] = number(at);
        continue;
      }
      T re = number(at), im = number(at + kItem);
      to.re[line] = job.from == FftSide::swapped ? im : re;
      to.im[line] = job.from == FftSide::swapped ? re : im;
    }
  }

  // Two halves make one line that is not real: the first line's transform plus i times the second's. As this is the way
  // back, parts are exchanged.
  static void read_half(const FftJob<T>& job, const Places& to, int64_t i, int64_t n) {
    constexpr int64_t kItem = sizeof(T);
    C low{}, high{};
    bool own = i == 0 || 2 * i == n;  // its own mirror image, and real
    for (int line = 0; line < job.lines; line++) {
      const char* at = job.in[line] + i * job.in_step;
      bool there = i < job.in_length;
      T re = there ? number(at) : T(0), im = there && !own ? number(at + kItem) : T(0);
      int l = line / 2;
      if (line & 1) {
        low.re[l] -= im, low.im[l] += re;
        high.re[l] += im, high.im[l] += re;
      } else {
        low.re[l] += re, low.im[l] += im;
        high.re[l] += re, high.im[l] -= im;
      }
    }
    to[i] = {low.im, low.re};
    if (i > 0 && !own) to[n - i] = {high.im, high.re};
  }

  static void read(const FftJob<T>& job, C* x) {
    int64_t n = job.plan->n;
    Places to{*job.plan, x};
    if (job.from == FftSide::half) {
      for (int64_t i = 0; i <= n / 2; i++) read_half(job, to, i, n);
      return;
    }
    int64_t there = std::min(job.in_length, n);
    int64_t i = read_adjacent(job, to, there);
    if (i == 0) i = read_dense(job, to, there);
    for (; i < there; i++) {
      to[i] = C{};
      read_one(job, to[i], i);
    }
    for (; i < n; i++) to[i] = C{};
  }

  static void put(char* at, T v) { std::memcpy(at, &v, sizeof v); }

  static C finished(const FftJob<T>& job, const C* x, int64_t k) {
    C v = x[k];
    if (job.twist_high) {
      auto* high = reinterpret_cast<const C*>(job.twist_high);
      auto* low = reinterpret_cast<const C*>(job.twist_low);
      v = v.times(high[k / FftJob<T>::kTwist].times(low[k % FftJob<T>::kTwist]));
    }
    if (job.to == FftSide::swapped || job.to == FftSide::real) v = {v.im, v.re};
    return job.factor == T(1) ? v : v.scaled(job.factor);
  }

  static int64_t write_adjacent(const FftJob<T>& job, const C* x) {
    constexpr int64_t kItem = 2 * sizeof(T);
    if (job.to > FftSide::swapped || job.lines != kWidth) return 0;
    for (int l = 1; l < kWidth; l++)
      if (job.out[l] != job.out[0] + l * kItem) return 0;
    for (int64_t k = 0; k < job.out_length; k++) {
      C v = finished(job, x, k);
      V a = choose<FirstPairs>(v.re, v.im), b = choose<LastPairs>(v.re, v.im);
      char* at = job.out[0] + k * job.out_step;
      std::memcpy(at, &a, sizeof a);
      std::memcpy(at + sizeof a, &b, sizeof b);
    }
    return job.out_length;
  }

  static int64_t write_dense(const FftJob<T>& job, const C* x) {
    bool pairs = job.to == FftSide::real;
    constexpr int64_t kItem = sizeof(T);
    if (job.lines != (pairs ? 2 : 1) * kWidth || job.out_step != (pairs ? kItem : 2 * kItem)) return 0;
    V rows[kWidth], others[kWidth];
    int64_t k = 0, step = pairs ? kWidth : kWidth / 2;
    for (; k + step <= job.out_length; k += step) {
      for (int j = 0; j < step; j++) {
        C v = finished(job, x, k + j);
        if (pairs) {
          rows[j] = v.re, others[j] = v.im;
        } else {
          rows[2 * j] = v.re, rows[2 * j + 1] = v.im;
        }
      }
      transpose(rows);
      if (pairs) transpose(others);
      for (int l = 0; l < kWidth; l++) {
        std::memcpy(job.out[pairs ? 2 * l : l] + k * job.out_step, &rows[l], sizeof rows[l]);
        if (pairs) std::memcpy(job.out[2 * l + 1] + k * job.out_step, &others[l], sizeof others[l]);
      }
    }
    return k;
  }

  static void write_one(const FftJob<T>& job, const C& v, int64_t k) {
    for (int line = 0; line < job.lines; line++) {
      char* at = job.out[line] + k * job.out_step;
      if (job.to == FftSide::real) {
        put(at, line & 1 ? v.im[line / 2] : v.re[line / 2]);
      } else {
        put(at, v.re[line]);
        put(at + sizeof(T), v.im[line]);
      }
    }
  }

  // The transforms of two real lines from that of their sum with i: its even and its odd part.
  static void write_half(const FftJob<T>& job, const C* x) {
    int64_t n = job.plan->n;
    constexpr int64_t kItem = sizeof(T);
    bool dense = job.lines == 2 * kWidth && job.out_step == 2 * kItem;
    V rows[kWidth], others[kWidth];
    constexpr int64_t kStep = kWidth / 2;
    for (int64_t k = 0; k < job.out_length; k += kStep) {
      int64_t count = std::min(kStep, job.out_length - k);
      for (int64_t j = 0; j < count; j++) {
        C a = x[k + j], b = x[k + j == 0 ? 0 : n - k - j];
        T f = job.factor / 2;
        rows[2 * j] = (a.re + b.re) * f, rows[2 * j + 1] = (a.im - b.im) * f;
        others[2 * j] = (a.im + b.im) * f, others[2 * j + 1] = (b.re - a.re) * f;
      }
      if (dense && count == kStep) {
        transpose(rows);
        transpose(others);
        for (int l = 0; l < kWidth; l++) {
          std::memcpy(job.out[2 * l] + k * job.out_step, &rows[l], sizeof rows[l]);
          std::memcpy(job.out[2 * l + 1] + k * job.out_step, &others[l], sizeof others[l]);
        }
        continue;
      }
      for (int64_t j = 0; j < count; j++)
        for (int line = 0; line < job.lines; line++) {
          const V* from = (line & 1 ? others : rows) + 2 * j;
          char* at = job.out[line] + (k + j) * job.out_step;
          put(at, from[0][line / 2]);
          put(at + kItem, from[1][line / 2]);
        }
    }
  }

  static void run(const FftJob<T>& job) {
    auto* x = reinterpret_cast<C*>(job.room);
    read(job, x);
    if (job.plan->wide)
      convolve(*job.plan, x, x + job.plan->n);
    else
      transform(*job.plan, x);
    if (job.to == FftSide::half) return write_half(job, x);
    int64_t k = write_adjacent(job, x);
    if (k == 0) k = write_dense(job, x);
    for (; k < job.out_length; k++) write_one(job, finished(job, x, k), k);
  }
};

}  // namespace

void fill_fft(cpu::FftLoops& loops) {
  loops.f32 = &Lane<float>::run;
  loops.f64 = &Lane<double>::run;
}

}  // namespace slipstream::SLIP_ISA
