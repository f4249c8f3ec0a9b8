// Structural operations: each checks its arguments, records one call, and returns the handle of its result.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../array.h"
#include "../op.h"

namespace slipstream {

struct Arg;

// ---- create.cpp
Array empty(const Shape& shape, DType dtype, Device device);
Array full(const Shape& shape, Scalar value, DType dtype, Device device);
Array arange(Scalar start, Scalar step, int64_t n, DType dtype, Device device);  // start + i * step
Array linspace(Scalar start, Scalar stop, int64_t n, bool endpoint, DType dtype, Device device);
Array eye(int64_t rows, int64_t columns, int64_t k, DType dtype, Device device);
// Copies `nbytes` row-major bytes now; the array is ready at once.
Array from_bytes(const void* data, const Shape& shape, DType dtype, Device device);

// ---- views.cpp: no record, only another view (reshape copies where no view can do it)
Array transpose(const Array& x, std::span<const int64_t> axes);
Array transpose(const Array& x);  // all axes reversed
Array swapaxes(const Array& x, int64_t axis1, int64_t axis2);
Array reshape(const Array& x, const Shape& shape);  // one -1 allowed
std::optional<Array> reshape_view(const Array& x, const Shape& shape);
Array expand_dims(const Array& x, std::span<const int64_t> axes);
Array squeeze(const Array& x, std::optional<std::vector<int64_t>> axes);
Array broadcast_to(const Array& x, const Shape& shape);
Array flip(const Array& x, std::span<const int64_t> axes);
// One axis: start, step and length already resolved against the axis' size.
Array slice(const Array& x, int axis, int64_t start, int64_t step, int64_t length);
Array select(const Array& x, int axis, int64_t index);  // drops the axis; raises IndexError
Array diagonal(const Array& x, int64_t offset, int axis1, int axis2);
Array reinterpret(const Array& x, DType dtype);  // the same bytes as another type

// ---- join.cpp
Array concatenate(std::span<const Array> arrays, int64_t axis, const Array* out = nullptr,
                  std::optional<DType> dtype = {});

Array stack(std::span<const Array> arrays, int64_t axis, const Array* out = nullptr, std::optional<DType> dtype = {});

// ---- matmul.cpp: NumPy's matmul (batches broadcast) and dot; out= allowed
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);
Array dot(const Array& a, const Array& b, const Array* out = nullptr);
// How to find the BLAS library: called on the thread that records the first product, which loads it.
void set_blas_path(std::function<std::string()> find);

// ---- scan.cpp, argreduce.cpp
Array cumsum(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out = nullptr);
Array cumprod(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out = nullptr);
Array argmin(const Array& x, std::optional<int64_t> axis, bool keepdims, const Array* out = nullptr);
Array argmax(const Array& x, std::optional<int64_t> axis, bool keepdims, const Array* out = nullptr);

// ---- take.cpp: elements by integer arrays; an index out of range fails the result (mode raise). See index.h too.
enum class IndexMode { raise, wrap, clip };
Array take(const Array& x, const Array& indices, int64_t axis, IndexMode mode, const Array* out = nullptr);
// Indices of x's own dimensions, along one axis; put writes in place, `add` to what is there.
Array take_along(const Array& x, const Array& indices, int64_t axis, IndexMode mode);
void put_along(const Array& x, const Array& indices, const Arg& value, int64_t axis, IndexMode mode, bool add);
// x[indices...], an array for each of the first axes; scatter writes in place, scattered to a copy. Of values for one
// element the last counts, or all are added.
Array gather(const Array& x, std::span<const Array> indices, IndexMode mode);
void scatter(const Array& x, std::span<const Array> indices, const Arg& value, IndexMode mode, bool add);
Array scattered(const Array& x, std::span<const Array> indices, const Arg& value, IndexMode mode, bool add);

// ---- sort.cpp: equal elements keep their order, NaN counts as the largest number; places are int64
Array sort(const Array& x, int64_t axis, bool descending, const Array* out = nullptr);
Array argsort(const Array& x, int64_t axis, bool descending);
Array partition(const Array& x, std::span<const int64_t> places, int64_t axis);
Array argpartition(const Array& x, std::span<const int64_t> places, int64_t axis);
Array topk(const Array& x, int64_t k, int64_t axis, bool ascending);  // places of the first k, in order

// ---- search.cpp
Array searchsorted(const Array& a, const Array& v, bool right, const Array* sorter);
std::vector<Array> distinct(const Array& sorted, const Array* order, bool equal_nan);
Array bincount(const Array& x, int64_t length, const Array* weights);  // a number out of range fails the result
Array histogram(const Array& x, const Array& edges, const Array* weights, bool equal_width);
Array convolve(const Array& a, const Array& b, int64_t first, int64_t n);  // elements first .. first + n - 1

// ---- conv.cpp: convolution over 1 to 3 spatial axes after batch and channels, and its gradients for data of a size
// and for a weight of a kernel size
struct ConvOptions {
  std::vector<int64_t> stride, dilate, pad;  // one number for each spatial axis
  int64_t groups = 1;
};
Array convolution(const Array& data, const Array& weight, const Array* bias, const ConvOptions& options);
Array convolution_data(const Array& gradient, const Array& weight, std::span<const int64_t> size,
                       const ConvOptions& options);
Array convolution_weight(const Array& gradient, const Array& data, std::span<const int64_t> kernel,
                         const ConvOptions& options);

// ---- pool.cpp: sums, means and largest elements of windows over 1 to 3 spatial axes, and their gradients
enum class PoolKind { max, mean, mean_inside, sum };  // mean_inside: padding does not count
struct PoolOptions {
  PoolKind kind = PoolKind::max;
  std::vector<int64_t> kernel, stride, pad;  // one number for each spatial axis
  std::vector<int64_t> size;                 // of the result
};
Array pool(const Array& data, const PoolOptions& options);
// The gradient of data, given that of the result. For the largest elements `data` says which they are.
Array pool_gradient(const Array& gradient, const Array& data, const PoolOptions& options);
// The elements of `values` at the places of the largest elements of `data`.
Array pool_pick(const Array& values, const Array& data, const PoolOptions& options);

// ---- random.cpp: a generator is a key and a position; recording takes the positions it needs
struct RandomState {
  uint64_t key = 0;
  uint64_t position = 0;
};
RandomState& default_random(Device device);   // what np.random.* uses, one per device
void seed_random(uint64_t seed);              // all devices
Array random_uniform(RandomState& state, double low, double high, const Shape& shape, DType dtype, Device device);
Array random_normal(RandomState& state, double loc, double scale, const Shape& shape, DType dtype, Device device);
Array random_integers(RandomState& state, int64_t low, uint64_t range, const Shape& shape, DType dtype, Device device);
Array random_permutation(RandomState& state, int64_t n, Device device);  // int64 0..n-1 shuffled
// sample.cpp: by rejection, from parameters that broadcast to the shape: float64 gamma, int64 Poisson and binomial
enum class Distribution : uint8_t;
Array random_sample(RandomState& state, Distribution distribution, std::span<const Array> parameters,
                    const Shape& shape);

// ---- host.cpp: a function of the front end, run on a worker, in order with the arrays it reads and writes
using HostFunction = std::function<void(const Record&)>;
std::vector<Array> host_call(HostFunction fn, std::span<const Array> inputs, std::span<const Shape> shapes,
                             std::span<const DType> dtypes, Device device);
// Runs fn(failure or null) when everything recorded so far on x is done. fn must not throw.
void when_done(const Array& x, std::function<void(FailurePtr)> fn);
// Copies x, row-major, to host memory that the caller keeps alive until the returned token array is ready (wait on it).
Array copy_to_host(const Array& x, void* to);

// ---- across devices
Array copy_to_device(const Array& x, Device device);  // always a new array

}  // namespace slipstream
