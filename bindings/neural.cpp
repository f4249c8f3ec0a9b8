// Layers: products, convolution, pooling and batch normalisation, with their gradients.

#include <nanobind/stl/optional.h>

#include "../core/ops/dense.h"
#include "../core/ops/norm.h"
#include "../core/ops/recurrent.h"
#include "../core/ops/row_norm.h"
#include "../core/ops/shared_product.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

ConvOptions conv_options(nb::handle stride, nb::handle dilate, nb::handle pad, int64_t groups) {
  return {to_axes(stride), to_axes(dilate), to_axes(pad), groups};
}

PoolKind pool_kind(const std::string& kind) {
  if (kind == "max") return PoolKind::max;
  if (kind == "mean") return PoolKind::mean;
  if (kind == "mean_inside") return PoolKind::mean_inside;
  if (kind == "sum") return PoolKind::sum;
  fail(ErrorKind::value, "pooling: '", kind, "' is none of 'max', 'mean', 'mean_inside', 'sum'");
}

PoolOptions pool_options(const std::string& kind, nb::handle kernel, nb::handle stride, nb::handle pad,
                         nb::handle size) {
  return {pool_kind(kind), to_axes(kernel), to_axes(stride), to_axes(pad), to_axes(size)};
}

void bind_convolution(nb::module_& m) {
  m.def(
      "convolution",
      [](const Array& data, const Array& weight, nb::object bias, nb::object stride, nb::object dilate, nb::object pad,
         int64_t groups) {
        std::optional<Array> b;
        if (!bias.is_none()) b = to_array(bias.ptr(), data.device());
        return convolution(data, weight, b ? &*b : nullptr, conv_options(stride, dilate, pad, groups));
      },
      nb::arg("data"), nb::arg("weight"), nb::arg("bias").none(), nb::arg("stride"), nb::arg("dilate"), nb::arg("pad"),
      nb::arg("groups"));
  m.def(
      "convolution_data",
      [](const Array& gradient, const Array& weight, nb::object size, nb::object stride, nb::object dilate,
         nb::object pad, int64_t groups) {
        return convolution_data(gradient, weight, to_axes(size), conv_options(stride, dilate, pad, groups));
      },
      nb::arg("gradient"), nb::arg("weight"), nb::arg("size"), nb::arg("stride"), nb::arg("dilate"), nb::arg("pad"),
      nb::arg("groups"), "The gradient of a convolution for its data, which has this spatial size.");
  m.def(
      "convolution_weight",
      [](const Array& gradient, const Array& data, nb::object kernel, nb::object stride, nb::object dilate,
         nb::object pad, int64_t groups) {
        return convolution_weight(gradient, data, to_axes(kernel), conv_options(stride, dilate, pad, groups));
      },
      nb::arg("gradient"), nb::arg("data"), nb::arg("kernel"), nb::arg("stride"), nb::arg("dilate"), nb::arg("pad"),
      nb::arg("groups"), "The gradient of a convolution for its weight, which has this kernel size.");
}

void bind_pooling(nb::module_& m) {
  m.def(
      "pool",
      [](const Array& data, const std::string& kind, nb::object kernel, nb::object stride, nb::object pad,
         nb::object size) { return pool(data, pool_options(kind, kernel, stride, pad, size)); },
      nb::arg("data"), nb::arg("kind"), nb::arg("kernel"), nb::arg("stride"), nb::arg("pad"), nb::arg("size"),
      "Windows' max, mean, mean_inside (padding does not count) or sum; size is that of the result.");
  m.def(
      "pool_gradient",
      [](const Array& gradient, const Array& data, const std::string& kind, nb::object kernel, nb::object stride,
         nb::object pad,
         nb::object size) { return pool_gradient(gradient, data, pool_options(kind, kernel, stride, pad, size)); },
      nb::arg("gradient"), nb::arg("data"), nb::arg("kind"), nb::arg("kernel"), nb::arg("stride"), nb::arg("pad"),
      nb::arg("size"));
}

std::optional<Array> optional_array(nb::handle x, Device device) {
  return x.is_none() ? std::nullopt : std::optional(to_array(x.ptr(), device));
}

void bind_norm(nb::module_& m) {
  m.def(
      "batch_norm_fixed",
      [](const Array& data, nb::object gamma, const Array& beta, const Array& mean, const Array& variance, double eps) {
        std::optional<Array> g = optional_array(gamma, data.device());
        return batch_norm_fixed(data, g ? &*g : nullptr, beta, mean, variance, eps);
      },
      nb::arg("data"), nb::arg("gamma").none(), nb::arg("beta"), nb::arg("mean"), nb::arg("variance"), nb::arg("eps"),
      "By given statistics; the result has no history.");
  m.def(
      "fully_connected",
      [](const Array& x, const Array& weight, nb::object bias, std::optional<int64_t> units, bool flatten) {
        std::optional<Array> b = optional_array(bias, x.device());
        return fully_connected(x, weight, b ? &*b : nullptr, units, flatten);
      },
      nb::arg("x"), nb::arg("weight"), nb::arg("bias").none(), nb::arg("units").none(), nb::arg("flatten"),
      "x @ weight.T, plus the bias; with flatten, all axes of x but the first are one.");
  m.def("softmax", &softmax, nb::arg("x"), nb::arg("axis"), nb::arg("log"), "Along the axis, or the logarithm of it.");
  m.def(
      "layer_norm",
      [](const Array& x, const Array& gamma, const Array& beta, double eps) {
        LayerNormed made = layer_norm(x, gamma, beta, eps);
        return std::vector<Array>{made.result, made.mean, made.deviation};
      },
      nb::arg("x"), nb::arg("gamma"), nb::arg("beta"), nb::arg("eps"),
      "Along the last axis, whose length gamma and beta have; the result, and each row's mean and deviation.");
  m.def("shared_product", &shared_product, nb::arg("x"), nb::arg("weight"),
        "matmul, for a weight of many steps: its gradient is one product over all of them.");
  m.def(
      "batch_norm",
      [](const Array& data, nb::object gamma, const Array& beta, double eps) {
        std::optional<Array> g = optional_array(gamma, data.device());
        BatchNormed made = batch_norm(data, g ? &*g : nullptr, beta, eps);
        return std::vector<Array>{made.result, made.mean, made.variance};
      },
      nb::arg("data"), nb::arg("gamma").none(), nb::arg("beta"), nb::arg("eps"),
      "By the batch's own statistics; the result, and each channel's mean and variance, which have no history.");
}

void bind_recurrent(nb::module_& m) {
  m.def("lstm_pays", &lstm_pays, nb::arg("projected"), nb::arg("weight"), nb::arg("state"), nb::arg("cell"),
        "Is one call for all steps quicker than one for each?");
  m.def(
      "lstm",
      [](const Array& projected, const Array& weight, const Array& state, const Array& cell, bool backwards,
         bool want_gates) {
        LstmSteps made = lstm(projected, weight, state, cell, backwards, want_gates);
        std::vector<Array> found{made.states, made.cells};
        if (want_gates) found.push_back(made.gates);
        return found;
      },
      nb::arg("projected"), nb::arg("weight"), nb::arg("state"), nb::arg("cell"), nb::arg("backwards"),
      nb::arg("want_gates"), "States and cells before and after all steps, and gates if wanted; without history.");
  m.def(
      "lstm_gradient",
      [](const Array& gates, const Array& cells, const Array& weight, const Array& of_outputs, const Array& of_cells,
         bool backwards) {
        LstmSlopes made = lstm_gradient(gates, cells, weight, of_outputs, of_cells, backwards);
        return std::vector<Array>{made.projected, made.state, made.cell};
      },
      nb::arg("gates"), nb::arg("cells"), nb::arg("weight"), nb::arg("of_outputs"), nb::arg("of_cells"),
      nb::arg("backwards"),
      "From the gradients of outputs and cells those of what was projected, of state and of cell.");
}

}  // namespace

void bind_neural(nb::module_& m) {
  bind_convolution(m);
  bind_pooling(m);
  bind_norm(m);
  bind_recurrent(m);
}

}  // namespace slipstream::python
