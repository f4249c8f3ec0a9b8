// Indexing by integers, slices, None and Ellipsis: views, made here. Other keys (arrays, lists, masks) go to Python.

#include "../core/elementwise.h"
#include "../core/graph/tape.h"
#include "../core/ops/structural.h"
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

  // Does the item select by a position that is known now? Anything else is for Python.
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
      pick(PyNumber_AsSsize_t(item, PyExc_IndexError));
  }
  View result() { return std::move(view_); }

 private:
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
bool is_element(const Array& a, const Array& selected, PyObject* key) {
  if (selected.ndim() > 0 || a.ndim() == 0) return false;
  if (!PyTuple_Check(key)) return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
    if (PyTuple_GET_ITEM(key, i) == Py_Ellipsis) return false;
  return true;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (auto select = positions(key)) {
      Array view = tape::selected("getitem", as_array(self), *select);
      return wrap(is_element(as_array(self), view, key) ? copy(view) : std::move(view));
    }
    static PyObject* getitem = package_function("slipstream.np._indexing", "getitem");
    return call_python(getitem, {self, key}).release().ptr();
  });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (!value) fail(ErrorKind::type, "cannot delete elements of an array");
    if (auto select = positions(key)) {
      const Array& a = as_array(self);
      tape::check_write("assign", a);
      Array view = a.view((*select)(a));
      assign(view, to_value(value, a.device()));
      return 0;
    }
    static PyObject* setitem = package_function("slipstream.np._indexing", "setitem");
    call_python(setitem, {self, key, value});
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

}  // namespace

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
