// The module slipstream._core: all of the core that Python sees.
//
// The way of a call, `y = x + 1`:
//   operators.cpp   Python's evaluation loop calls the type slot nb_add(x, 1)
//   convert.cpp     1 is a Python int, known by its type: a weak scalar
//   core            elementwise(Row::add, ...) finds dtype and shape, raises what is wrong, appends one record
//   source.cpp      the engine asks which line of Python this is: a number
//   array.cpp       the result's handle is wrapped in one new object and returned
//
// Values are waited for in reading.cpp and exchange.cpp, masks in indexing.cpp, and nowhere else. Functions of the
// table (np.add, x.sum) come from one loop in rows.cpp, all others from structural.cpp, sorting.cpp and random.cpp.
// Python functions whose plain calls are frequent have shortcuts to the core in shortcuts.cpp.
// Python that workers run is in host.cpp, errors on their way to Python in errors.cpp.

#include "ndarray.h"

NB_MODULE(_core, m) {
  using namespace slipstream::python;
  nb::set_leak_warnings(false);  // handles that live until exit are no leak
#ifndef Py_GIL_DISABLED
  slipstream::one_at_a_time = true;  // nothing here touches handles or histories without the GIL
#endif
  m.doc() = "The compiled core of Slipstream. Use slipstream.np, slipstream.npx and slipstream.engine instead.";
  init_convert();
  bind_errors(m);
  bind_source(m);
  bind_device(m);
  bind_ndarray(m);
  bind_exchange(m);
  bind_rows(m);
  bind_structural(m);
  bind_shortcuts(m);
  bind_sorting(m);
  bind_indexing(m);
  bind_linalg(m);
  bind_random(m);
  bind_neural(m);
  bind_host(m);
  bind_autograd(m);
  bind_engine(m);
}
