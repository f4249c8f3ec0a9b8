// Checks of pooling; 16-bit floats are computed as float32.
#include "pool.h"

#include "../elementwise.h"
#include "../graph/tape.h"
#include "check.h"

namespace slipstream {

const Op kPool{"pooling"};
const Op kPoolGradient{"pooling_gradient"};
const Op kPoolPick{"pooling_pick"};

namespace {

Axes3 three(const std::vector<int64_t>& given, int64_t fill) {
  Axes3 all{fill, fill, fill};
  std::copy(given.begin(), given.end(), all.end() - static_cast<int64_t>(given.size()));
  return all;
}

Shape five_axes(const Shape& shape) {
  Axes3 size = three(std::vector<int64_t>(shape.begin() + 2, shape.end()), 1);
  return Shape{shape[0], shape[1], size[0], size[1], size[2]};
}

Array prepared(const Array& x, DType type) {
  return reshape(x.dtype == type ? contiguous(x) : astype(x, type), five_axes(x.shape));
}

void check(const Array& data, const PoolOptions& options) {
  const char* op = kPool.name;
  if (!is_float(data.dtype)) fail(ErrorKind::type, op, ": dtype ", data.dtype, " is no float");
  if (data.ndim() < 3 || data.ndim() > 5)
    fail(ErrorKind::value, op, ": shape ", data.shape, " must have 1 to 3 spatial axes after batch and channels");
  auto axes = static_cast<size_t>(data.ndim() - 2);
  for (const auto* list : {&options.kernel, &options.stride, &options.pad, &options.size})
    if (list->size() != axes)
      fail(ErrorKind::value, op, ": kernel ", Dims(options.kernel), ", stride ", Dims(options.stride), " and pad ",
           Dims(options.pad), " must have ", axes, " numbers, one for each spatial axis");
  for (size_t i = 0; i < axes; i++) {
    if (options.kernel[i] < 1 || options.stride[i] < 1 || options.pad[i] < 0)
      fail(ErrorKind::value, op, ": kernel ", Dims(options.kernel), " and stride ", Dims(options.stride),
           " must be at least 1, pad ", Dims(options.pad), " at least 0");
    if (options.pad[i] >= options.kernel[i])
      fail(ErrorKind::value, op, ": pad ", Dims(options.pad), " must be smaller than the kernel ",
           Dims(options.kernel));
    if (options.size[i] < 1)
      fail(ErrorKind::value, op, ": a kernel of size ", Dims(options.kernel), " does not fit into data of shape ",
           data.shape, " with pad ", Dims(options.pad));
  }
}

Shape result_shape(const Array& data, const PoolOptions& options) {
  Shape shape{data.shape[0], data.shape[1]};
  for (int64_t n : options.size) shape.push_back(n);
  return shape;
}

Array record_pool(const Op& op, std::initializer_list<const Array*> inputs, const Shape& shape,
                  const PoolOptions& options) {
  const Array& first = **inputs.begin();
  DType compute = is_half(first.dtype) ? DType::f32 : first.dtype;
  auto params = std::make_shared<PoolParams>();
  params->kind = options.kind;
  params->kernel = three(options.kernel, 1);
  params->stride = three(options.stride, 1);
  params->pad = three(options.pad, 0);
  Record call;
  call.op = &op;
  call.params = params;
  for (const Array* x : inputs) call.inputs.emplace_back(prepared(*x, compute));
  Array result(shape, compute, first.device());
  record_new(std::move(call), reshape(result, five_axes(shape)));
  return compute == first.dtype ? result : astype(result, first.dtype);
}

void check_gradient(const Array& gradient, const Array& data, const PoolOptions& options) {
  same_device(kPoolGradient.name, gradient, data);
  if (!(gradient.shape == result_shape(data, options)))
    fail(ErrorKind::value, kPoolGradient.name, ": the gradient has shape ", gradient.shape, ", the result ",
         result_shape(data, options));
}

// The gradient of a sum or mean, which needs no data.
Array spread(const Array& gradient, const Shape& shape, const PoolOptions& options) {
  Array plain = gradient.detached();
  Array made = record_pool(kPoolGradient, {&plain}, shape, options);
  if (tape::follows(gradient))
    tape::note(kPoolGradient.name, made, {&gradient},
               [options](const Array& g) { return std::vector<Array>{pool(g, options)}; });
  return made;
}

}  // namespace

Array pool(const Array& data, const PoolOptions& options) {
  check(data, options);
  Array plain = data.detached();
  Array made = record_pool(kPool, {&plain}, result_shape(data, options), options);
  if (!tape::follows(data)) return made;
  if (options.kind == PoolKind::max)
    tape::note(kPool.name, made, {&data}, [x = tape::Saved(data), options](const Array& g) {
      return std::vector<Array>{pool_gradient(g, x.get(), options)};
    });
  else
    tape::note(kPool.name, made, {&data},
               [shape = data.shape, options](const Array& g) { return std::vector<Array>{spread(g, shape, options)}; });
  return made;
}

Array pool_gradient(const Array& gradient, const Array& data, const PoolOptions& options) {
  check(data, options);
  check_gradient(gradient, data, options);
  Array g = gradient.dtype == data.dtype ? gradient : astype(gradient, data.dtype);
  if (options.kind != PoolKind::max) return spread(g, data.shape, options);
  Array plain = g.detached(), x = data.detached();
  Array made = record_pool(kPoolGradient, {&plain, &x}, data.shape, options);
  if (tape::follows(g))
    tape::note(kPoolGradient.name, made, {&g}, [x = tape::Saved(x), options](const Array& u) {
      return std::vector<Array>{pool_pick(u, x.get(), options)};
    });
  return made;
}

Array pool_pick(const Array& values, const Array& data, const PoolOptions& options) {
  check(data, options);
  same_device(kPoolPick.name, values, data);
  if (!(values.shape == data.shape))
    fail(ErrorKind::value, kPoolPick.name, ": values have shape ", values.shape, ", data ", data.shape);
  Array v = values.dtype == data.dtype ? values : astype(values, data.dtype);
  Array plain = v.detached(), x = data.detached();
  Array made = record_pool(kPoolPick, {&plain, &x}, result_shape(data, options), options);
  if (tape::follows(v))
    tape::note(kPoolPick.name, made, {&v}, [x = tape::Saved(x), options](const Array& g) {
      return std::vector<Array>{pool_gradient(g, x.get(), options)};
    });
  return made;
}

}  // namespace slipstream
