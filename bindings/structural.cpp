// Structural operations: creation, views, joining, products, scans. Each under its own name.

#include "../core/ops/structural.h"

#include <nanobind/stl/tuple.h>

#include "ndarray.h"

namespace slipstream::python {

namespace {

const Array* optional_out(nb::handle out) {
  if (out.is_none()) return nullptr;
  if (!is_ndarray(out.ptr())) fail(ErrorKind::type, "out must be an ndarray, not ", Py_TYPE(out.ptr())->tp_name);
  return &as_array(out.ptr());
}

// A result that went into out= is out itself.
nb::object result_or(nb::handle out, Array&& result) {
  return out.is_none() ? nb::cast(std::move(result)) : nb::borrow(out);
}

DType dtype_or(nb::handle o, DType otherwise) { return to_dtype_or_none(o).value_or(otherwise); }

Scalar scalar(nb::handle o, std::optional<DType> into = {}) { return to_scalar(o.ptr(), into); }
DType dtype_of(nb::handle o) { return to_dtype(o.ptr()); }
Dims dims(nb::handle o) { return to_dims(o.ptr()); }

void bind_creation(nb::module_& m) {
  m.def(
      "empty",
      [](nb::object shape, nb::object dtype, nb::object device) {
        return empty(dims(shape), dtype_or(dtype, default_dtype(Kind::real)), to_device(device));
      },
      nb::arg("shape").none(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none());
  m.def(
      "full",
      [](nb::object shape, nb::object value, nb::object dtype, nb::object device, nb::object order) {
        Dims size = dims(shape);
        Scalar v = scalar(value, dtype_or(dtype, default_dtype(Kind::integer)));
        bool reversed = to_order(order.ptr()) == 'F';
        if (reversed) std::reverse(size.begin(), size.end());
        Array made = full(size, v, dtype_or(dtype, default_dtype(v.kind)), to_device(device));
        return reversed ? transpose(made) : made;
      },
      nb::arg("shape").none(), nb::arg("value").none(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("order") = "C");
  m.def(
      "full_like",
      [](nb::object x, nb::object value, nb::object dtype, nb::object shape, nb::object device) {
        Array a = to_array(x);
        DType type = dtype_or(dtype, a.dtype);
        return full(shape.is_none() ? a.shape : dims(shape), scalar(value, type), type,
                    device.is_none() ? a.device() : to_device(device));
      },
      nb::arg("x").none(), nb::arg("value").none(), nb::arg("dtype") = nb::none(), nb::arg("shape") = nb::none(),
      nb::arg("device") = nb::none(), "What is not given is as in x.");
  m.def(
      "arange",
      [](nb::object start, nb::object step, int64_t n, nb::object dtype, nb::object device) {
        return arange(scalar(start), scalar(step), n, dtype_of(dtype), to_device(device));
      },
      nb::arg("start"), nb::arg("step"), nb::arg("n"), nb::arg("dtype"), nb::arg("device") = nb::none(),
      "n numbers start + i * step.");
  m.def(
      "linspace",
      [](nb::object start, nb::object stop, int64_t n, bool endpoint, nb::object dtype, nb::object device) {
        return linspace(scalar(start, DType::f64), scalar(stop, DType::f64), n, endpoint, dtype_of(dtype),
                        to_device(device));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("n"), nb::arg("endpoint"), nb::arg("dtype"),
      nb::arg("device") = nb::none());
  m.def(
      "eye",
      [](nb::object rows, nb::object columns, nb::object k, nb::object dtype, nb::object device) {
        return eye(to_integer(rows, "eye: N"), to_integer(columns, "eye: M"), to_integer(k, "eye: k"),
                   dtype_or(dtype, default_dtype(Kind::real)), to_device(device));
      },
      nb::arg("rows").none(), nb::arg("columns").none(), nb::arg("k").none(), nb::arg("dtype") = nb::none(),
      nb::arg("device") = nb::none());
}

void bind_views(nb::module_& m) {
  m.def(
      "transpose",
      [](nb::object x, nb::object axes) {
        return axes.is_none() ? transpose(to_array(x)) : transpose(to_array(x), to_axes(axes));
      },
      nb::arg("x").none(), nb::arg("axes") = nb::none());
  m.def(
      "swapaxes",
      [](nb::object x, nb::object axis1, nb::object axis2) {
        return swapaxes(to_array(x), to_integer(axis1, "swapaxes: axis1"), to_integer(axis2, "swapaxes: axis2"));
      },
      nb::arg("x").none(), nb::arg("axis1").none(), nb::arg("axis2").none());
  m.def(
      "reshape",
      [](nb::object x, nb::object shape, nb::object order, nb::object copying) {
        return reshaped(to_array(x), dims(shape), to_order(order.ptr()), copying.ptr());
      },
      nb::arg("x").none(), nb::arg("shape").none(), nb::arg("order") = "C", nb::arg("copy") = nb::none());
  m.def(
      "reshape_view",
      [](nb::object x, nb::object shape) -> nb::object {
        std::optional<Array> view = reshape_view(to_array(x), dims(shape));
        return view ? nb::cast(std::move(*view)) : nb::none();
      },
      nb::arg("x").none(), nb::arg("shape").none(), "The reshaped view, or None where only a copy could do it.");
  m.def(
      "expand_dims", [](nb::object x, nb::object axes) { return expand_dims(to_array(x), to_axes(axes)); },
      nb::arg("x").none(), nb::arg("axes").none());
  m.def(
      "squeeze",
      [](nb::object x, nb::object axes) {
        return squeeze(to_array(x), axes.is_none() ? std::nullopt : std::optional(to_axes(axes)));
      },
      nb::arg("x").none(), nb::arg("axes") = nb::none());
  m.def(
      "broadcast_to", [](nb::object x, nb::object shape) { return broadcast_to(to_array(x), dims(shape)); },
      nb::arg("x").none(), nb::arg("shape").none());
  m.def(
      "flip",
      [](nb::object x, nb::object axes) {
        Array a = to_array(x);
        std::vector<int64_t> all;
        if (axes.is_none())
          for (int i = 0; i < a.ndim(); i++) all.push_back(i);
        else
          all = to_axes(axes);
        return flip(a, all);
      },
      nb::arg("x").none(), nb::arg("axes") = nb::none());
  m.def(
      "slice",
      [](nb::object x, int axis, int64_t start, int64_t step, int64_t length) {
        return slice(to_array(x), axis, start, step, length);
      },
      nb::arg("x").none(), nb::arg("axis"), nb::arg("start"), nb::arg("step"), nb::arg("length"));
  m.def(
      "select", [](nb::object x, int axis, int64_t index) { return select(to_array(x), axis, index); },
      nb::arg("x").none(), nb::arg("axis"), nb::arg("index"));
  m.def(
      "diagonal",
      [](nb::object x, int64_t offset, int axis1, int axis2) { return diagonal(to_array(x), offset, axis1, axis2); },
      nb::arg("x").none(), nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1);
  m.def(
      "reinterpret", [](const Array& x, nb::object dtype) { return reinterpret(x, dtype_of(dtype)); }, nb::arg("x"),
      nb::arg("dtype"), "A view of the same bytes as another type.");
  m.def(
      "memory",
      [](const Array& x) {
        return std::tuple(reinterpret_cast<uintptr_t>(x.storage()), x.storage()->nbytes, x.offset);
      },
      nb::arg("x"), "Of the storage behind an array: its number, its bytes, and where in it the array begins.");
  m.def(
      "whole",
      [](const Array& x) {
        auto size = static_cast<int64_t>(itemsize(x.dtype));
        return x.view({x.dtype, 0, {static_cast<int64_t>(x.storage()->nbytes) / size}, {size}});
      },
      nb::arg("x"), "All of the storage behind an array, in one line.");
  m.def(
      "contiguous", [](nb::object x) { return contiguous(to_array(x)); }, nb::arg("x").none(),
      "x itself if it is row-major, else a copy.");
}

// Arrays, and what can be one, on the device of the first array among them.
std::vector<Array> to_arrays(nb::handle given, const char* function) {
  if (!PySequence_Check(given.ptr()))
    fail(ErrorKind::type, function, ": a sequence of arrays is needed, not ", Py_TYPE(given.ptr())->tp_name);
  nb::object items = nb::steal(checked(PySequence_Fast(given.ptr(), function)));
  PyObject** item = PySequence_Fast_ITEMS(items.ptr());
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
  PyObject** first = std::find_if(item, item + n, is_ndarray);
  std::vector<Array> arrays;
  arrays.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++)
    arrays.push_back(first == item + n ? to_array(item[i]) : to_array_beside(item[i], as_array(*first)));
  return arrays;
}

void bind_values(nb::module_& m) {
  m.def(
      "astype", [](nb::object x, nb::object dtype) { return astype(to_array(x), dtype_of(dtype)); },
      nb::arg("x").none(), nb::arg("dtype"));
  m.def("copy", [](nb::object x) { return copy(to_array(x)); }, nb::arg("x").none());
  m.def(
      "assign",
      [](const Array& target, nb::object value) {
        assign(target, to_value(value.ptr(), target.device(), target.dtype));
      },
      nb::arg("target"), nb::arg("value").none(), "target[...] = value.");
  m.def(
      "copy_to_device", [](nb::object x, nb::object device) { return copy_to_device(to_array(x), to_device(device)); },
      nb::arg("x").none(), nb::arg("device"), "A new array on a device.");
  m.def(
      "concatenate",
      [](nb::object arrays, nb::object axis, nb::object out, nb::object dtype) {
        return result_or(out, concatenate(to_arrays(arrays, "concatenate"), to_integer(axis, "concatenate: axis"),
                                          optional_out(out), to_dtype_or_none(dtype)));
      },
      nb::arg("arrays").none(), nb::arg("axis") = 0, nb::arg("out") = nb::none(), nb::arg("dtype") = nb::none());
  m.def(
      "stack",
      [](nb::object arrays, nb::object axis, nb::object out, nb::object dtype) {
        return result_or(out, stack(to_arrays(arrays, "stack"), to_integer(axis, "stack: axis"), optional_out(out),
                                    to_dtype_or_none(dtype)));
      },
      nb::arg("arrays").none(), nb::arg("axis") = 0, nb::arg("out") = nb::none(), nb::arg("dtype") = nb::none());
}

using Product = Array (*)(const Array&, const Array&, const Array*);

void bind_product(nb::module_& m, const char* name, Product product) {
  m.def(
      name,
      [product](nb::object a, nb::object b, nb::object out) {
        PyObject* items[] = {a.ptr(), b.ptr()};
        Device device = device_of(items, 2);
        return result_or(out, product(to_array(a.ptr(), device), to_array(b.ptr(), device), optional_out(out)));
      },
      nb::arg("a").none(), nb::arg("b").none(), nb::arg("out") = nb::none());
}

// ---- dtypes

nb::object promote_types(nb::handle a, nb::handle b) {
  return nb::borrow(dtype_object(promote(dtype_of(a), dtype_of(b))));
}

// NumPy 2's result type of arrays, dtypes and (weak) Python numbers.
nb::object result_type(nb::args given) {
  std::optional<DType> strong;
  std::optional<Kind> weak;
  for (nb::handle o : given) {
    Given c = classify(o.ptr());
    if (is_scalar(c)) {
      Kind k = c == Given::boolean   ? Kind::boolean
               : c == Given::integer ? Kind::integer
               : c == Given::real    ? Kind::real
                                     : Kind::complex;
      weak = weak ? std::max(*weak, k) : k;
      continue;
    }
    DType t = c == Given::array                              ? as_array(o.ptr()).dtype
              : nb::hasattr(o, "dtype") && c == Given::numpy ? dtype_of(o.attr("dtype"))
                                                             : dtype_of(o);
    strong = strong ? promote(*strong, t) : t;
  }
  if (!strong && !weak) fail(ErrorKind::value, "result_type: at least one array or dtype is required");
  return nb::borrow(dtype_object(!strong ? default_dtype(*weak) : weak ? promote_weak(*strong, *weak) : *strong));
}

// Where the BLAS library lies; asked when the first product is recorded. Its package is found but not imported.
std::string find_blas() {
  nb::object spec = nb::module_::import_("importlib.util").attr("find_spec")("scipy_openblas64");
  if (spec.is_none())
    fail(ErrorKind::runtime, "matmul: the package scipy-openblas64 is missing: pip install scipy-openblas64");
  return nb::cast<std::string>(spec.attr("submodule_search_locations")[0]) + "/lib/libscipy_openblas64_.so";
}

}  // namespace

void bind_structural(nb::module_& m) {
  set_blas_path(find_blas);
  bind_creation(m);
  bind_views(m);
  bind_values(m);
  bind_product(m, "matmul", &matmul);
  bind_product(m, "dot", &dot);
  m.def("max_dimensions", [] { return kMaxDims; }, "How many axes an array can have.");
  m.def("promote_types", &promote_types, nb::arg("a").none(), nb::arg("b").none());
  m.def("result_type", &result_type);
  m.def(
      "float_of", [](nb::handle dtype) { return nb::borrow(dtype_object(float_of(dtype_of(dtype)))); },
      nb::arg("dtype"), "The smallest float that NumPy computes the type in; of a float or complex type that itself.");
  m.def("default_dtype_wide", &numpy_defaults,
        "Do Python's numbers become NumPy's types (int64, float64, complex128)?");
  m.def("set_default_dtype_wide", &set_numpy_defaults, nb::arg("on"));
}

}  // namespace slipstream::python
