// Random numbers: generators and what they draw.

#include "../core/ops/sample.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// A generator of its own, or (None) the default one of the device.
RandomState& state_of(nb::handle state, Device device) {
  return state.is_none() ? default_random(device) : nb::cast<RandomState&>(state);
}

template <class Draw>
auto drawing(Draw draw) {  // (state, a, b, shape, dtype, device)
  return [draw](nb::object state, auto a, auto b, nb::object shape, nb::object dtype, nb::object device) {
    Device on = to_device(device);
    Dims size = shape.is_none() ? Dims{} : to_dims(shape.ptr());
    for (int64_t n : size)
      if (n < 0) fail(ErrorKind::value, "random: size ", size, " holds a negative length");
    return draw(state_of(state, on), a, b, size, to_dtype_or_none(dtype).value_or(default_dtype(Kind::real)), on);
  };
}

}  // namespace

void bind_random(nb::module_& m) {
  nb::class_<RandomState>(m, "RandomState", "A generator: a key, and how many numbers were drawn.")
      .def(
          "__init__", [](RandomState* at, uint64_t key, uint64_t position) { new (at) RandomState{key, position}; },
          nb::arg("key") = 0, nb::arg("position") = 0)
      .def_rw("key", &RandomState::key)
      .def_rw("position", &RandomState::position);
  m.def(
      "default_random", [](nb::object device) { return default_random(to_device(device)); },
      nb::arg("device") = nb::none(), "A copy of the device's default generator.");
  m.def("seed_random", &seed_random, nb::arg("seed"), "Starts the default generators of all devices anew.");
  m.def(
      "random_uniform",
      [](nb::object state, double low, double high, nb::object shape, nb::object dtype, nb::object device) {
        return drawing(random_uniform)(state, low, high, shape, dtype, device);
      },
      nb::arg("state").none(), nb::arg("low"), nb::arg("high"), nb::arg("shape") = nb::none(),
      nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none());
  m.def(
      "random_normal",
      [](nb::object state, double loc, double scale, nb::object shape, nb::object dtype, nb::object device) {
        return drawing(random_normal)(state, loc, scale, shape, dtype, device);
      },
      nb::arg("state").none(), nb::arg("loc"), nb::arg("scale"), nb::arg("shape") = nb::none(),
      nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none());
  m.def(
      "random_integers",
      [](nb::object state, int64_t low, uint64_t range, nb::object shape, nb::object dtype, nb::object device) {
        return drawing(random_integers)(state, low, range, shape, dtype, device);
      },
      nb::arg("state").none(), nb::arg("low"), nb::arg("range"), nb::arg("shape") = nb::none(),
      nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      "Integers from low to low + range - 1 (range 0: 2**64).");
  m.def(
      "random_sample",
      [](nb::object state, const std::string& name, nb::sequence parameters, nb::object shape) {
        std::vector<Array> given;
        for (nb::handle p : parameters) given.push_back(as_array(p.ptr()));
        auto distribution = name == "gamma"     ? Distribution::gamma
                            : name == "poisson" ? Distribution::poisson
                                                : Distribution::binomial;
        return random_sample(state_of(state, given[0].device()), distribution, given, to_dims(shape.ptr()));
      },
      nb::arg("state").none(), nb::arg("distribution"), nb::arg("parameters"), nb::arg("shape"),
      "gamma (shape, float64), poisson (mean, int64) or binomial (n and p, int64), from arrays of parameters.");
  m.def(
      "random_permutation",
      [](nb::object state, int64_t n, nb::object device) {
        Device on = to_device(device);
        return random_permutation(state_of(state, on), n, on);
      },
      nb::arg("state").none(), nb::arg("n"), nb::arg("device") = nb::none(), "0 to n - 1, shuffled.");
}

}  // namespace slipstream::python
