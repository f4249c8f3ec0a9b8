// Errors on their way to Python, the GIL on its way to workers, and the guard at sync points.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <memory>

#include "../core/array.h"
#include "../core/error.h"

namespace nb = nanobind;

namespace slipstream::python {

// ---- errors

// Sets Python's error from the C++ exception that is being handled.
void set_current_error();

// Runs the body of a type slot. There is no catch (...): a thread that Python ends at exit unwinds through here.
template <class R, class F>
R guarded(R failed, F&& body) {
  try {
    return body();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception&) {
    set_current_error();
  }
  return failed;
}
template <class F>
PyObject* guarded(F&& body) {
  return guarded<PyObject*>(nullptr, std::forward<F>(body));
}
// Turns the error of a call of the C API into an exception.
inline PyObject* checked(PyObject* result) {
  if (!result) nb::raise_python_error();
  return result;
}
inline void checked(int result) {
  if (result < 0) nb::raise_python_error();
}

// The exception that stands for a failure, and marks it observed. The exception of a host callback is always the same
// object, as it was when it left the callback.
nb::object exception_of(const FailurePtr& failure);
// What a host callback raised (the current Python error), as the failure of the operation `op`.
FailurePtr failure_of_python_error(const std::string& op, SourceId source);

nb::object exception_class(ErrorKind kind, bool late);
extern PyObject* sync_guard_error;
void bind_errors(nb::module_& m);

// ---- sync points

enum class SyncGuard { off, warn, raise };
extern thread_local SyncGuard sync_guard;  // of this thread
// Every call that waits for a value without saying so passes here first.
void guard_sync_point(const char* what);
inline void sync_point(const char* what) {
  if (sync_guard != SyncGuard::off) guard_sync_point(what);
}

// ---- the GIL

// The interpreter is going away, on this thread. From here on other threads of Python's (only daemons are left) stop
// where they come back from a wait; workers finish host calls.
void begin_exit();
// From here on nobody but this thread asks for the GIL.
void forbid_python();
// Stops a thread that would report an error of the exit itself.
void stop_at_exit();

// For a thread that Python is ending (by unwinding it, up to 3.13): sleeps until the process is gone.
[[noreturn]] void thread_ended();

// Calls what may be a Python function. Where Python ends the thread meanwhile, none of our objects is unwound: they
// would touch Python without the GIL. Everything of ours that runs Python code calls it through here.
PyObject* call_python(PyObject* function, PyObject* const* args, size_t n);  // nullptr: a Python error
nb::object call_python(nb::handle function, std::initializer_list<nb::handle> args);  // raises

class Gil {  // held while this lives, on any thread
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
  bool was_lent_;
};

class NoGil {  // released while this lives, if it was held
 public:
  NoGil();
  ~NoGil();
  NoGil(const NoGil&) = delete;

 private:
  void* state_;
};

void* release_gil();        // nullptr if this thread does not hold it
void retake_gil(void* state);
extern thread_local constinit bool gil_is_lent;  // did this thread release it so? Quicker to ask than Python

// A Python object that any thread may copy and drop. Dropped without the GIL it is released later, by the main thread:
// a worker must never wait for the GIL while somebody who holds it waits for the worker.
using Shared = std::shared_ptr<PyObject>;
Shared share(nb::handle object);

// ---- source lines

SourceId current_source();
struct Location {
  std::string file;
  int line = 0;
  std::string function;
};
bool locate(SourceId source, Location* location);  // false: not known
std::string describe_location(SourceId source);  // "train.py, line 3, in step"; empty: not known
void bind_source(nb::module_& m);

}  // namespace slipstream::python
