// Host calls, done callbacks and `await`: Python that the engine's workers run.

#include <cxxabi.h>

#include <cstring>

#include "../core/engine/engine.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// ---- host calls

void store_result(nb::handle value, const Operand& out, size_t number) {
  nb::object values = numpy().asarray(value);
  Shape shape = to_dims(nb::object(values.attr("shape")).ptr());
  if (!(shape == out.shape))
    fail(ErrorKind::value, "host_call: result ", number, " has shape ", shape, ", but out_shape says ", out.shape);
  if (out.size() == 0) return;
  DType stored = out.dtype == DType::bf16 ? DType::u16 : out.dtype;
  values = values.attr("astype")(nb::handle(dtype_object(out.dtype)), nb::arg("order") = "C",
                                 nb::arg("casting") = "same_kind", nb::arg("copy") = false);
  if (stored != out.dtype) values = values.attr("view")(nb::handle(dtype_object(stored)));
  Py_buffer view;
  if (PyObject_GetBuffer(values.ptr(), &view, PyBUF_C_CONTIGUOUS) < 0) nb::raise_python_error();
  std::memcpy(out.data(), view.buf, out.nbytes());
  PyBuffer_Release(&view);
}

void call_and_store(nb::handle fn, nb::handle inputs, const Record& call) {
  std::vector<nb::object> lent;
  std::vector<PyObject*> args;
  for (nb::handle a : inputs) args.push_back(lent.emplace_back(lend(as_array(a.ptr()))).ptr());
  nb::object result = nb::steal(checked(call_python(fn.ptr(), args.data(), args.size())));
  lent.clear();
  if (PyList_SetSlice(inputs.ptr(), 0, PyList_GET_SIZE(inputs.ptr()), nullptr) < 0) nb::raise_python_error();
  int n = call.outputs.size();
  if (n == 0) return;
  if (n == 1) {
    store_result(result, call.outputs[0], 0);
  } else {
    nb::object parts = nb::steal(checked(PySequence_Tuple(result.ptr())));
    if (nb::len(parts) != static_cast<size_t>(n))
      fail(ErrorKind::value, "host_call: fn returned ", nb::len(parts), " results, but out_shape names ", n);
    for (int i = 0; i < n; i++) store_result(parts[i], call.outputs[i], static_cast<size_t>(i));
  }
}

// Runs on a worker. A Python error leaves as a failure that carries the exception.
void run_host_call(nb::handle fn, nb::handle inputs, const Record& call) {
  Gil gil;
  try {
    call_and_store(fn, inputs, call);
  } catch (nb::python_error& e) {
    e.restore();
    throw FailedResult(failure_of_python_error(call.op->name, call.source));
  } catch (abi::__forced_unwind&) {
    thread_ended();
  }
}

bool is_shape(nb::handle o) {  // an int or a sequence of ints, rather than a sequence of shapes
  if (PyIndex_Check(o.ptr())) return true;
  for (nb::handle item : o) return PyIndex_Check(item.ptr());
  return !PyList_Check(o.ptr());
}

nb::object host_call_function(nb::object fn, nb::sequence arrays, nb::object out_shape, nb::object out_dtype,
                              nb::object device) {
  if (!PyCallable_Check(fn.ptr()))
    fail(ErrorKind::type, "host_call: fn is a ", Py_TYPE(fn.ptr())->tp_name, ", which cannot be called");
  std::vector<PyObject*> given;
  for (nb::handle a : arrays) given.push_back(a.ptr());
  Device on = device.is_none() ? device_of(given.data(), static_cast<Py_ssize_t>(given.size())) : to_device(device);
  std::vector<Array> inputs;
  for (PyObject* a : given) inputs.push_back(to_array(a, on).detached());

  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  bool single = !out_shape.is_none() && is_shape(out_shape);
  if (single)
    shapes.push_back(to_dims(out_shape.ptr()));
  else if (!out_shape.is_none())
    for (nb::handle shape : out_shape) shapes.push_back(to_dims(shape.ptr()));
  bool many_types = PyList_Check(out_dtype.ptr()) || PyTuple_Check(out_dtype.ptr());
  for (size_t i = 0; i < shapes.size(); i++)
    dtypes.push_back(many_types ? to_dtype(nb::object(out_dtype[i]).ptr())
                                : to_dtype_or_none(out_dtype).value_or(default_dtype(Kind::real)));
  // The handles in the function keep the inputs' memory as it is, even where fn keeps what it was lent. They go when
  // fn has run.
  nb::list handles;
  for (const Array& a : inputs) handles.append(nb::cast(a));
  auto run = [fn = share(fn), kept = share(handles)](const Record& call) { run_host_call(fn.get(), kept.get(), call); };
  std::vector<Array> results = host_call(run, inputs, shapes, dtypes, on);
  if (single) return nb::cast(std::move(results[0]));
  if (out_shape.is_none()) return nb::none();
  nb::list list;
  for (Array& a : results) list.append(nb::cast(std::move(a)));
  return list;
}

// ---- done callbacks

void run_done_callback(nb::handle fn, nb::handle array) {
  Gil gil;
  PyObject* args[] = {array.ptr()};
  PyObject* result = call_python(fn.ptr(), args, 1);
  if (!result) PyErr_WriteUnraisable(fn.ptr());
  Py_XDECREF(result);
}

PyObject* add_done_callback(PyObject* self, PyObject* fn) {
  return guarded([&]() -> PyObject* {
    if (!PyCallable_Check(fn))
      fail(ErrorKind::type, "add_done_callback: a ", Py_TYPE(fn)->tp_name, " cannot be called");
    auto run = [fn = share(fn), array = share(self)](FailurePtr) { run_done_callback(fn.get(), array.get()); };
    when_done(as_array(self), run);
    return Py_NewRef(Py_None);
  });
}

PyObject* await_slot(PyObject* self) {
  return guarded([&] {
    static PyObject* wait = package_function("slipstream._await", "wait");
    return call_python(wait, {self}).release().ptr();
  });
}

}  // namespace

void add_callbacks(TypeParts& parts) {
  parts.method("add_done_callback", add_done_callback, METH_O,
               "add_done_callback($self, fn, /)\n--\n\nCalls fn(self) on a worker when the values are there, or failed."
               "\n\n>>> np.ones(2).add_done_callback(lambda x: None)");
  parts.slot(Py_am_await, await_slot);
}

void bind_host(nb::module_& m) {
  m.def("host_call", &host_call_function, nb::arg("fn"), nb::arg("arrays"), nb::arg("out_shape").none(),
        nb::arg("out_dtype") = nb::none(), nb::arg("device") = nb::none(),
        "fn(*arrays) on a worker, in order; fn gets read-only NumPy arrays and gives what becomes the result.");
}

}  // namespace slipstream::python
