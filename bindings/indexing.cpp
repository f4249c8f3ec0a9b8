// Indexing. Integers, slices, None and Ellipsis: views, made here. Arrays, lists and masks: core/ops/index.h.

#include "../core/elementwise.h"
#include "../core/graph/tape.h"
#include "../core/ops/index.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// Walks over a key and builds the view it selects.
class Selection {
 public:
  explicit Selection(const View& a) : array_(a) {
    view_.dtype = a.dtype;
    view_.offset = a.offset;
  }

  // Does the item select by a position that is known now?
  static bool basic(PyObject* item) {
    if (PyLong_CheckExact(item) || PySlice_Check(item) || item == Py_None || item == Py_Ellipsis) return true;
    if (PyBool_Check(item) || !PyIndex_Check(item)) return false;
    if (is_ndarray(item)) return false;
    if (PyType_IsSubtype(Py_TYPE(item), numpy().ndarray_type)) return false;
    return true;
  }

  void run(PyObject* const* items, Py_ssize_t n) {
    int used = 0;
    bool open = true;  // no ellipsis yet
    for (Py_ssize_t i = 0; i < n; i++) {
      if (items[i] == Py_Ellipsis && !std::exchange(open, false))
        fail(ErrorKind::index, "an index can only have a single ellipsis ('...')");
      used += items[i] != Py_None && items[i] != Py_Ellipsis;
    }
    if (used > array_.ndim())
      fail(ErrorKind::index, "too many indices for array: array is ", array_.ndim(), "-dimensional, but ", used,
           " were indexed");
    for (Py_ssize_t i = 0; i < n; i++) {
      if (items[i] == Py_Ellipsis)
        keep(array_.ndim() - used);
      else
        add(items[i]);
    }
    keep(array_.ndim() - axis_);
  }
  void add(PyObject* item) {
    if (item == Py_None)
      push(1, 0);
    else if (PySlice_Check(item))
      slice(item);
    else
      pick(position(item));
  }
  View result() { return std::move(view_); }

 private:
  static Py_ssize_t position(PyObject* item) {
    int overflow = 1;
    long long known = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &overflow) : 0;
    return overflow ? PyNumber_AsSsize_t(item, PyExc_IndexError) : known;
  }
  void push(int64_t size, int64_t stride) {
    view_.shape.push_back(size);
    view_.strides.push_back(stride);
  }
  void keep(int n) {
    for (; n > 0; n--, axis_++) push(array_.shape[axis_], array_.strides[axis_]);
  }
  void pick(Py_ssize_t index) {
    if (index == -1 && PyErr_Occurred()) nb::raise_python_error();
    int64_t size = array_.shape[axis_];
    if (index < -size || index >= size)
      fail(ErrorKind::index, "index ", index, " is out of bounds for axis ", axis_, " with size ", size);
    view_.offset += (index < 0 ? index + size : index) * array_.strides[axis_];
    axis_++;
  }
  void slice(PyObject* item) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) nb::raise_python_error();
    Py_ssize_t length = PySlice_AdjustIndices(array_.shape[axis_], &start, &stop, step);
    if (length > 0) view_.offset += start * array_.strides[axis_];
    push(length, array_.strides[axis_] * step);
    axis_++;
  }

  const View& array_;
  View view_;
  int axis_ = 0;
};

// A key that selects by positions.
struct Key {
  PyObject* const* items;
  Py_ssize_t n;
  View operator()(const View& x) const {
    Selection selection(x);
    selection.run(items, n);
    return selection.result();
  }
};

std::optional<Key> positions(PyObject* const& key) {
  Key found{&key, 1};
  if (PyTuple_Check(key)) found = {&PyTuple_GET_ITEM(key, 0), PyTuple_GET_SIZE(key)};
  for (Py_ssize_t i = 0; i < found.n; i++)
    if (!Selection::basic(found.items[i])) return {};
  return found;
}

// One element is a value, not a view: x[0], x[1] = x[1], x[0] swaps them.
bool is_element(const Array& a, const View& selected, PyObject* key) {
  if (selected.ndim() > 0 || a.ndim() == 0) return false;
  if (!PyTuple_Check(key)) return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
    if (PyTuple_GET_ITEM(key, i) == Py_Ellipsis) return false;
  return true;
}

Array part(const Array& x, const View& selected, const Key& key) {
  Array made = x.view(selected);
  if (tape::follows_views(x)) tape::note_selected("getitem", made, x, selected, key);
  return made;
}

// A history that is the storage's is found by the view alone.
Array element(const Array& x, const View& selected, const Key& key) {
  if (!tape::recording()) return copy(x, selected);
  if (!tape::follows_views(x)) return copy(x.view(selected));
  Array made = copy(x, selected);
  if (kind(x.dtype) >= Kind::real) tape::note_selected("getitem", made, x, selected, key);
  return made;
}

// ---- keys with arrays

std::string shown(nb::handle o) {
  std::string text = nb::cast<std::string>(nb::repr(o));
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

[[noreturn]] void no_index(nb::handle item) {
  fail(ErrorKind::index, shown(item),
       " is no index: integers, slices, None, Ellipsis, and arrays or lists of integers ", "or bools are supported");
}

KeyItem array_item(Array value) {
  if (is_complex(value.dtype)) fail(ErrorKind::index, "index: an array of ", value.dtype, " holds no indices");
  KeyItem item{value.dtype == DType::b1 ? KeyItem::mask : KeyItem::array};
  item.value = std::move(value);
  return item;
}

// A list or an array of NumPy's: NumPy says what it holds. One number counts as a number.
KeyItem numpy_item(PyObject* o, Device device) {
  if (PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || PyFloat_Check(o) || PyComplex_Check(o)) no_index(o);
  static PyObject* holds_arrays = package_function("slipstream.np._arguments", "_holds_arrays");
  if (PyList_Check(o) && nb::cast<bool>(call_python(holds_arrays, {o}))) {
    static PyObject* make = package_function("slipstream.np._arguments", "as_array");
    return array_item(nb::cast<Array>(call_python(make, {o, device_object(device)})));
  }
  nb::object a = nb::object(numpy().asarray(nb::handle(o)));
  std::string kind = nb::cast<std::string>(a.attr("dtype").attr("kind"));
  if (PyList_Check(o) && nb::cast<int64_t>(a.attr("size")) == 0)
    a = a.attr("astype")("int64");
  else if (kind != "b" && kind != "i" && kind != "u")
    no_index(o);
  if (nb::cast<int>(a.attr("ndim")) > 0) return array_item(from_numpy(a.ptr(), device));
  KeyItem item{kind == "b" ? KeyItem::flag : KeyItem::integer};
  nb::object number = a.attr("item")();
  item.start = PyNumber_AsSsize_t(number.ptr(), PyExc_IndexError);
  if (item.start == -1 && PyErr_Occurred()) nb::raise_python_error();
  return item;
}

KeyItem key_item(PyObject* o, Device device) {
  if (o == Py_None) return {KeyItem::newaxis};
  if (o == Py_Ellipsis) return {KeyItem::ellipsis};
  KeyItem item{KeyItem::integer};
  if (PySlice_Check(o)) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) nb::raise_python_error();
    item = {KeyItem::slice, start, stop, step};
  } else if (PyBool_Check(o)) {
    item = {KeyItem::flag, o == Py_True};
  } else if (is_ndarray(o)) {
    const Array& given = as_array(o);  // as MXNet does: indices follow what they index, as values do in x[...] = y
    item = array_item(given.device() == device ? given : copy_to_device(given, device));
  } else if (Selection::basic(o)) {
    item.start = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (item.start == -1 && PyErr_Occurred()) nb::raise_python_error();
  } else {
    item = numpy_item(o, device);
  }
  return item;
}

std::vector<KeyItem> to_key(PyObject* key, Device device) {
  std::vector<KeyItem> items;
  if (!PyTuple_Check(key)) return {key_item(key, device)};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) items.push_back(key_item(PyTuple_GET_ITEM(key, i), device));
  return items;
}

void before_mask_read() { sync_point("x[mask]"); }
void before_mask_write() { sync_point("x[mask] = values"); }

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    const Array& x = as_array(self);
    if (auto select = positions(key)) {
      View selected = (*select)(x);
      if (is_element(x, selected, key)) return wrap_made([&] { return element(x, selected, *select); });
      return wrap_made([&] { return part(x, selected, *select); });
    }
    return wrap(get_item(x, to_key(key, x.device()), before_mask_read));
  });
}

// Lists in an assignment take the target's type, and raise as NumPy does where a number does not fit it.
Arg value_for(PyObject* value, const Array& target) {
  if (!PyList_Check(value) && !PyTuple_Check(value)) return to_value(value, target.device(), target.dtype);
  static PyObject* from_values = package_function("slipstream.np._arguments", "from_values");
  nb::handle dtype(dtype_object(target.dtype));
  return nb::cast<Array>(call_python(from_values, {value, dtype, device_object(target.device()), nb::none()}));
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (!value) fail(ErrorKind::type, "cannot delete elements of an array");
    const Array& x = as_array(self);
    if (auto select = positions(key)) {
      tape::check_write("assign", x);
      Array view = x.view((*select)(x));
      assign(view, value_for(value, view));
      return 0;
    }
    set_item(x, to_key(key, x.device()), value_for(value, x), before_mask_write);
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded<Py_ssize_t>(-1, [&] {
    const Array& a = as_array(self);
    if (a.ndim() == 0) fail(ErrorKind::type, "len() of unsized object: the array has no dimensions");
    return static_cast<Py_ssize_t>(a.shape[0]);
  });
}

PyObject* item_at(PyObject* self, Py_ssize_t index) {  // iteration over the first axis ends with IndexError
  return guarded([&] {
    const Array& a = as_array(self);
    if (index < 0 || index >= a.shape[0])
      fail(ErrorKind::index, "index ", index, " is out of bounds for axis 0 with size ", a.shape[0]);
    Array item = select(a, 0, index);
    return wrap(item.ndim() == 0 ? copy(item) : std::move(item));
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    if (as_array(self).ndim() == 0) fail(ErrorKind::type, "iteration over an array without dimensions");
    return PySeqIter_New(self);
  });
}

int contains(PyObject* self, PyObject* value) {  // (self == value).any(), which waits
  return guarded(-1, [&] {
    nb::object equal = nb::steal(checked(PyObject_RichCompare(self, value, Py_EQ)));
    if (!is_ndarray(equal.ptr())) return PyObject_IsTrue(equal.ptr());
    const Array& e = as_array(equal.ptr());
    ReduceOptions all{.axes = static_cast<uint32_t>((uint64_t{1} << e.ndim()) - 1)};
    return PyObject_IsTrue(nb::cast(reduce(Row::any, e, all)).ptr());
  });
}

// ---- functions

IndexMode to_mode(const std::string& mode) {
  if (mode == "raise") return IndexMode::raise;
  if (mode == "wrap") return IndexMode::wrap;
  if (mode == "clip") return IndexMode::clip;
  fail(ErrorKind::value, "mode is '", mode, "', but must be 'raise', 'wrap' or 'clip'");
}

// Indices as an array: Python's integers and NumPy's arrays keep their type.
Array to_indices(nb::handle o, Device device) {
  Array found = to_value(o.ptr(), device, {}).array();
  return found ? found : to_array(o.ptr(), device, DType::i64);
}

// The array itself, not a copy of its handle: what is written to it may give it a history.
const Array& written(nb::handle o) {
  if (!is_ndarray(o.ptr())) fail(ErrorKind::type, "only an ndarray can be written to, not ", Py_TYPE(o.ptr())->tp_name);
  return as_array(o.ptr());
}

std::vector<Array> to_indices_list(nb::sequence given, Device device) {
  std::vector<Array> arrays;
  for (nb::handle o : given) arrays.push_back(to_indices(o, device));
  return arrays;
}

}  // namespace

void bind_indexing(nb::module_& m) {
  m.def(
      "take",
      [](nb::object x, nb::object indices, int64_t axis, const std::string& mode) {
        Array a = to_array(x);
        return take(a, to_indices(indices, a.device()), axis, to_mode(mode));
      },
      nb::arg("x"), nb::arg("indices").none(), nb::arg("axis"), nb::arg("mode") = "raise");
  m.def(
      "take_along",
      [](const Array& x, nb::object indices, int64_t axis, const std::string& mode) {
        return take_along(x, to_indices(indices, x.device()), axis, to_mode(mode));
      },
      nb::arg("x"), nb::arg("indices").none(), nb::arg("axis"), nb::arg("mode") = "raise");
  m.def(
      "put_along",
      [](nb::object target, nb::object indices, nb::object value, int64_t axis, const std::string& mode, bool add) {
        const Array& x = written(target);
        put_along(x, to_indices(indices, x.device()), value_for(value.ptr(), x), axis, to_mode(mode), add);
      },
      nb::arg("x"), nb::arg("indices").none(), nb::arg("value").none(), nb::arg("axis"), nb::arg("mode") = "raise",
      nb::arg("add") = false, "Writes in place.");
  m.def(
      "gather",
      [](const Array& x, nb::sequence indices, const std::string& mode) {
        return gather(x, to_indices_list(indices, x.device()), to_mode(mode));
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("mode") = "raise", "x[indices], an array for each of the first axes.");
  m.def(
      "scatter",
      [](nb::object target, nb::sequence indices, nb::object value, const std::string& mode, bool add) {
        const Array& x = written(target);
        scatter(x, to_indices_list(indices, x.device()), value_for(value.ptr(), x), to_mode(mode), add);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("value").none(), nb::arg("mode") = "raise", nb::arg("add") = false,
      "x[indices] = value, or += with every one of equal indices, in place.");
  m.def(
      "scattered",
      [](const Array& x, nb::sequence indices, nb::object value, const std::string& mode, bool add) {
        return scattered(x, to_indices_list(indices, x.device()), value_for(value.ptr(), x), to_mode(mode), add);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("value").none(), nb::arg("mode") = "raise", nb::arg("add") = false,
      "As scatter, on a copy.");
  m.def(
      "nonzero",
      [](const Array& x, const std::string& what) {
        sync_point(what.c_str());
        return nonzero(find_mask(x));
      },
      nb::arg("x"), nb::arg("what"), "Waits: the indices of what is not 0, a row for each axis.");
}

void add_indexing(TypeParts& parts) {
  parts.slot(Py_mp_subscript, subscript);
  parts.slot(Py_mp_ass_subscript, assign_subscript);
  parts.slot(Py_mp_length, length);
  parts.slot(Py_sq_length, length);
  parts.slot(Py_sq_item, item_at);
  parts.slot(Py_sq_contains, contains);
  parts.slot(Py_tp_iter, iterate);
}

}  // namespace slipstream::python
