// Sorting, searching, counting and convolution.

#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

std::optional<Array> array_or_none(nb::handle o, Device device) {
  if (o.is_none()) return {};
  return to_array(o.ptr(), device);
}
const Array* pointer(const std::optional<Array>& a) { return a ? &*a : nullptr; }

}  // namespace

void bind_sorting(nb::module_& m) {
  m.def(
      "sort", [](const Array& x, int64_t axis, bool descending) { return sort(x, axis, descending); }, nb::arg("x"),
      nb::arg("axis") = -1, nb::arg("descending") = false);
  m.def("argsort", &argsort, nb::arg("x"), nb::arg("axis") = -1, nb::arg("descending") = false);
  m.def(
      "partition", [](const Array& x, nb::object kth, int64_t axis) { return partition(x, to_axes(kth), axis); },
      nb::arg("x"), nb::arg("kth"), nb::arg("axis") = -1);
  m.def(
      "argpartition", [](const Array& x, nb::object kth, int64_t axis) { return argpartition(x, to_axes(kth), axis); },
      nb::arg("x"), nb::arg("kth"), nb::arg("axis") = -1);
  m.def("topk", &topk, nb::arg("x"), nb::arg("k"), nb::arg("axis") = -1, nb::arg("ascending") = false,
        "The places of the k largest (or smallest) along an axis, in order.");
  m.def(
      "searchsorted",
      [](const Array& a, const Array& v, bool right, nb::object sorter) {
        return searchsorted(a, v, right, pointer(array_or_none(sorter, a.device())));
      },
      nb::arg("a"), nb::arg("v"), nb::arg("right") = false, nb::arg("sorter") = nb::none());
  m.def(
      "distinct",
      [](const Array& x, nb::object order, bool equal_nan) {
        return distinct(x, pointer(array_or_none(order, x.device())), equal_nan);
      },
      nb::arg("x"), nb::arg("order") = nb::none(), nb::arg("equal_nan") = true,
      "Of sorted numbers: where distinct ones begin, and how many there are; given the order that sorted them, also "
      "which each unsorted element is.");
  m.def(
      "bincount",
      [](const Array& x, int64_t length, nb::object weights) {
        return bincount(x, length, pointer(array_or_none(weights, x.device())));
      },
      nb::arg("x"), nb::arg("length"), nb::arg("weights") = nb::none());
  m.def(
      "histogram",
      [](const Array& x, const Array& edges, nb::object weights, bool equal_width) {
        return histogram(x, edges, pointer(array_or_none(weights, x.device())), equal_width);
      },
      nb::arg("x"), nb::arg("edges"), nb::arg("weights") = nb::none(), nb::arg("equal_width") = false);
  m.def(
      "read_number",
      [](const Array& x, const std::string& function) -> nb::int_ {
        sync_point(function.c_str());
        return nb::int_(read(x).attr("item")());
      },
      nb::arg("x"), nb::arg("function"),
      "The only element, for a function whose result has a shape that depends on it.");
  m.def(
      "read_values",
      [](const Array& x, const std::string& function) {
        sync_point(function.c_str());
        return read(x);
      },
      nb::arg("x"), nb::arg("function"),
      "As a NumPy array, for a function whose result has a shape that depends on them.");
  m.def("convolve", &convolve, nb::arg("a"), nb::arg("b"), nb::arg("first"), nb::arg("n"),
        "Elements first .. first + n - 1 of the convolution.");
}

}  // namespace slipstream::python
