// Stacks of matrices as kernels see them: loading one matrix of an operand, and work cut matrix by matrix.
#pragma once

#include "../op.h"
#include "convert.h"
#include "copy.h"
#include "lapack.h"

namespace slipstream::cpu {

inline int64_t stack_size(const Operand& x, int axes = 2) {
  int64_t n = 1;
  for (int i = 0; i < x.ndim() - axes; i++) n *= x.shape[i];
  return n;
}

// The matrices of an input, with any strides.
template <class T>
class Matrices {
 public:
  explicit Matrices(const Operand& x)
      : rows(x.shape[x.ndim() - 2]),
        columns(x.shape[x.ndim() - 1]),
        x_(x),
        down_(x.strides[x.ndim() - 2]),
        right_(x.strides[x.ndim() - 1]) {}

  // Copies rows first .. first + n - 1 of matrix i to a dense row-major matrix.
  void load(int64_t i, T* to, int64_t first, int64_t n) const {
    constexpr int64_t kItem = sizeof(T);
    StridedCopy copy(Shape{n, columns}, Strides{columns * kItem, kItem}, Strides{down_, right_}, sizeof(T));
    copy.run_all(reinterpret_cast<char*>(to), at(i) + first * down_);
  }
  void load(int64_t i, T* to) const { load(i, to, 0, rows); }

  // Copies columns first .. first + n - 1 to a dense matrix in columns, each `pitch` elements after the last.
  void load_columns(int64_t i, T* to, int64_t first, int64_t n, int64_t pitch) const {
    constexpr int64_t kItem = sizeof(T);
    StridedCopy copy(Shape{n, rows}, Strides{pitch * kItem, kItem}, Strides{right_, down_}, sizeof(T));
    copy.run_all(reinterpret_cast<char*>(to), at(i) + first * right_);
  }
  void load_columns(int64_t i, T* to) const { load_columns(i, to, 0, columns, rows); }

  const int64_t rows, columns;

 private:
  const char* at(int64_t i) const {
    int64_t offset = 0;
    for (int axis = x_.ndim() - 3; axis >= 0; axis--) {
      offset += i % x_.shape[axis] * x_.strides[axis];
      i /= x_.shape[axis];
    }
    return x_.data() + offset;
  }

  const Operand& x_;
  int64_t down_, right_;
};

// A result: dense, so that matrix i lies `each` elements after matrix i - 1.
template <class T>
T* result(const Operand& x, int64_t i, int64_t each) {
  return reinterpret_cast<T*>(x.data()) + i * each;
}

// Calls for each matrix of a stack; small ones share a chunk.
template <class T, class F>
class EachMatrix final : public Kernel {
 public:
  EachMatrix(int64_t count, double work, F f) : count_(count), f_(std::move(f)) {
    constexpr double kChunk = 5e5, kCall = 1e3;  // in multiplications
    per_chunk_ = std::clamp<int64_t>(static_cast<int64_t>(kChunk / (work + kCall)), 1, 1024);
  }
  int64_t chunks(int) const override { return chunks_of(count_, per_chunk_); }
  void run(int, int64_t chunk) override {
    Scratch<T> room;
    for (int64_t i = chunk * per_chunk_; i < std::min(count_, (chunk + 1) * per_chunk_); i++) f_(i, room);
  }

 private:
  int64_t count_, per_chunk_ = 1;
  F f_;
};

// f(i, scratch) for each of `count` matrices, each of which takes `work` multiplications.
template <class T, class F>
std::unique_ptr<Kernel> each_matrix(int64_t count, double work, F f) {
  return std::make_unique<EachMatrix<T, F>>(count, work, std::move(f));
}

inline double product(int64_t a, int64_t b, int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

// make<T>(call) for the type of the first input.
template <template <class> class Make>
std::unique_ptr<Kernel> make_lapack(const Record& call) {
  switch (call.inputs[0].dtype) {
    case DType::f32: return Make<float>::kernel(call);
    case DType::f64: return Make<double>::kernel(call);
    case DType::c64: return Make<std::complex<float>>::kernel(call);
    default: return Make<std::complex<double>>::kernel(call);
  }
}

template <class T>
void set_identity(T* a, int64_t rows, int64_t columns) {
  std::fill_n(a, rows * columns, T(0));
  for (int64_t i = 0; i < std::min(rows, columns); i++) a[i * columns + i] = T(1);
}

}  // namespace slipstream::cpu
