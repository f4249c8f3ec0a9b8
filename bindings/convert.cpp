// Conversion of arguments: scalars, NumPy's values, array-likes, dtypes, shapes.

#include "convert.h"

#include <cmath>

#include "../core/ops/structural.h"
#include "errors.h"

namespace slipstream::python {

namespace {

NumPy* np = nullptr;
PyObject*
    dtype_objects[kDTypeCount];  // bfloat16's is filled on first use: ml_dtypes is imported only by those who need it
PyObject* scalar_types[kDTypeCount];
PyObject* dtype_names;  // a dict: the core's number of a type by its names, Python's types among them
bool use_numpy_defaults = false;

void fill_bfloat16() {
  constexpr int at = static_cast<int>(DType::bf16);
  if (dtype_objects[at]) return;
  nb::object type = nb::module_::import_("ml_dtypes").attr("bfloat16");
  dtype_objects[at] = np->dtype(type).release().ptr();
  scalar_types[at] = type.release().ptr();
}

std::string text_of(nb::handle o) { return nb::cast<std::string>(nb::str(o)); }

bool has(PyObject* o, const char* attribute) {
  int found = PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), attribute);
  return found == 1;
}

// The core's type of a numpy.dtype in native byte order.
std::optional<DType> match_dtype(PyObject* dtype) {
  for (int i = 0; i < kDTypeCount; i++)
    if (dtype_objects[i] == dtype) return static_cast<DType>(i);
  nb::handle d(dtype);
  if (!nb::cast<bool>(d.attr("isnative"))) return {};
  std::string kind = nb::cast<std::string>(d.attr("kind"));
  size_t size = nb::cast<size_t>(d.attr("itemsize"));
  for (int i = 0; i < kDTypeCount; i++) {
    auto t = static_cast<DType>(i);
    if (t == DType::bf16 || itemsize(t) != size) continue;
    char letter = slipstream::kind(t) == Kind::boolean   ? 'b'
                  : slipstream::kind(t) == Kind::integer ? (info(t).is_signed ? 'i' : 'u')
                  : slipstream::kind(t) == Kind::real    ? 'f'
                                                         : 'c';
    if (kind[0] == letter) return t;
  }
  if (text_of(d.attr("name")) == "bfloat16") {
    fill_bfloat16();
    return DType::bf16;
  }
  return {};
}

// Bytes of a NumPy array (or scalar), row-major, for as long as this lives.
class Bytes {
 public:
  explicit Bytes(PyObject* o) {
    if (PyObject_GetBuffer(o, &view_, PyBUF_C_CONTIGUOUS) < 0) nb::raise_python_error();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  const void* data() const { return view_.buf; }

 private:
  Py_buffer view_;
};

Array zero_dim(Scalar value, DType dtype, Device device) {
  alignas(16) char bytes[16];
  value.store(dtype, bytes);
  return from_bytes(bytes, Shape{}, dtype, device);
}

// Of an integer beyond int64's range.
bool fits_unsigned(PyObject* o) {
  bool fits = !(PyLong_AsUnsignedLongLong(o) == ~0ull && PyErr_Occurred());
  PyErr_Clear();
  return fits;
}

// Nested lists of Python's own numbers, read without NumPy's help.
class Numbers {
 public:
  // False: something else is among them, or they do not form a block; NumPy knows what that means.
  bool read(PyObject* o, int depth = 0) {
    if (!PyList_CheckExact(o) && !PyTuple_CheckExact(o)) return add(o, depth);
    int64_t n = PySequence_Fast_GET_SIZE(o);
    if (depth == shape_.size() && !complete_ && depth < kMaxDims)
      shape_.push_back(n);
    else if (depth >= shape_.size() || shape_[depth] != n)
      return false;
    PyObject** items = PySequence_Fast_ITEMS(o);
    for (int64_t i = 0; i < n; i++)
      if (!read(items[i], depth + 1)) return false;
    return true;
  }

  // The array, if NumPy would convert the numbers to that type without a word.
  std::optional<Array> array(std::optional<DType> dtype, Device device) const {
    DType to = dtype.value_or(default_dtype(kind_));
    bool integers = kind_ <= Kind::integer, floats = to == DType::f32 || to == DType::f64;
    if (huge_ && !floats && !is_complex(to)) return {};
    if (dtype && !(kind_ <= Kind::real && floats) && !(integers && to == DType::i64) && !is_complex(to)) return {};
    bool as_float = kind_ == Kind::real || (dtype && floats);  // rounded to double first, as Python's floats are
    auto bytes = std::make_unique<char[]>(values_.size() * itemsize(to));
    char* at = bytes.get();
    for (const Scalar& v : values_) {
      (as_float ? Scalar::of(v.as_double()) : v).store(to, at);
      at += itemsize(to);
    }
    return from_bytes(bytes.get(), shape_, to, device);
  }

  // Their type as an argument beside an array: integers beside integers stay some, and no digit is lost that the
  // result can hold.
  DType type_beside(DType other) const {
    if (kind_ <= Kind::integer && slipstream::kind(other) <= Kind::integer) return DType::i64;
    return promote(default_dtype(kind_), other);
  }
  bool booleans() const { return kind_ == Kind::boolean; }
  bool integers() const { return kind_ == Kind::integer; }

 private:
  bool add(PyObject* o, int depth) {
    Given given = classify(o);
    if (!is_scalar(given) || PyType_IsSubtype(Py_TYPE(o), np->generic_type) || depth != shape_.size()) return false;
    complete_ = true;
    if (given == Given::integer ? !add_integer(o) : (values_.push_back(to_scalar(o, given)), false)) return false;
    Kind kind = given == Given::integer ? Kind::integer : values_.back().kind;
    kind_ = values_.size() == 1 ? kind : std::max(kind_, kind);
    return true;
  }

  bool add_integer(PyObject* o) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) {
      values_.push_back(Scalar::of(static_cast<int64_t>(v)));
      return true;
    }
    if (fits_unsigned(o)) return false;
    double real = PyLong_AsDouble(o);
    PyErr_Clear();
    values_.push_back(Scalar::of(real));
    huge_ = true;
    return real != -1;  // an integer as large as that is never -1
  }

  Shape shape_;
  bool complete_ = false;  // a number was met: it lies as deep as all of them must
  bool huge_ = false;  // an integer beyond 64 bits is among them, as a float
  Kind kind_ = Kind::real;
  std::vector<Scalar> values_;
};

// Other lists go through Python, which joins arrays inside them without waiting.
Array from_sequence(PyObject* o, Device device, const Array* beside = nullptr, Row row = Row::none) {
  Numbers numbers;
  if (numbers.read(o)) {
    std::string_view rule = row == Row::none ? "" : row_info(row).types;
    std::optional<DType> dtype;
    if (numbers.integers() && of_integers(rule))
      dtype = DType::i64;  // such rows are of integers, whatever creation makes of numbers
    else if (beside && !numbers.booleans())
      dtype = numbers.type_beside(beside->dtype);
    if (auto array = numbers.array(dtype, device)) return *array;
  }
  static PyObject* as_array_hook = package_function("slipstream.np._creation", "as_array");
  return nb::cast<Array>(call_python(as_array_hook, {o, device_object(device)}));
}

Array from_object(PyObject* o, Device device) { return from_numpy(np->asarray(nb::handle(o)).ptr(), device); }

}  // namespace

const NumPy& numpy() { return *np; }

std::optional<Array> array_of_numbers(PyObject* o, std::optional<DType> dtype, Device device, const Array* beside) {
  Numbers numbers;
  if (!numbers.read(o)) return {};
  if (!dtype && beside && !numbers.booleans()) dtype = numbers.type_beside(beside->dtype);
  return numbers.array(dtype, device);
}

// ---- operands

Given classify(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (type == ndarray_type) return Given::array;
  if (type == &PyFloat_Type) return Given::real;
  if (type == &PyLong_Type) return Given::integer;
  if (type == &PyBool_Type) return Given::boolean;
  if (type == &PyComplex_Type) return Given::complex;
  if (PyType_IsSubtype(type, ndarray_type)) return Given::array;
  if (PyType_IsSubtype(type, np->generic_type) || PyType_IsSubtype(type, np->ndarray_type)) return Given::numpy;
  if (PyLong_Check(o)) return Given::integer;
  if (PyFloat_Check(o)) return Given::real;
  if (PyComplex_Check(o)) return Given::complex;
  if (PyList_Check(o) || PyTuple_Check(o)) return Given::sequence;
  if (PyUnicode_Check(o) || PyBytes_Check(o)) return Given::unknown;
  if (has(o, "__array_ufunc__")) {
    nb::object ufunc = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__array_ufunc__"));
    if (ufunc.is_valid() && ufunc.is_none()) return Given::unknown;  // it wants to do the operation itself
  }
  if (has(o, "__array__") || has(o, "__array_interface__") || PyObject_CheckBuffer(o)) return Given::numpy;
  return Given::unknown;
}

// Next to floats an integer beyond 64 bits is a float; in a comparison with integers it is beyond all of them.
static std::optional<Scalar> huge_scalar(PyObject* o, int sign, Row row, std::optional<DType> beside) {
  if (!beside) return {};
  if (is_float(*beside) || is_complex(*beside)) return to_scalar(o, Given::real);
  if (row == Row::none || std::string_view(row_info(row).types) != "COMPARE" || fits_unsigned(o)) return {};
  return Scalar::of(sign * HUGE_VAL);
}

static Scalar integer_scalar(PyObject* o, Row row, std::optional<DType> beside) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow == 0) {
    if (v == -1 && PyErr_Occurred()) nb::raise_python_error();
    return Scalar::of(static_cast<int64_t>(v));
  }
  if (auto huge = huge_scalar(o, overflow, row, beside)) return *huge;
  if (fits_unsigned(o)) return Scalar::of(static_cast<uint64_t>(PyLong_AsUnsignedLongLong(o)));
  fail(ErrorKind::overflow, "Python integer ", text_of(o), " does not fit into 64 bits");
}

Scalar to_scalar(PyObject* o, Given given, std::optional<DType> into) {
  switch (given) {
    case Given::boolean: return Scalar::of(o == Py_True);
    case Given::integer: return integer_scalar(o, Row::none, into);
    case Given::complex: {
      Py_complex c = PyComplex_AsCComplex(o);
      return Scalar::of(c.real, c.imag);
    }
    default: {
      double v = PyFloat_AsDouble(o);
      if (v == -1 && PyErr_Occurred()) nb::raise_python_error();
      return Scalar::of(v);
    }
  }
}

Scalar to_scalar(PyObject* o, std::optional<DType> into) {
  Given given = classify(o);
  if (is_scalar(given)) return to_scalar(o, given, into);
  if (given == Given::numpy || given == Given::array) {
    nb::object item = nb::steal(checked(PyObject_CallMethod(o, "item", nullptr)));
    if (is_scalar(classify(item.ptr()))) return to_scalar(item.ptr(), classify(item.ptr()));
  }
  fail(ErrorKind::type, "expected a number, got ", Py_TYPE(o)->tp_name);
}

Arg to_arg(PyObject* o, Given given, Device device, Row row, const Array* beside) {
  switch (given) {
    case Given::array: return Arg::lent(as_array(o));
    case Given::integer: return integer_scalar(o, row, beside ? std::optional(beside->dtype) : std::nullopt);
    case Given::boolean:
    case Given::real:
    case Given::complex: return to_scalar(o, given);
    case Given::unknown: fail(ErrorKind::type, "cannot make an array of ", Py_TYPE(o)->tp_name);
    case Given::sequence: return from_sequence(o, device, beside, row);
    default: return from_object(o, device);
  }
}

Array to_array_beside(PyObject* o, const Array& beside) {
  Given given = classify(o);
  if (given == Given::sequence) return from_sequence(o, beside.device(), &beside);
  if (!is_scalar(given)) return to_array(o, beside.device());
  Scalar value = to_scalar(o, given, beside.dtype);
  return zero_dim(value, promote_weak(beside.dtype, value.kind), beside.device());
}

Array to_array(PyObject* o, std::optional<Device> device, std::optional<DType> dtype) {
  Given given = classify(o);
  if (given == Given::array) return as_array(o);
  Device on = device ? *device : current_device();
  if (is_scalar(given)) {
    DType into = dtype ? *dtype : default_dtype(kind_of(given));
    return zero_dim(to_scalar(o, given, into), into, on);
  }
  if (given == Given::unknown && !PySequence_Check(o) && !has(o, "__dlpack__"))
    fail(ErrorKind::type, "cannot make an array of ", Py_TYPE(o)->tp_name);
  return given == Given::sequence && !dtype ? from_sequence(o, on) : from_object(o, on);
}

Arg to_value(PyObject* o, Device device, std::optional<DType> into) {
  Given given = classify(o);
  if (given == Given::array) return as_array(o);
  if (is_scalar(given)) return to_scalar(o, given, into);
  return from_object(o, device);
}

Array from_numpy(PyObject* array, Device device) {
  nb::object a = nb::borrow(array);
  nb::object d = a.attr("dtype");
  std::optional<DType> dtype = match_dtype(d.ptr());
  if (!dtype && !nb::cast<bool>(d.attr("isnative"))) {
    d = d.attr("newbyteorder")("=");
    a = a.attr("astype")(d);
    dtype = match_dtype(d.ptr());
  }
  if (!dtype) fail(ErrorKind::type, "dtype ", text_of(d), " is not supported");
  Shape shape = to_dims(nb::object(a.attr("shape")).ptr());
  if (!PyType_IsSubtype(Py_TYPE(a.ptr()), np->ndarray_type) || !nb::cast<bool>(a.attr("flags").attr("c_contiguous")))
    a = np->array(a, nb::arg("order") = "C");
  if (*dtype == DType::bf16) a = a.attr("view")(nb::handle(dtype_object(DType::u16)));
  Bytes bytes(a.ptr());
  return from_bytes(bytes.data(), shape, *dtype, device);
}

Device device_of(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; i++)
    if (is_ndarray(args[i])) return as_array(args[i]).device();
  return current_device();
}

// ---- dtypes

PyObject* dtype_object(DType t) {
  if (t == DType::bf16) fill_bfloat16();
  return dtype_objects[static_cast<int>(t)];
}

DType to_dtype(PyObject* o) {
  for (int i = 0; i < kDTypeCount; i++)
    if (o == dtype_objects[i] || o == scalar_types[i]) return static_cast<DType>(i);
  if (PyUnicode_Check(o) || PyType_Check(o)) {
    if (PyObject* number = PyDict_GetItemWithError(dtype_names, o)) return static_cast<DType>(PyLong_AsLong(number));
    if (PyErr_Occurred()) nb::raise_python_error();
  }
  nb::object d = nb::object(np->dtype(nb::handle(o)).attr("newbyteorder")("="));
  if (auto t = match_dtype(d.ptr())) return *t;
  std::string names;
  for (const DTypeInfo& t : kDTypes) names += std::string(names.empty() ? "" : ", ") + t.name;
  fail(ErrorKind::type, "dtype ", text_of(d), " is not supported; there are ", names);
}

std::optional<DType> to_dtype_or_none(nb::handle o) {
  if (!o.is_valid() || o.is_none()) return {};
  return to_dtype(o.ptr());
}

DType default_dtype(Kind kind) {
  switch (kind) {
    case Kind::boolean: return DType::b1;
    case Kind::integer: return use_numpy_defaults ? DType::i64 : DType::f32;
    case Kind::real: return use_numpy_defaults ? DType::f64 : DType::f32;
    default: return use_numpy_defaults ? DType::c128 : DType::c64;
  }
}

bool numpy_defaults() { return use_numpy_defaults; }
void set_numpy_defaults(bool on) { use_numpy_defaults = on; }

// ---- shapes

static int64_t to_index(PyObject* o) {
  Py_ssize_t v = PyNumber_AsSsize_t(o, PyExc_OverflowError);
  if (v == -1 && PyErr_Occurred()) nb::raise_python_error();
  return v;
}

template <class List>
static void read_ints(PyObject* o, List* out, const char* what) {
  if (PyIndex_Check(o) && !PySequence_Check(o)) {
    out->push_back(to_index(o));
    return;
  }
  nb::object items = nb::steal(PySequence_Fast(o, what));
  if (!items.is_valid()) {
    PyErr_Clear();
    if (PyIndex_Check(o)) {  // a 0-d array
      out->push_back(to_index(o));
      return;
    }
    fail(ErrorKind::type, what, ", got ", Py_TYPE(o)->tp_name);
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(items.ptr(), i);
    if (!PyIndex_Check(item)) fail(ErrorKind::type, what, ", got ", nb::repr(o).c_str());
    out->push_back(to_index(item));
  }
}

Dims to_dims(PyObject* o) {
  Dims dims;
  read_ints(o, &dims, "a shape is an integer or a sequence of integers");
  return dims;
}

int64_t to_integer(nb::handle o, const char* what) {
  if (!PyIndex_Check(o.ptr())) fail(ErrorKind::type, what, " must be an integer, not ", Py_TYPE(o.ptr())->tp_name);
  return to_index(o.ptr());
}

std::vector<int64_t> to_axes(nb::handle o) {
  std::vector<int64_t> axes;
  read_ints(o.ptr(), &axes, "an axis is an integer or a sequence of integers");
  return axes;
}

nb::tuple to_tuple(const Dims& dims) {
  PyObject* tuple = checked(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); i++) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(dims[i]));
  return nb::steal<nb::tuple>(tuple);
}

// ---- numpy

nb::object empty_numpy(const Shape& shape, DType dtype, void** data) {
  DType stored = dtype == DType::bf16 ? DType::u16 : dtype;  // NumPy lends no memory of bfloat16
  nb::object a = np->empty(to_tuple(shape), nb::handle(dtype_object(stored)));
  Py_buffer view;
  if (PyObject_GetBuffer(a.ptr(), &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) nb::raise_python_error();
  *data = view.buf;  // NumPy's memory stays where it is for as long as the array lives
  PyBuffer_Release(&view);
  return stored == dtype ? a : nb::object(a.attr("view")(nb::handle(dtype_object(dtype))));
}

PyObject* package_function(const char* module, const char* name) {
  return nb::object(nb::module_::import_(module).attr(name)).release().ptr();
}

void init_convert() {
  np = new NumPy;  // kept for good
  np->module = nb::module_::import_("numpy");
  np->ndarray = np->module.attr("ndarray");
  np->generic = np->module.attr("generic");
  np->empty = np->module.attr("empty");
  np->asarray = np->module.attr("asarray");
  np->array = np->module.attr("array");
  np->dtype = np->module.attr("dtype");
  np->ndarray_type = reinterpret_cast<PyTypeObject*>(np->ndarray.ptr());
  np->generic_type = reinterpret_cast<PyTypeObject*>(np->generic.ptr());
  for (int i = 0; i < kDTypeCount; i++) {
    if (static_cast<DType>(i) == DType::bf16) continue;
    nb::object d = np->dtype(name(static_cast<DType>(i)));
    scalar_types[i] = nb::object(d.attr("type")).release().ptr();
    dtype_objects[i] = d.release().ptr();
  }
  nb::dict names;
  for (int i = 0; i < kDTypeCount; i++) names[name(static_cast<DType>(i))] = i;
  auto add = [&](PyTypeObject& type, DType t) {
    names[nb::handle(reinterpret_cast<PyObject*>(&type))] = static_cast<int>(t);
  };
  add(PyBool_Type, DType::b1);
  add(PyLong_Type, DType::i64);
  add(PyFloat_Type, DType::f64);
  add(PyComplex_Type, DType::c128);
  dtype_names = names.release().ptr();
}

}  // namespace slipstream::python
