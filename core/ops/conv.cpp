// Checks of convolutions and their gradients; 16-bit floats are computed as float32.
#include "conv.h"

#include "../elementwise.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kConvolution{"convolution"};
const Op kConvolutionData{"convolution_data"};
const Op kConvolutionWeight{"convolution_weight"};

namespace {

using Sizes = std::vector<int64_t>;

// One axis lies in the middle, so that long lines can be cut there.
Axes3 three(const Sizes& given, int64_t fill) {
  switch (given.size()) {
    case 1: return {fill, given[0], fill};
    case 2: return {fill, given[0], given[1]};
    default: return {given[0], given[1], given[2]};
  }
}

Sizes spatial(const Array& x) { return Sizes(x.shape.begin() + 2, x.shape.end()); }

// The array as the kernel sees it: row-major, with five axes, in the type that is computed in.
Array prepared(const Array& x, DType type) {
  Array a = x.dtype == type ? contiguous(x) : astype(x, type);
  Axes3 size = three(spatial(x), 1);
  return reshape(a, Shape{x.shape[0], x.shape[1], size[0], size[1], size[2]});
}

int check_axes(const char* op, const Array& a, const Array& b) {
  if (a.ndim() < 3 || a.ndim() > 5)
    fail(ErrorKind::value, op, ": shape ", a.shape, " must have 1 to 3 spatial axes after batch and channels");
  if (a.ndim() != b.ndim())
    fail(ErrorKind::value, op, ": shapes ", a.shape, " and ", b.shape, " must have the same number of axes");
  return a.ndim() - 2;
}

void check_list(const char* op, const char* what, const Sizes& given, int axes, int64_t least) {
  if (static_cast<int>(given.size()) != axes)
    fail(ErrorKind::value, op, ": ", what, " ", Dims(given), " must have ", axes,
         " numbers, one for each spatial axis");
  for (int64_t v : given)
    if (v < least) fail(ErrorKind::value, op, ": ", what, " ", Dims(given), " has a number below ", least);
}

void check_options(const char* op, const ConvOptions& options, int axes) {
  check_list(op, "stride", options.stride, axes, 1);
  check_list(op, "dilate", options.dilate, axes, 1);
  check_list(op, "pad", options.pad, axes, 0);
  if (options.groups < 1) fail(ErrorKind::value, op, ": num_group is ", options.groups, ", but must be at least 1");
}

DType float_type(const char* op, const Array& a, const Array& b) {
  same_device(op, a, b);
  DType type = promote(a.dtype, b.dtype);
  if (!is_float(type)) fail(ErrorKind::type, op, ": dtypes ", a.dtype, " and ", b.dtype, " are no floats");
  return type;
}

int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilate, int64_t pad) {
  int64_t room = in + 2 * pad - dilate * (kernel - 1) - 1;
  return room < 0 ? -1 : room / stride + 1;
}

// The spatial sizes of the result of data of size `in`.
Sizes out_sizes(const char* op, const Sizes& in, const Sizes& kernel, const ConvOptions& options) {
  Sizes out;
  for (size_t i = 0; i < in.size(); i++) {
    if (kernel[i] < 1) fail(ErrorKind::value, op, ": a kernel of size ", Dims(kernel), " has no elements");
    int64_t n = out_size(in[i], kernel[i], options.stride[i], options.dilate[i], options.pad[i]);
    if (n < 1)
      fail(ErrorKind::value, op, ": a kernel of size ", Dims(kernel), " with dilate ", Dims(options.dilate),
           " does not fit into data of size ", Dims(in), " with pad ", Dims(options.pad));
    out.push_back(n);
  }
  return out;
}

void check_channels(const char* op, int64_t channels, int64_t filters, int64_t per_group, int64_t groups) {
  if (channels % groups != 0 || filters % groups != 0)
    fail(ErrorKind::value, op, ": ", channels, " channels and ", filters, " filters cannot be cut into ", groups,
         " groups");
  if (channels / groups != per_group)
    fail(ErrorKind::value, op, ": data has ", channels, " channels in ", groups, " groups, but weight takes ",
         per_group, " channels each");
}

Shape with_sizes(int64_t first, int64_t second, const Sizes& sizes) {
  Shape shape{first, second};
  for (int64_t n : sizes) shape.push_back(n);
  return shape;
}

// Records the call on prepared inputs; the result has the shape the user sees.
Array record_conv(const Op& op, const Array& a, const Array& b, const Array* bias, const Shape& shape,
                  const ConvOptions& options, DType type) {
  DType compute = is_half(type) ? DType::f32 : type;
  auto params = std::make_shared<ConvParams>();
  params->stride = three(options.stride, 1);
  params->dilate = three(options.dilate, 1);
  params->pad = three(options.pad, 0);
  params->groups = options.groups;
  Array result(shape, compute, a.device());
  Record call;
  call.op = &op;
  call.params = params;
  call.inputs.emplace_back(prepared(a, compute));
  call.inputs.emplace_back(prepared(b, compute));
  if (bias) call.inputs.emplace_back(bias->dtype == compute ? contiguous(*bias) : astype(*bias, compute));
  Axes3 size = three(spatial(result), 1);
  Array written = reshape(result, Shape{shape[0], shape[1], size[0], size[1], size[2]});
  record_new(std::move(call), written);
  return compute == type ? result : astype(result, type);
}

Array convolution_value(const Array& data, const Array& weight, const Array* bias, const ConvOptions& options) {
  const char* op = kConvolution.name;
  check_options(op, options, check_axes(op, data, weight));
  check_channels(op, data.shape[1], weight.shape[0], weight.shape[1], options.groups);
  DType type = float_type(op, data, weight);
  if (bias) {
    same_device(op, data, *bias);
    if (bias->ndim() != 1 || bias->shape[0] != weight.shape[0])
      fail(ErrorKind::value, op, ": bias has shape ", bias->shape, ", but weight ", weight.shape, " has ",
           weight.shape[0], " filters");
  }
  Sizes sizes = out_sizes(op, spatial(data), spatial(weight), options);
  return record_conv(kConvolution, data, weight, bias, with_sizes(data.shape[0], weight.shape[0], sizes), options,
                     type);
}

// A result of one place, where each filter lay on all of the data: its gradient is a product of matrices.
bool is_product(const Array& gradient, const Array& weight, const Sizes& sizes, const ConvOptions& options) {
  Sizes ones(sizes.size(), 1), zeros(sizes.size(), 0);
  return options.groups == 1 && sizes == spatial(weight) && spatial(gradient) == ones && options.pad == zeros;
}

Array data_product(const Array& gradient, const Array& weight, const Shape& shape, DType type) {
  DType compute = is_half(type) ? DType::f32 : type;
  int64_t filters = weight.shape[0], size = 1;
  for (int i = 1; i < weight.ndim(); i++) size *= weight.shape[i];
  Array g = reshape(prepared(gradient, compute), Shape{gradient.shape[0], filters});
  Array made = reshape(matmul(g, reshape(prepared(weight, compute), Shape{filters, size})), shape);
  return compute == type ? made : astype(made, type);
}

Array data_value(const Array& gradient, const Array& weight, const Sizes& sizes, const ConvOptions& options) {
  const char* op = kConvolutionData.name;
  int axes = check_axes(op, gradient, weight);
  check_options(op, options, axes);
  check_list(op, "size", sizes, axes, 1);
  if (gradient.shape[1] != weight.shape[0])
    fail(ErrorKind::value, op, ": ", gradient.shape[1], " channels do not fit a weight of shape ", weight.shape,
         ", which has ", weight.shape[0], " filters");
  int64_t channels = weight.shape[1] * options.groups;
  check_channels(op, channels, weight.shape[0], weight.shape[1], options.groups);
  if (out_sizes(op, sizes, spatial(weight), options) != spatial(gradient))
    fail(ErrorKind::value, op, ": data of size ", Dims(sizes), " does not give a result of shape ", gradient.shape);
  Shape shape = with_sizes(gradient.shape[0], channels, sizes);
  DType type = float_type(op, gradient, weight);
  if (is_product(gradient, weight, sizes, options)) return data_product(gradient, weight, shape, type);
  return record_conv(kConvolutionData, gradient, weight, nullptr, shape, options, type);
}

Array weight_value(const Array& gradient, const Array& data, const Sizes& sizes, const ConvOptions& options) {
  const char* op = kConvolutionWeight.name;
  int axes = check_axes(op, gradient, data);
  check_options(op, options, axes);
  check_list(op, "kernel", sizes, axes, 1);
  int64_t channels = data.shape[1], filters = gradient.shape[1];
  check_channels(op, channels, filters, channels / options.groups, options.groups);
  if (gradient.shape[0] != data.shape[0] || out_sizes(op, spatial(data), sizes, options) != spatial(gradient))
    fail(ErrorKind::value, op, ": data of shape ", data.shape, " does not give a result of shape ", gradient.shape);
  return record_conv(kConvolutionWeight, gradient, data, nullptr, with_sizes(filters, channels / options.groups, sizes),
                     options, float_type(op, gradient, data));
}

Array sum_for_bias(const Array& g) {
  ReduceOptions sum;
  for (int i = 0; i < g.ndim(); i++)
    if (i != 1) sum.axes |= 1u << i;
  return reduce(Row::sum, g, sum);
}

// What a product of two arrays saves for its gradients: each only if the other's gradient may be wanted.
struct Factors {
  Factors(const Array& x, const Array& y)
      : first(tape::follows(y) ? tape::Saved(x) : tape::Saved()),
        second(tape::follows(x) ? tape::Saved(y) : tape::Saved()),
        types{x.dtype, y.dtype} {}
  tape::Saved first, second;
  DType types[2];

  // The gradients of both, each given as a function of the other, in their own types.
  template <class F, class G>
  std::vector<Array> gradients(F of_second, G of_first) const {
    std::vector<Array> found(2);
    if (second && tape::wanted(0)) found[0] = in_type(of_second(second.get()), types[0]);
    if (first && tape::wanted(1)) found[1] = in_type(of_first(first.get()), types[1]);
    return found;
  }
  static Array in_type(const Array& x, DType type) { return x.dtype == type ? x : astype(x, type); }
};

}  // namespace

Array convolution(const Array& data, const Array& weight, const Array* bias, const ConvOptions& options) {
  std::vector<Array> inputs{data, weight};
  if (bias) inputs.push_back(*bias);
  if (!tape::follows_any(inputs)) return convolution_value(data, weight, bias, options);
  std::optional<Array> plain = bias ? std::optional(bias->detached()) : std::nullopt;
  Array made = convolution_value(data.detached(), weight.detached(), plain ? &*plain : nullptr, options);
  auto gradient = [saved = Factors(data, weight), options, size = spatial(data), kernel = spatial(weight),
                   bias_type = bias ? std::optional(bias->dtype) : std::nullopt](const Array& g) {
    std::vector<Array> found =
        saved.gradients([&](const Array& w) { return convolution_data(g, w, size, options); },
                        [&](const Array& x) { return convolution_weight(g, x, kernel, options); });
    if (bias_type) found.push_back(tape::wanted(2) ? Factors::in_type(sum_for_bias(g), *bias_type) : Array());
    return found;
  };
  tape::note(kConvolution.name, made, std::span<const Array>(inputs), std::move(gradient));
  return made;
}

Array convolution_data(const Array& gradient, const Array& weight, std::span<const int64_t> size,
                       const ConvOptions& options) {
  Sizes sizes(size.begin(), size.end());
  if (!tape::follows(gradient) && !tape::follows(weight)) return data_value(gradient, weight, sizes, options);
  Array made = data_value(gradient.detached(), weight.detached(), sizes, options);
  tape::note(kConvolutionData.name, made, {&gradient, &weight},
             [saved = Factors(gradient, weight), options, kernel = spatial(weight)](const Array& g) {
               return saved.gradients([&](const Array& w) { return convolution(g, w, nullptr, options); },
                                      [&](const Array& r) { return convolution_weight(r, g, kernel, options); });
             });
  return made;
}

Array convolution_weight(const Array& gradient, const Array& data, std::span<const int64_t> kernel,
                         const ConvOptions& options) {
  Sizes sizes(kernel.begin(), kernel.end());
  if (!tape::follows(gradient) && !tape::follows(data)) return weight_value(gradient, data, sizes, options);
  Array made = weight_value(gradient.detached(), data.detached(), sizes, options);
  tape::note(kConvolutionWeight.name, made, {&gradient, &data},
             [saved = Factors(gradient, data), options, size = spatial(data)](const Array& g) {
               return saved.gradients([&](const Array& x) { return convolution(x, g, nullptr, options); },
                                      [&](const Array& r) { return convolution_data(r, g, size, options); });
             });
  return made;
}

}  // namespace slipstream
