// Errors: exception classes, late failures with their source lines, and the sync guard.

#include "errors.h"

#include <cxxabi.h>

#include <nanobind/stl/string.h>

#include "convert.h"

namespace slipstream::python {

PyObject* sync_guard_error = nullptr;
thread_local SyncGuard sync_guard = SyncGuard::off;

namespace {

struct Classes {
  PyObject *base, *memory, *index, *value, *type, *overflow, *axis, *linalg, *late_linalg, *sync_warning;
} classes;

PyObject* make_class(nb::module_& m, const char* name, PyObject* base, PyObject* other, const char* doc) {
  nb::object bases = other ? nb::object(nb::make_tuple(nb::borrow(base), nb::borrow(other))) : nb::borrow(base);
  std::string full = std::string("slipstream.") + name;
  PyObject* made = checked(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
  m.attr(name) = nb::borrow(made);
  return made;
}

PyObject* late_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value: return classes.value;
    case ErrorKind::type: return classes.type;
    case ErrorKind::index: return classes.index;
    case ErrorKind::axis: return classes.axis;
    case ErrorKind::memory: return classes.memory;
    case ErrorKind::overflow: return classes.overflow;
    case ErrorKind::linalg: return classes.late_linalg;
    default: return classes.base;
  }
}

PyObject* class_at_call(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value: return PyExc_ValueError;
    case ErrorKind::type: return PyExc_TypeError;
    case ErrorKind::index: return PyExc_IndexError;
    case ErrorKind::overflow: return PyExc_OverflowError;
    case ErrorKind::linalg: return classes.linalg;
    case ErrorKind::axis:
    case ErrorKind::memory: return late_class(kind);
    default: return PyExc_RuntimeError;
  }
}

// Where another library's programs run, their own classes stand for those of errors at the call.
PyObject* classes_instead = nullptr;  // a dict, by the class that they stand for

PyObject* class_of(ErrorKind kind, bool late) {
  if (late) return late_class(kind);
  PyObject* usual = class_at_call(kind);
  PyObject* instead = classes_instead ? PyDict_GetItem(classes_instead, usual) : nullptr;
  return instead ? instead : usual;
}

std::string where(SourceId source) {
  std::string at = describe_location(source);
  return at.empty() ? "" : "recorded at " + at;
}

std::string describe(const Failure& failure) {
  std::string place = where(failure.source);
  return failure.op + " failed: " + failure.message + (place.empty() ? "" : " (" + place + ")");
}

// What a host callback raised, with the traceback it had when it left the callback.
struct Raised {
  Shared exception, traceback;
};

}  // namespace

nb::object exception_class(ErrorKind kind, bool late) { return nb::borrow(class_of(kind, late)); }

nb::object exception_of(const FailurePtr& failure) {
  failure->observed.store(true);
  if (failure->payload) {
    auto* raised = static_cast<const Raised*>(failure->payload.get());
    nb::object e = nb::borrow(raised->exception.get());
    PyObject* traceback = raised->traceback ? raised->traceback.get() : Py_None;
    if (PyException_SetTraceback(e.ptr(), traceback) < 0) PyErr_Clear();
    return e;
  }
  nb::object e = nb::borrow(class_of(failure->kind, true))(describe(*failure));
  Location at;
  bool known = locate(failure->source, &at);
  e.attr("operation") = failure->op;
  e.attr("file") = known ? nb::object(nb::str(at.file.c_str())) : nb::none();
  e.attr("line") = known ? nb::object(nb::int_(at.line)) : nb::none();
  return e;
}

FailurePtr failure_of_python_error(const std::string& op, SourceId source) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  nb::object e = nb::steal(value), tb = nb::steal(traceback), cls = nb::steal(type);

  auto raised = std::make_shared<Raised>();
  raised->exception = share(e);
  if (tb.is_valid()) raised->traceback = share(tb);
  auto failure = std::make_shared<Failure>();
  failure->op = op;
  failure->source = source;
  nb::object text = nb::steal(PyObject_Str(e.ptr()));
  if (!text.is_valid()) PyErr_Clear();
  failure->message =
      nb::cast<std::string>(cls.attr("__name__")) + (text.is_valid() ? ": " + nb::cast<std::string>(text) : "");
  failure->payload = raised;

  std::string place = where(source);
  std::string note = "raised by " + op + (place.empty() ? "" : ", " + place);
  nb::object added = nb::steal(PyObject_CallMethod(e.ptr(), "add_note", "s", note.c_str()));
  if (!added.is_valid()) PyErr_Clear();
  return failure;
}

static void set_failure(const FailurePtr& failure) {
  stop_at_exit();
  nb::object e = exception_of(failure);
  PyObject* traceback = PyException_GetTraceback(e.ptr());
  PyObject* type = Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(e.ptr())));
  PyErr_Restore(type, e.release().ptr(), traceback);
}

void set_current_error() {
  try {
    throw;
  } catch (const FailedResult& e) {
    set_failure(e.failure);
  } catch (const Error& e) {
    PyErr_SetString(class_of(e.kind, false), e.what());
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    switch (e.type()) {
      case nb::exception_type::stop_iteration: PyErr_SetString(PyExc_StopIteration, e.what()); break;
      case nb::exception_type::index_error: PyErr_SetString(PyExc_IndexError, e.what()); break;
      case nb::exception_type::key_error: PyErr_SetString(PyExc_KeyError, e.what()); break;
      case nb::exception_type::value_error: PyErr_SetString(PyExc_ValueError, e.what()); break;
      case nb::exception_type::buffer_error: PyErr_SetString(PyExc_BufferError, e.what()); break;
      case nb::exception_type::import_error: PyErr_SetString(PyExc_ImportError, e.what()); break;
      case nb::exception_type::attribute_error: PyErr_SetString(PyExc_AttributeError, e.what()); break;
      default: PyErr_SetString(PyExc_TypeError, e.what()); break;
    }
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "argument of a wrong type");
  } catch (const std::bad_alloc&) {
    PyErr_SetString(classes.memory, "out of memory");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void guard_sync_point(const char* what) {
  std::string text = std::string(what) + " waited here";
  if (sync_guard == SyncGuard::warn) {
    static PyObject* warn = package_function("warnings", "warn");
    call_python(warn, {nb::str(text.c_str()), nb::handle(classes.sync_warning)});
    return;
  }
  PyErr_SetString(sync_guard_error, text.c_str());
  nb::raise_python_error();
}

// Sets what hidden waits do, and gives what they did before.
static std::optional<std::string> set_sync_guard(std::optional<std::string> mode) {
  static const char* const names[] = {nullptr, "warn", "raise"};
  const char* before = names[static_cast<int>(sync_guard)];
  if (!mode)
    sync_guard = SyncGuard::off;
  else if (*mode == "warn")
    sync_guard = SyncGuard::warn;
  else if (*mode == "raise")
    sync_guard = SyncGuard::raise;
  else
    fail(ErrorKind::value, "sync_guard: mode is '", *mode, "', but must be 'raise', 'warn' or None");
  return before ? std::optional<std::string>(before) : std::nullopt;
}

void bind_errors(nb::module_& m) {
  classes.base = make_class(m, "SlipstreamError", PyExc_RuntimeError, nullptr,
                            "An operation failed after its call had returned; names the line that recorded it.");
  classes.memory = make_class(m, "OutOfMemoryError", classes.base, PyExc_MemoryError, "A device has no memory left.");
  classes.index = make_class(m, "LateIndexError", classes.base, PyExc_IndexError, "An index array held a bad index.");
  classes.value = make_class(m, "LateValueError", classes.base, PyExc_ValueError, "An operation met a bad value.");
  classes.type = make_class(m, "LateTypeError", classes.base, PyExc_TypeError, "An operation met a bad type.");
  classes.overflow = make_class(m, "LateOverflowError", classes.base, PyExc_OverflowError, "A value was too large.");
  classes.linalg = package_function("numpy.linalg", "LinAlgError");
  classes.late_linalg = make_class(m, "LateLinAlgError", classes.base, classes.linalg,
                                   "A matrix was singular or not positive definite, or an iteration did not end.");
  sync_guard_error = make_class(m, "SyncError", classes.base, nullptr, "A value was waited for under sync_guard.");
  classes.sync_warning =
      make_class(m, "SyncWarning", PyExc_UserWarning, nullptr, "A value was waited for under sync_guard('warn').");
  classes.axis = package_function("numpy.exceptions", "AxisError");
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const FailedResult& e) {
      set_failure(e.failure);
    } catch (const Error& e) {
      PyErr_SetString(class_of(e.kind, false), e.what());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(classes.memory, "out of memory");
    }
  });
  m.def(
      "set_call_errors", [](nb::dict instead) { Py_XSETREF(classes_instead, instead.release().ptr()); },
      nb::arg("instead"), nb::sig("def set_call_errors(instead: dict[type[Exception], type[Exception]]) -> None"),
      "Classes of errors at the call, by the usual class that each stands for.");
  m.def("set_sync_guard", &set_sync_guard, nb::arg("mode").none(),
        "What hidden waits do: 'raise', 'warn' or None. Gives what they did before.");
}

}  // namespace slipstream::python
