// Automatic differentiation as Python sees it: gradients of arrays, the recording flags, and nodes written in Python.

#include <set>

#include "../core/graph/tape.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

using tape::GradReq;

// ---- arguments

GradReq to_request(PyObject* o) {
  const char* text = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (text && std::string_view(text) == "write") return GradReq::write;
  if (text && std::string_view(text) == "add") return GradReq::add;
  if (text && std::string_view(text) == "null") return GradReq::null;
  fail(ErrorKind::value, "grad_req ", o ? nb::repr(o).c_str() : "None", " is none of 'write', 'add', 'null'");
}

const char* request_name(GradReq req) { return req == GradReq::write ? "write" : req == GradReq::add ? "add" : "null"; }

void check_differentiable(const char* function, const Array& x) {
  if (kind(x.dtype) < Kind::real)
    fail(ErrorKind::type, function, ": arrays of ", x.dtype, " have no gradient; use a float type");
}

// Gradients of heads: None, or one (perhaps None) for each.
std::vector<Array> head_gradients(nb::handle given, std::span<const Array> heads) {
  std::vector<Array> found;
  if (given.is_none()) return found;
  for (nb::handle g : given) {
    if (found.size() == heads.size()) fail(ErrorKind::value, "backward: more head gradients than heads");
    found.push_back(g.is_none() ? Array() : to_array(g.ptr(), heads[found.size()].device()));
  }
  if (found.size() != heads.size())
    fail(ErrorKind::value, "backward: ", heads.size(), " heads, but ", found.size(), " head gradients");
  return found;
}

std::vector<Array> arrays(const char* function, nb::handle given) {
  std::vector<Array> found;
  for (nb::handle o : given) {
    if (!is_ndarray(o.ptr()))
      fail(ErrorKind::type, function, ": expected an ndarray, not a ", Py_TYPE(o.ptr())->tp_name);
    found.push_back(as_array(o.ptr()));
  }
  return found;
}

class Training {
 public:
  explicit Training(bool on) : before_(std::exchange(tape::flags.training, on)) {}
  ~Training() { tape::flags.training = before_; }
  Training(const Training&) = delete;

 private:
  bool before_;
};

// ---- methods

PyObject* attach_grad(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Arguments<2> given("attach_grad", {"grad_req", "stype"}, args, n, keywords);
    const Array& x = as_array(self);
    GradReq req = given[0] ? to_request(given[0]) : GradReq::write;
    if (req != GradReq::null) check_differentiable("attach_grad", x);
    Array zeros = req == GradReq::null ? Array() : full(x.shape, Scalar::of(int64_t{0}), x.dtype, x.device());
    tape::attach(x, std::move(zeros), req);
    Py_RETURN_NONE;
  });
}

PyObject* detach(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(as_array(self).detached()); });
}

PyObject* drop_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    tape::drop(as_array(self));
    Py_RETURN_NONE;
  });
}

PyObject* zero_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    tape::Pause pause;
    if (tape::Leaf* leaf = tape::leaf_of(as_array(self))) assign(leaf->grad, Scalar::of(int64_t{0}));
    Py_RETURN_NONE;
  });
}

PyObject* backward_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Arguments<3> given("backward", {"out_grad", "retain_graph", "train_mode"}, args, n, keywords);
    const Array head = as_array(self);
    Array g;
    if (given[0] && given[0] != Py_None) g = to_array(given[0], head.device());
    int retain = given[1] ? PyObject_IsTrue(given[1]) : 0, train = given[2] ? PyObject_IsTrue(given[2]) : 1;
    checked(retain);
    checked(train);
    Training training(train);
    tape::backward({&head, 1}, {&g, 1}, retain);
    Py_RETURN_NONE;
  });
}

PyObject* grad_property(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    tape::Leaf* leaf = tape::leaf_of(as_array(self));
    return leaf ? wrap(Array(leaf->grad)) : Py_NewRef(Py_None);
  });
}

PyObject* request_property(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    tape::Leaf* leaf = tape::leaf_of(as_array(self));
    return nb::str(request_name(leaf ? leaf->req : GradReq::null)).release().ptr();
  });
}

PyObject* fresh_property(PyObject* self, void*) {
  tape::Leaf* leaf = tape::leaf_of(as_array(self));
  return Py_NewRef(leaf && leaf->fresh ? Py_True : Py_False);
}

int set_fresh(PyObject* self, PyObject* value, void*) {
  return guarded(-1, [&] {
    int on = value ? PyObject_IsTrue(value) : 0;
    checked(on);
    if (tape::Leaf* leaf = tape::leaf_of(as_array(self))) leaf->fresh = on;
    return 0;
  });
}

PyObject* version_property(PyObject* self, void*) {
  return guarded([&] { return nb::int_(as_array(self).storage()->version.load()).release().ptr(); });
}

// ---- nodes written in Python

// Names live as long as the process: nodes point to them.
const char* kept_name(const std::string& name) {
  static auto* names = new std::set<std::string>;  // used under the GIL
  return names->insert(name).first->c_str();
}

struct InputType {
  Shape shape;
  DType dtype;
};

// What backward returned, as one gradient for each input.
std::vector<Array> python_gradients(const char* op, nb::handle returned, const std::vector<InputType>& inputs,
                                    Device device) {
  std::vector<Array> found(inputs.size());
  nb::object one = nb::make_tuple(returned);
  bool many = PyTuple_Check(returned.ptr()) || PyList_Check(returned.ptr());
  nb::handle list = many ? returned : nb::handle(one);
  if (nb::len(list) != inputs.size())
    fail(ErrorKind::value, op, ": backward returned ", nb::len(list), " gradients for ", inputs.size(), " inputs");
  for (size_t i = 0; i < inputs.size(); i++) {
    nb::object g = list[i];
    if (g.is_none()) continue;
    Array gradient = to_array(g.ptr(), is_ndarray(g.ptr()) ? std::nullopt : std::optional(device));
    if (!(gradient.shape == inputs[i].shape))
      fail(ErrorKind::value, op, ": backward returned a gradient of shape ", gradient.shape, " for input ", i,
           " of shape ", inputs[i].shape);
    found[i] = tape::back_to(gradient, inputs[i].shape, inputs[i].dtype);
  }
  return found;
}

// Results, computed from the inputs where the tape did not look, as new handles with that history.
nb::list note_function(const std::string& name, nb::sequence results, nb::sequence inputs, nb::object backward,
                       bool keep_results) {
  std::vector<Array> made = arrays(name.c_str(), results), from = arrays(name.c_str(), inputs);
  for (Array& r : made) r = r.detached();
  if (tape::follows_any(from)) {
    std::vector<InputType> types;
    for (const Array& x : from) types.push_back({x.shape, x.dtype});
    std::vector<InputType> result_types;
    std::vector<tape::Saved> kept;
    for (size_t i = 0; i < made.size(); i++) {
      result_types.push_back({made[i].shape, made[i].dtype});
      if (keep_results) kept.push_back(tape::Saved::result(made[i], static_cast<int>(i)));
    }
    const char* op = kept_name(name);
    Device device = made.at(0).device();
    auto gradients = [op, device, types, result_types, kept, fn = share(backward)](std::span<const Array> gs) {
      std::vector<nb::object> args;
      for (size_t i = 0; i < gs.size(); i++)
        args.push_back(nb::cast(
            gs[i] ? gs[i] : full(result_types[i].shape, Scalar::of(int64_t{0}), result_types[i].dtype, device)));
      for (const tape::Saved& r : kept) args.push_back(nb::cast(r.get()));
      std::vector<PyObject*> pointers;
      for (const nb::object& o : args) pointers.push_back(o.ptr());
      nb::object returned = nb::steal(checked(call_python(fn.get(), pointers.data(), pointers.size())));
      return python_gradients(op, returned, types, device);
    };
    tape::note_all(op, made, from, std::move(gradients));
  }
  nb::list out;
  for (Array& r : made) out.append(nb::cast(std::move(r)));
  return out;
}

void bind_flags(nb::module_& m) {
  m.def("is_recording", [] { return tape::flags.recording; });
  m.def("is_training", [] { return tape::flags.training; });
  m.def(
      "set_recording", [](bool on) { return std::exchange(tape::flags.recording, on); }, nb::arg("on"),
      "Switches recording on this thread; gives what it was.");
  m.def(
      "set_training", [](bool on) { return std::exchange(tape::flags.training, on); }, nb::arg("on"),
      "Switches training on this thread; gives what it was.");
}

}  // namespace

void add_gradients(TypeParts& parts) {
  constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
  parts.property("grad", grad_property, nullptr,
                 "The gradient, where one is attached; else None."
                 "\n\n>>> np.ones(2).grad is None\nTrue");
  parts.property("grad_req", request_property, nullptr,
                 "What backward does with the gradient: write, add or null."
                 "\n\n>>> np.ones(2).grad_req\n'null'");
  parts.property("_fresh_grad", fresh_property, set_fresh, "Has a backward pass written the gradient since?");
  parts.property("_version", version_property, nullptr, "How often the memory was written in place.");
  parts.method(
      "attach_grad", reinterpret_cast<PyCFunction>(attach_grad), kFast,
      "attach_grad($self, grad_req='write', stype=None)\n--\n\n"
      "Makes room for a gradient: what is computed from the array under autograd.record() can be differentiated."
      "\n\n>>> x = np.ones(2)\n>>> x.attach_grad()\n>>> x.grad\narray([0., 0.])");
  parts.method("detach", detach, METH_NOARGS,
               "detach($self)\n--\n\nThe same values without a history."
               "\n\n>>> np.ones(2).detach()\narray([1., 1.])");
  parts.method("drop_grad", drop_grad, METH_NOARGS,
               "drop_grad($self)\n--\n\nTakes the gradient away again."
               "\n\n>>> x = np.ones(2)\n>>> x.attach_grad()\n>>> x.drop_grad()");
  parts.method("zero_grad", zero_grad, METH_NOARGS,
               "zero_grad($self)\n--\n\nSets the gradient to 0."
               "\n\n>>> x = np.ones(2)\n>>> x.attach_grad()\n>>> x.zero_grad()");
  parts.method("backward", reinterpret_cast<PyCFunction>(backward_method), kFast,
               "backward($self, out_grad=None, retain_graph=False, train_mode=True)\n--\n\n"
               "Writes the gradients of this array to all arrays with one that it was computed from."
               "\n\n>>> x = np.ones(2)\n>>> x.attach_grad()\n>>> with autograd.record():\n...     y = 3 * x\n>>> "
               "y.backward()\n>>> x.grad\narray([3., 3.])");
}

void bind_autograd(nb::module_& m) {
  tape::set_describe_source(describe_location);
  bind_flags(m);
  m.def(
      "backward",
      [](nb::sequence heads, nb::object gradients, bool retain, bool train) {
        std::vector<Array> from = arrays("backward", heads);
        Training training(train);
        tape::backward(from, head_gradients(gradients, from), retain);
      },
      nb::arg("heads"), nb::arg("head_grads").none(), nb::arg("retain_graph"), nb::arg("train_mode"));
  m.def(
      "grad",
      [](nb::sequence heads, nb::object gradients, nb::sequence variables, bool retain, bool create, bool train) {
        std::vector<Array> from = arrays("grad", heads), to = arrays("grad", variables);
        Training training(train);
        nb::list found;
        for (Array& g : tape::grad(from, head_gradients(gradients, from), to, retain, create))
          found.append(nb::cast(std::move(g)));
        return found;
      },
      nb::arg("heads"), nb::arg("head_grads").none(), nb::arg("variables"), nb::arg("retain_graph"),
      nb::arg("create_graph"), nb::arg("train_mode"));
  m.def(
      "mark_variable",
      [](nb::handle x, const Array& gradient, nb::handle grad_req) {
        if (!is_ndarray(x.ptr())) fail(ErrorKind::type, "mark_variables: a variable is no ndarray");
        const Array& a = as_array(x.ptr());
        check_differentiable("mark_variables", a);
        if (!(gradient.shape == a.shape))
          fail(ErrorKind::value, "mark_variables: a variable of shape ", a.shape, " has a gradient of shape ",
               gradient.shape);
        tape::attach(a, gradient, to_request(grad_req.ptr()));
      },
      nb::arg("x"), nb::arg("gradient"), nb::arg("grad_req"));
  m.def(
      "on_gradient",
      [](nb::handle x, nb::object fn) {
        tape::Leaf* leaf = is_ndarray(x.ptr()) ? tape::leaf_of(as_array(x.ptr())) : nullptr;
        if (!leaf) fail(ErrorKind::value, "on_gradient: the array has no gradient; call attach_grad() first");
        leaf->on_gradient = nullptr;
        if (!fn.is_none())
          leaf->on_gradient = [fn = share(fn)](const Array& g) {
            nb::object array = nb::cast(g);
            call_python(nb::handle(fn.get()), {array});
          };
      },
      nb::arg("x"), nb::arg("fn").none(),
      "fn(gradient) is called whenever a backward pass has recorded the array's gradient; None: no longer.");
  m.def(
      "check_unwritten",
      [](const Array& x, uint32_t version) {
        const tape::Node* node = tape::running.node;
        if (node && x.storage()->version.load() != version)
          tape::fail_written(node->name(), node->source, *x.storage());
      },
      nb::arg("x"), nb::arg("version"),
      "Inside a gradient: raises if the array was written since it had that version.");
  m.def(
      "follows", [](const Array& x) { return tape::follows(x); }, nb::arg("x"),
      "Would the tape note what is computed from the array now?");
  m.def("note_function", &note_function, nb::arg("name"), nb::arg("results"), nb::arg("inputs"), nb::arg("backward"),
        nb::arg("keep_results"), "Results computed where the tape did not look, with a history given by a function.");
}

}  // namespace slipstream::python
