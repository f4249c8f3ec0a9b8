// Between Python objects and the core's types: arrays, scalars, dtypes, shapes, devices.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <optional>
#include <string_view>

#include "../core/array.h"
#include "../core/elementwise.h"

namespace nb = nanobind;

namespace slipstream::python {

// Do rows of this rule take integers alone? Then so are Python's integers, whatever creation makes of them.
inline bool of_integers(std::string_view rule) { return rule == "BITS" || rule == "SHIFT" || rule == "WHOLE"; }

// ---- arrays

// The instance of ndarray: the handle lies in the object, so that a result costs one allocation.
struct ArrayHead {
  PyObject_HEAD PyObject* weakrefs;
};
struct ArrayObject : ArrayHead {
  Array array;
};

extern PyTypeObject* ndarray_type;

inline bool is_ndarray(PyObject* o) { return Py_TYPE(o) == ndarray_type || PyType_IsSubtype(Py_TYPE(o), ndarray_type); }
inline Array& as_array(PyObject* o) { return reinterpret_cast<ArrayObject*>(o)->array; }
PyObject* wrap(Array&& array);  // a new reference; throws where there is no memory
// The same for the array that `make` gives, which comes into being where it stays.
template <class F>
PyObject* wrap_made(F&& make) {
  struct Room {
    void* memory = PyObject_Malloc(sizeof(ArrayObject));
    ~Room() {
      if (memory) PyObject_Free(memory);
    }
  } room;
  if (!room.memory) throw std::bad_alloc();
  new (&static_cast<ArrayObject*>(room.memory)->array) Array(make());
  auto* self = static_cast<ArrayObject*>(std::exchange(room.memory, nullptr));
  self->weakrefs = nullptr;
  return PyObject_Init(reinterpret_cast<PyObject*>(self), ndarray_type);
}

// What an operand is, found by the cheapest test first.
enum class Given : uint8_t { array, boolean, integer, real, complex, numpy, sequence, unknown };
Given classify(PyObject* o);
inline bool is_scalar(Given c) { return c >= Given::boolean && c <= Given::complex; }
inline Kind kind_of(Given number) {
  return static_cast<Kind>(static_cast<int>(number) - static_cast<int>(Given::boolean));
}
static_assert(static_cast<int>(Kind::complex) - static_cast<int>(Kind::boolean) ==
              static_cast<int>(Given::complex) - static_cast<int>(Given::boolean));

// `into`: the type of the array that it is for; an integer beyond 64 bits is a float there, or raises.
Scalar to_scalar(PyObject* o, Given c, std::optional<DType> into = {});
Scalar to_scalar(PyObject* o, std::optional<DType> into = {});  // TypeError for what is no Python or NumPy scalar
// An argument of a row. NumPy's values become arrays on `device`, with their own dtype; Python's scalars stay weak.
// `row` and `beside` (another argument) say what an integer beyond 64 bits can mean. The object outlives the argument.
Arg to_arg(PyObject* o, Given c, Device device, Row row, const Array* beside);
// One of the two arguments of a row: the other is an array, where this one is not.
inline Arg to_arg(PyObject* o, Given c, Row row, PyObject* other) {
  if (c == Given::array) return Arg::lent(as_array(o));
  if (c == Given::real) return Scalar::of(PyFloat_AS_DOUBLE(o));
  return to_arg(o, c, as_array(other).device(), row, &as_array(other));
}

// Any array-like. Python's numbers take the default dtypes of creation; what has a dtype keeps it.
Array to_array(PyObject* o, std::optional<Device> device = {}, std::optional<DType> dtype = {});
inline Array to_array(nb::handle o) { return to_array(o.ptr()); }
// As to_array on the device of `beside`; Python's numbers adapt to its type, so that no digit is lost.
Array to_array_beside(PyObject* o, const Array& beside);
// The value of an assignment: as to_array, but with NumPy's own dtypes, so that nothing is lost on the way.
Arg to_value(PyObject* o, Device device, std::optional<DType> into);
Array from_numpy(PyObject* array, Device device);
// From a number or nested lists of numbers, where that needs no help of NumPy's; `beside`: another argument.
std::optional<Array> array_of_numbers(PyObject* o, std::optional<DType> dtype, Device device,
                                      const Array* beside = nullptr);
// The device of the first array among the arguments, or the current one.
Device device_of(PyObject* const* args, Py_ssize_t n);

// ---- dtypes

PyObject* dtype_object(DType t);  // borrowed
DType to_dtype(PyObject* o);
std::optional<DType> to_dtype_or_none(nb::handle o);
DType default_dtype(Kind kind);
bool numpy_defaults();
void set_numpy_defaults(bool on);

// ---- shapes, devices

Dims to_dims(PyObject* o);  // an int or a sequence of ints
int64_t to_integer(nb::handle o, const char* what);  // raises "<what> must be an integer, not str"
nb::tuple to_tuple(const Dims& dims);
char to_order(PyObject* o);  // of 'C', 'F', 'A', 'K'; C for None
// NumPy's reshape. order F: the first axis runs fastest. copying: always, never (raises where it must), None as needed.
Array reshaped(const Array& x, Dims shape, char order, PyObject* copying);
std::vector<int64_t> to_axes(nb::handle o);  // an int or a sequence of ints

// A device as Python names it: one of a kind that this machine lacks can be named too, but not used.
struct DeviceName {
  std::string kind;
  int id = 0;
  bool operator==(const DeviceName&) const = default;
};
nb::object device_object(Device device);
Device current_device();  // of the innermost `with device:`
Device to_device(nb::handle o);  // a Device, or what slipstream.device.resolve takes; None: the current one
void bind_device(nb::module_& m);

// ---- numpy

struct NumPy {
  nb::object module, ndarray, generic, empty, asarray, array, dtype;
  PyTypeObject* ndarray_type;
  PyTypeObject* generic_type;
};
const NumPy& numpy();
nb::object empty_numpy(const Shape& shape, DType dtype, void** data);  // uninitialised, with the address of its memory

// A function of the package that the bindings call; imported on first use and kept for good.
PyObject* package_function(const char* module, const char* name);

void init_convert();

}  // namespace slipstream::python

namespace nanobind::detail {

// Arrays are strict here: functions that take array-likes take objects and call to_array, whose errors say more.
template <>
struct type_caster<slipstream::Array> {
  NB_TYPE_CASTER(slipstream::Array, const_name("ndarray"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    if (!slipstream::python::is_ndarray(src.ptr())) return false;
    value = slipstream::python::as_array(src.ptr());
    return true;
  }
  static handle from_cpp(const slipstream::Array& a, rv_policy, cleanup_list*) {
    return slipstream::python::wrap(slipstream::Array(a));
  }
  static handle from_cpp(slipstream::Array&& a, rv_policy, cleanup_list*) {
    return slipstream::python::wrap(std::move(a));
  }
};

}  // namespace nanobind::detail
