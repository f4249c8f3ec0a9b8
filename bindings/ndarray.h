// The parts of the type ndarray, one file each: every part adds its type slots and methods.
#pragma once

#include <vector>

#include "convert.h"
#include "errors.h"

namespace slipstream::python {

struct TypeParts {
  std::vector<PyType_Slot> slots;
  std::vector<PyMethodDef> methods;
  std::vector<PyGetSetDef> properties;

  template <class F>
  void slot(int id, F* function) {
    slots.push_back({id, reinterpret_cast<void*>(function)});
  }
  void method(const char* name, PyCFunction f, int flags, const char* doc) { methods.push_back({name, f, flags, doc}); }
  void property(const char* name, getter get, setter set, const char* doc) {
    properties.push_back({name, get, set, doc, nullptr});
  }
};

void add_properties(TypeParts& parts);  // array.cpp
void add_reading(TypeParts& parts);     // reading.cpp
void add_exchange(TypeParts& parts);    // exchange.cpp
void add_operators(TypeParts& parts);   // operators.cpp
void add_indexing(TypeParts& parts);    // indexing.cpp
void add_views(TypeParts& parts);       // views.cpp
void add_callbacks(TypeParts& parts);   // host.cpp
void add_gradients(TypeParts& parts);   // autograd.cpp
void bind_ndarray(nb::module_& m);
void bind_exchange(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_structural(nb::module_& m);
void bind_shortcuts(nb::module_& m);
void bind_sorting(nb::module_& m);
void bind_indexing(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_random(nb::module_& m);
void bind_neural(nb::module_& m);
void bind_host(nb::module_& m);
void bind_autograd(nb::module_& m);
void bind_engine(nb::module_& m);

// Calls of methods with fixed names for their arguments; positions and keywords alike. Missing ones are nullptr.
void parse_arguments(const char* function, const char* const* names, size_t count, PyObject* const* args, Py_ssize_t n,
                     PyObject* keywords, PyObject** values);
template <size_t N>
struct Arguments {
  PyObject* values[N] = {};
  Arguments(const char* function, const char* const (&names)[N], PyObject* const* args, Py_ssize_t n,
            PyObject* keywords) {
    parse_arguments(function, names, N, args, n, keywords, values);
  }
  PyObject* operator[](size_t i) const { return values[i]; }
};

// The values of an array as a new NumPy array: waits, for that array alone.
nb::object read(const Array& array);
// A read-only NumPy array over the memory of an input of a host call, which it keeps alive. Does not wait.
nb::object lend(const Array& array);
void dealloc_array(PyObject* o);  // of every object that begins with an ArrayObject

}  // namespace slipstream::python
