// Linear algebra: matrices in, tuples of factors out. And Fourier transforms.

#include "../core/ops/linalg.h"

#include "../core/ops/fft.h"

#include "ndarray.h"

namespace slipstream::python {

namespace {

template <class Arrays>
nb::typed<nb::tuple, Array, nb::ellipsis> to_tuple_of(Arrays&& arrays) {
  nb::list made;
  for (Array& a : arrays) made.append(nb::cast(std::move(a)));
  return nb::typed<nb::tuple, Array, nb::ellipsis>(nb::tuple(made));
}

QrMode qr_mode(const std::string& mode) {
  if (mode == "reduced") return QrMode::reduced;
  if (mode == "complete") return QrMode::complete;
  if (mode == "r") return QrMode::r;
  if (mode == "raw") return QrMode::raw;
  fail(ErrorKind::value, "qr: mode is '", mode, "', but must be 'reduced', 'complete', 'r' or 'raw'");
}

FftKind fft_kind(const std::string& kind) {
  return kind == "forward"    ? FftKind::forward
         : kind == "backward" ? FftKind::backward
         : kind == "real"     ? FftKind::real
                              : FftKind::half;
}

}  // namespace

void bind_linalg(nb::module_& m) {
  m.def("solve", &solve, nb::arg("a"), nb::arg("b"), "b: (..., n, k).");
  m.def("solve_triangular", &solve_triangular, nb::arg("a"), nb::arg("b"), nb::arg("lower"));
  m.def("inv", &inv, nb::arg("a"), nb::arg("nan_if_singular") = false);
  m.def("det", &det, nb::arg("a"));
  m.def("slogdet", [](const Array& a) { return to_tuple_of(slogdet(a)); }, nb::arg("a"));
  m.def("cholesky", &cholesky, nb::arg("a"), nb::arg("upper"));
  m.def(
      "qr", [](const Array& a, const std::string& mode) { return to_tuple_of(qr(a, qr_mode(mode))); }, nb::arg("a"),
      nb::arg("mode"));
  m.def(
      "svd", [](const Array& a, bool full, bool vectors) { return to_tuple_of(svd(a, full, vectors)); }, nb::arg("a"),
      nb::arg("full"), nb::arg("vectors"), "(u, s, vh), or (s,).");
  m.def(
      "eigh", [](const Array& a, bool upper, bool vectors) { return to_tuple_of(eigh(a, upper, vectors)); },
      nb::arg("a"), nb::arg("upper"), nb::arg("vectors"), "(w, v), or (w,).");
  m.def(
      "eig", [](const Array& a, bool vectors) { return to_tuple_of(eig(a, vectors)); }, nb::arg("a"),
      nb::arg("vectors"), "(w, v), or (w,); always complex.");
  m.def(
      "lstsq", [](const Array& a, const Array& b, double rcond) { return to_tuple_of(lstsq(a, b, rcond)); },
      nb::arg("a"), nb::arg("b"), nb::arg("rcond"), "(x, residuals, rank, s) of one matrix and sides (m, k).");
  m.def(
      "fft",
      [](const Array& x, int64_t n, int64_t axis, const std::string& kind, double factor) {
        return fft(x, n, axis, fft_kind(kind), factor);
      },
      nb::arg("x"), nb::arg("n"), nb::arg("axis"), nb::arg("kind"), nb::arg("factor"),
      "kind: 'forward', 'backward', 'real' (to the first half of a transform) or 'half' (back from it).");
}

}  // namespace slipstream::python
