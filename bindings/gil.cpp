// The GIL: lent to workers, given up while waiting, and never asked for once the interpreter is going away.

#include <cxxabi.h>
#include <unistd.h>

#include <pthread.h>

#include <atomic>

#include "../core/engine/engine.h"
#include "errors.h"

namespace slipstream::python {

namespace {

std::atomic<bool> python_gone{false};
std::atomic<bool> exiting{false};
pthread_t exit_thread;

bool ends_with_python() {  // a daemon thread: Python would end it, too
  return exiting.load(std::memory_order_acquire) && !pthread_equal(pthread_self(), exit_thread) &&
         !engine::inside_task();
}

bool finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

bool may_use_python() { return !python_gone.load(std::memory_order_acquire) && Py_IsInitialized() && !finalizing(); }

// Objects dropped without the GIL, linked in a list that the main thread empties.
struct Dropped {
  PyObject* object;
  Dropped* next;
};
std::atomic<Dropped*> dropped{nullptr};

int release_dropped(void*) {
  Dropped* at = dropped.exchange(nullptr);
  while (at) {
    Dropped* next = at->next;
    Py_DECREF(at->object);
    delete at;
    at = next;
  }
  return 0;
}

void drop(PyObject* object) {
  if (!may_use_python()) return;
  if (PyGILState_Check()) {
    Py_DECREF(object);
    return;
  }
  Dropped* rest = dropped.load();
  auto* node = new Dropped{object, rest};
  while (!dropped.compare_exchange_weak(rest, node)) node->next = rest;
  // From here on the node may be gone.
  if (!rest) Py_AddPendingCall(&release_dropped, nullptr);  // full: the next holder of the GIL does it
}

}  // namespace

thread_local constinit bool gil_is_lent = false;

void thread_ended() {
  for (;;) pause();
}

void begin_exit() {
  exit_thread = pthread_self();
  exiting.store(true, std::memory_order_release);
}

void stop_at_exit() {
  if (!ends_with_python()) return;
  PyEval_SaveThread();
  thread_ended();
}

PyObject* call_python(PyObject* function, PyObject* const* args, size_t n) {
  try {
    return PyObject_Vectorcall(function, args, n, nullptr);
  } catch (abi::__forced_unwind&) {
    thread_ended();
  }
}

nb::object call_python(nb::handle function, std::initializer_list<nb::handle> args) {
  PyObject* pointers[8];
  size_t n = 0;
  for (nb::handle a : args) pointers[n++] = a.ptr();
  return nb::steal(checked(call_python(function.ptr(), pointers, n)));
}

void forbid_python() { python_gone.store(true, std::memory_order_release); }

Gil::Gil() : was_lent_(std::exchange(gil_is_lent, false)) {
  if (!PyGILState_Check() && !may_use_python()) thread_ended();
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    thread_ended();
  }
  if (dropped.load(std::memory_order_relaxed)) release_dropped(nullptr);
}

Gil::~Gil() {
  PyGILState_Release(state_);
  gil_is_lent = was_lent_;
}

void* release_gil() {
  if (!PyGILState_Check()) return nullptr;
  gil_is_lent = true;
  return PyEval_SaveThread();
}

void retake_gil(void* state) {
  if (!state) return;
  if (ends_with_python()) thread_ended();
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  } catch (abi::__forced_unwind&) {
    thread_ended();
  }
  gil_is_lent = false;
}

NoGil::NoGil() : state_(release_gil()) {}
NoGil::~NoGil() { retake_gil(state_); }

Shared share(nb::handle object) { return Shared(nb::borrow(object).release().ptr(), &drop); }

}  // namespace slipstream::python
