// The rows of the table as Python functions: one loop, one object per row, which is the function and the method alike.

#include <cstddef>
#include <string>

#include "../core/elementwise.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// ---- function objects: called without a tuple of arguments, and bound to an array when found on the class

struct Function;
using Impl = PyObject* (*)(const Function& self, PyObject* const* args, Py_ssize_t n, PyObject* keywords);

struct Function {
  PyObject_HEAD vectorcallfunc vectorcall;
  Impl impl;
  Row row;
  int arity;
  const char* name;
  const char* rule;            // of the row's types
  std::string* signature;      // "(x1, x2, /, out=None, ...)"
  std::string* doc;
};
PyTypeObject* function_type = nullptr;
Function* as_function(PyObject* o) { return reinterpret_cast<Function*>(o); }

PyObject* call_function(PyObject* self, PyObject* const* args, size_t nargs, PyObject* keywords) {
  return guarded(
      [&] { return as_function(self)->impl(*as_function(self), args, PyVectorcall_NARGS(nargs), keywords); });
}

PyObject* bind_function(PyObject* self, PyObject* instance, PyObject*) {
  return instance ? PyMethod_New(self, instance) : Py_NewRef(self);
}

PyObject* function_repr(PyObject* self) {
  return PyUnicode_FromFormat("<function slipstream.np.%s>", as_function(self)->name);
}
PyObject* function_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(as_function(self)->name); }
PyObject* function_name(PyObject* self, void*) { return PyUnicode_FromString(as_function(self)->name); }
PyObject* function_module(PyObject*, void*) { return PyUnicode_FromString("slipstream._core"); }
PyObject* function_doc(PyObject* self, void*) {  // the row's line, and an example that the package adds
  return guarded([&] {
    static PyObject* docstring = package_function("slipstream.np._rows", "docstring");
    return checked(PyObject_CallFunction(docstring, "ss", as_function(self)->name, as_function(self)->doc->c_str()));
  });
}
PyObject* function_method(PyObject* self, void* name) {  // NumPy's reduce, outer, ... of its functions
  return guarded([&] {
    static PyObject* method = package_function("slipstream.np._ufunc_methods", "method_of");
    return checked(PyObject_CallFunction(method, "ss", as_function(self)->name, static_cast<const char*>(name)));
  });
}
PyObject* function_signature(PyObject* self, void*) {
  return PyUnicode_FromString(as_function(self)->signature->c_str());
}

void make_function_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr}, {}};
  auto method = [](const char* name) {
    return PyGetSetDef{name, function_method, nullptr, nullptr, const_cast<char*>(name)};
  };
  static PyGetSetDef properties[] = {{"__name__", function_name, nullptr, nullptr, nullptr},
                                     {"__qualname__", function_name, nullptr, nullptr, nullptr},
                                     {"__module__", function_module, nullptr, nullptr, nullptr},
                                     {"__doc__", function_doc, nullptr, nullptr, nullptr},
                                     {"__text_signature__", function_signature, nullptr, nullptr, nullptr},
                                     method("reduce"),
                                     method("accumulate"),
                                     method("outer"),
                                     method("at"),
                                     method("reduceat"),
                                     {}};
  static PyMethodDef methods[] = {{"__reduce__", function_reduce, METH_NOARGS, nullptr}, {}};
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind_function)},
                         {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                         {Py_tp_members, members},
                         {Py_tp_getset, properties},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION;
  PyType_Spec spec{"slipstream._core.function", sizeof(Function), 0, kFlags, slots};
  function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

void add_function(nb::module_& m, const char* name, Impl impl, std::string signature, std::string doc,
                  Row row = Row::none, int arity = 1, const char* rule = "") {
  PyObject* o = checked(function_type->tp_alloc(function_type, 0));
  auto* f = as_function(o);
  f->vectorcall = call_function;
  f->impl = impl;
  f->row = row;
  f->arity = arity;
  f->name = name;
  f->rule = rule;
  f->signature = new std::string(std::move(signature));
  f->doc = new std::string(std::move(doc));
  m.attr(name) = nb::borrow(o);
  auto* type = reinterpret_cast<PyObject*>(ndarray_type);
  if (arity == 1 && !PyObject_HasAttrString(type, name)) checked(PyObject_SetAttrString(type, name, o));
  Py_DECREF(o);
}

// ---- keywords

bool is(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

[[noreturn]] void bad_keyword(const char* function, PyObject* name) {
  fail(ErrorKind::type, function, "() got an unexpected keyword argument '", PyUnicode_AsUTF8(name), "'");
}

// out=: an array, or a tuple of one as NumPy's ufuncs have it. Borrowed; nullptr for None.
PyObject* out_object(const char* function, PyObject* out) {
  if (out == Py_None) return nullptr;
  if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1) return out_object(function, PyTuple_GET_ITEM(out, 0));
  if (!is_ndarray(out)) fail(ErrorKind::type, function, ": out must be an ndarray, not ", Py_TYPE(out)->tp_name);
  return out;
}

// casting=: one of NumPy's rules.
PyObject* checked_casting(const char* function, PyObject* rule) {
  for (const char* known : {"no", "equiv", "safe", "same_kind", "unsafe"})
    if (PyUnicode_Check(rule) && is(rule, known)) return rule;
  fail(ErrorKind::value, function, ": casting ", nb::repr(rule).c_str(),
       " is none of 'no', 'equiv', 'safe', 'same_kind', 'unsafe'");
}

// keepdims=: a truth value, or None.
bool checked_keepdims(const char* function, PyObject* value) {
  if (value == Py_None) return false;
  if (!PyBool_Check(value) && !PyIndex_Check(value) && !PyType_IsSubtype(Py_TYPE(value), numpy().generic_type))
    fail(ErrorKind::type, function, ": keepdims must be True or False, not ", Py_TYPE(value)->tp_name);
  int truth = PyObject_IsTrue(value);
  checked(truth);
  return truth;
}

// where=: True and None ask for nothing.
std::optional<Array> mask(const char* function, PyObject* where, Device device) {
  if (where == Py_True || where == Py_None) return {};
  Array m = to_array(where, device, where == Py_False ? std::optional(DType::b1) : std::nullopt);
  if (m.dtype != DType::b1) fail(ErrorKind::type, function, ": where must be an array of bool, not of ", m.dtype);
  return m;
}

// ---- elementwise

using Args = SmallVec<Arg, 3>;

struct ElementwiseCall {
  PyObject* out = nullptr;
  PyObject* where = Py_True;
  PyObject* casting = nullptr;
  std::optional<DType> dtype;

  void keyword(const Function& f, PyObject* name, PyObject* value) {
    if (is(name, "out"))
      out = out_object(f.name, value);
    else if (is(name, "where"))
      where = value;
    else if (is(name, "dtype"))
      dtype = to_dtype_or_none(value);
    else if (is(name, "casting"))
      casting = checked_casting(f.name, value);
    else if (is(name, "order"))
      to_order(value);
    else if (!is(name, "subok") && !is(name, "name"))  // MXNet's: names a node of a symbol, of which there are none
      bad_keyword(f.name, name);
  }
};

// Which array is given by this name, or -1: MXNet calls them x, or x1 and x2, and data in npx. NumPy takes no names.
int place_of(const Function& f, PyObject* name) {
  if (f.arity == 1) return is(name, "x") || is(name, "data") ? 0 : -1;
  return f.arity != 2 ? -1 : is(name, "x1") ? 0 : is(name, "x2") ? 1 : -1;
}

// A number where at least one argument must be an array: in the type that is asked for, if it can hold it. Bits are of
// integers, whatever creation makes of numbers.
Array number_array(const Function& f, PyObject* o, Given given, Device device, std::optional<DType> dtype) {
  std::string_view rule = f.rule;
  if (dtype && kind(*dtype) < kind_of(given)) dtype = {};
  if (of_integers(rule) && given == Given::integer) dtype = DType::i64;
  return to_array(o, device, dtype);
}

void collect(const Function& f, PyObject* const* args, std::optional<DType> dtype, Args* collected) {
  Given given[3];
  bool only_numbers = true;
  const Array* first = nullptr;
  for (int i = 0; i < f.arity; i++) {
    given[i] = classify(args[i]);
    if (given[i] == Given::unknown)
      fail(ErrorKind::type, f.name, ": argument ", i + 1, " is a ", Py_TYPE(args[i])->tp_name,
           ", of which no array can be made");
    only_numbers &= is_scalar(given[i]);
    if (given[i] == Given::array && !first) first = &as_array(args[i]);
  }
  Device device = first ? first->device() : current_device();
  for (int i = 0; i < f.arity; i++) {
    bool chosen = f.row == Row::where && i > 0 && given[i] == Given::integer;  // beside the other choice
    const Array* other = chosen && given[3 - i] == Given::array ? &as_array(args[3 - i]) : nullptr;
    if (only_numbers && i == 0)
      collected->emplace_back(number_array(f, args[i], given[i], device, dtype));
    else if (f.row == Row::where && i == 1 && is_scalar(given[1]) && is_scalar(given[2]) && numpy_defaults())
      collected->emplace_back(to_array(args[i], device, default_dtype(std::max(kind_of(given[1]), kind_of(given[2])))));
    else
      collected->emplace_back(to_arg(args[i], given[i], device, f.row, chosen ? other : first));
  }
}

// casting= other than the default: NumPy's rule is asked. True: the result must be converted by an assignment.
bool apply_casting(const Function& f, std::span<const Arg> args, const ElementwiseCall& call) {
  if (!call.casting || !call.out || is(call.casting, "same_kind")) return false;
  DType from = call.dtype ? *call.dtype : row_types(f.row, args).result;
  DType to = as_array(call.out).dtype;
  nb::object allowed = numpy().module.attr("can_cast")(nb::handle(dtype_object(from)), nb::handle(dtype_object(to)),
                                                       nb::handle(call.casting));
  if (!nb::cast<bool>(allowed))
    fail(ErrorKind::type, f.name, ": cannot cast the result from ", from, " to ", to, " according to the rule '",
         PyUnicode_AsUTF8(call.casting), "'");
  return is(call.casting, "unsafe");
}

// One or two arguments, an array among them, and nothing else: most calls. nullptr for others.
PyObject* call_plain(const Function& f, PyObject* const* args) {
  if (f.arity == 1) {
    if (!is_ndarray(args[0])) return nullptr;
    const Arg given[1] = {Arg::lent(as_array(args[0]))};
    return wrap_made([&] { return elementwise(f.row, given); });
  }
  Given x = classify(args[0]), y = classify(args[1]);
  bool array = x == Given::array || y == Given::array;
  if (!array || x == Given::unknown || y == Given::unknown) return nullptr;
  const Arg given[2] = {to_arg(args[0], x, f.row, args[1]), to_arg(args[1], y, f.row, args[0])};
  return wrap_made([&] { return elementwise(f.row, given); });
}

PyObject* call_elementwise(const Function& f, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  if (!keywords && n == f.arity && n < 3)
    if (PyObject* made = call_plain(f, args)) return made;
  ElementwiseCall call;
  PyObject* arrays[3];
  Py_ssize_t by_place = n;
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); k++) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    int place = n < f.arity ? place_of(f, name) : -1;
    if (place < 0 || place < n) {
      call.keyword(f, name, args[n + k]);
    } else {
      arrays[place] = args[n + k];
      by_place += 1;
    }
  }
  if (by_place == f.arity + 1)
    call.out = out_object(f.name, args[f.arity]);  // by position, as NumPy allows
  else if (by_place != f.arity)
    fail(ErrorKind::type, f.name, "() takes ", f.arity, " array arguments (", by_place, " given)");
  if (by_place > n) {
    std::copy(args, args + n, arrays);
    args = arrays;
  }

  Args given;
  collect(f, args, call.dtype, &given);
  std::span<const Arg> span(given.begin(), static_cast<size_t>(given.size()));
  ElementwiseOptions options{.dtype = call.dtype};
  std::optional<Array> where =
      call.where == Py_True ? std::nullopt : mask(f.name, call.where, device_of(args, f.arity));
  if (where) options.where = &*where;
  if (!call.out) return wrap_made([&] { return elementwise(f.row, span, options); });
  if (apply_casting(f, span, call) && !where) {
    assign(as_array(call.out), elementwise(f.row, span, options));
  } else {
    options.out = &as_array(call.out);
    elementwise(f.row, span, options);
  }
  return Py_NewRef(call.out);
}

// ---- reductions

// Which order the arguments have by position, in NumPy, after the array.
const char* const* positions(std::string_view rule) {
  static const char* const sums[] = {"axis", "dtype", "out", "keepdims", "initial", "where", nullptr};
  static const char* const extremes[] = {"axis", "out", "keepdims", "initial", "where", nullptr};
  static const char* const truths[] = {"axis", "out", "keepdims", "where", nullptr};
  static const char* const moments[] = {"axis", "dtype", "out", "ddof", "keepdims", "where", nullptr};
  static const char* const means[] = {"axis", "dtype", "out", "keepdims", "where", nullptr};
  static const char* const places[] = {"axis", "out", "keepdims", nullptr};
  static const char* const scans[] = {"axis", "dtype", "out", nullptr};
  if (rule == "EXTREME") return extremes;
  if (rule == "TRUTH") return truths;
  if (rule == "MOMENT") return moments;
  if (rule == "MEAN") return means;
  if (rule == "PLACE") return places;
  if (rule == "SCAN") return scans;
  return sums;
}

uint32_t axis_bits(const char* function, PyObject* axis, int ndim) {
  if (!axis || axis == Py_None) return static_cast<uint32_t>((uint64_t{1} << ndim) - 1);
  uint32_t bits = 0;
  if (PyLong_CheckExact(axis)) return uint32_t{1} << normalize_axis(PyLong_AsLongLong(axis), ndim, function);
  for (int64_t a : to_axes(axis)) {
    uint32_t bit = uint32_t{1} << normalize_axis(a, ndim, function);
    if (bits & bit) fail(ErrorKind::value, function, ": axis ", a, " is named twice");
    bits |= bit;
  }
  return bits;
}

struct ReductionCall {
  PyObject *a = nullptr, *axis = nullptr, *out = nullptr, *where = Py_True;
  ReduceOptions options;
  double correction = 0;

  void keyword(const Function& f, PyObject* name, PyObject* value) {
    bool none = value == Py_None;
    if (is(name, "axis"))
      axis = value;
    else if (is(name, "dtype"))
      options.dtype = to_dtype_or_none(value);
    else if (is(name, "out"))
      out = out_object(f.name, value);
    else if (is(name, "keepdims"))
      options.keepdims = checked_keepdims(f.name, value);
    else if (is(name, "initial"))
      options.initial = none ? std::nullopt : std::optional(to_scalar(value));
    else if (is(name, "where"))
      where = value;
    else if ((is(name, "ddof") || is(name, "correction")) && std::string_view(f.rule) == "MOMENT")
      correction = to_scalar(value).as_double();
    else if (is(name, "a") && !a)
      a = value;
    else
      bad_keyword(f.name, name);
  }
};

PyObject* run_reduction(const Function& f, const Array& x, const ReductionCall& call) {
  std::string_view name = f.name;
  auto result = [&] {
    if (f.row != Row::none) return reduce(f.row, x, call.options);
    if (name == "mean") return mean(x, call.options);
    if (name == "var") return variance(x, call.options, call.correction);
    if (name == "std") return deviation(x, call.options, call.correction);
    return logsumexp(x, call.options);
  };
  if (!call.out) return wrap_made(result);
  result();
  return Py_NewRef(call.out);
}

ReductionCall parse_reduction(const Function& f, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  ReductionCall call;
  if (n > 0) call.a = args[0];
  const char* const* names = positions(f.rule);
  for (Py_ssize_t i = 1; i < n; i++) {
    if (!names[i - 1]) fail(ErrorKind::type, f.name, "() takes at most ", i, " positional arguments (", n, " given)");
    if (i == 1) {  // everywhere the axis
      call.axis = args[1];
      continue;
    }
    nb::str name(names[i - 1]);
    call.keyword(f, name.ptr(), args[i]);
  }
  if (keywords)
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords); k++)
      call.keyword(f, PyTuple_GET_ITEM(keywords, k), args[n + k]);
  if (!call.a) fail(ErrorKind::type, f.name, "() needs an array");
  return call;
}

PyObject* call_reduction(const Function& f, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  ReductionCall call = parse_reduction(f, args, n, keywords);
  Array made;
  const Array& x = is_ndarray(call.a) ? as_array(call.a) : (made = to_array(call.a));
  call.options.axes = axis_bits(f.name, call.axis, x.ndim());
  std::optional<Array> where = call.where == Py_True ? std::nullopt : mask(f.name, call.where, x.device());
  if (where) call.options.where = &*where;
  if (call.out) call.options.out = &as_array(call.out);
  return run_reduction(f, x, call);
}

// argmin, argmax, cumsum and cumprod: one axis, or None for the flattened array.
PyObject* call_along(const Function& f, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  ReductionCall call = parse_reduction(f, args, n, keywords);
  if (call.where != Py_True || call.options.initial)
    fail(ErrorKind::type, f.name, "() takes neither where nor initial");
  std::optional<int64_t> axis;
  if (call.axis && call.axis != Py_None) {
    if (!PyIndex_Check(call.axis)) fail(ErrorKind::type, f.name, ": axis must be an integer or None");
    axis = to_dims(call.axis)[0];
  }
  Array x = to_array(call.a);
  const Array* out = call.out ? &as_array(call.out) : nullptr;
  std::string_view name = f.name;
  auto result = [&] {
    if (name == "argmin") return argmin(x, axis, call.options.keepdims, out);
    if (name == "argmax") return argmax(x, axis, call.options.keepdims, out);
    if (!axis) x = reshape(x, Shape{-1});
    return (name == "cumsum" ? cumsum : cumprod)(x, axis.value_or(0), call.options.dtype, out);
  };
  Array made = result();
  return call.out ? Py_NewRef(call.out) : wrap(std::move(made));
}

std::string reduction_signature(std::string_view rule) {
  std::string text = "(a";
  for (const char* const* name = positions(rule); *name; name++) {
    std::string_view n = *name;
    text += ", " + std::string(n) + (n == "keepdims" ? "=False" : n == "ddof" ? "=0" : "=None");
  }
  return text + (rule == "MOMENT" ? ", *, correction=None)" : ")");
}

// ---- the table

std::string elementwise_signature(int arity) {
  const char* const names[] = {"x", "x1, x2", "x1, x2, x3"};
  return std::string("(") + names[arity - 1] +
         ", /, out=None, *, where=True, casting='same_kind', order='K', dtype=None)";
}

nb::dict row_dict(const RowInfo& info) {
  nb::dict d;
  d["name"] = info.name;
  d["arity"] = info.arity;
  d["is_reduction"] = info.is_reduction;
  d["types"] = info.types;
  d["value"] = info.value;
  d["gradient"] = info.gradient;
  d["low"] = info.low;
  d["high"] = info.high;
  d["doc"] = info.doc;
  return d;
}

}  // namespace

void bind_rows(nb::module_& m) {
  make_function_type();
  for (int i = 0; i < kRowCount; i++) {
    const RowInfo& info = row_info(static_cast<Row>(i));
    Impl impl = info.is_reduction ? call_reduction : call_elementwise;
    std::string signature = info.is_reduction ? reduction_signature(info.types) : elementwise_signature(info.arity);
    add_function(m, info.name, impl, std::move(signature), info.doc, static_cast<Row>(i), info.arity, info.types);
  }
  add_function(m, "mean", call_reduction, reduction_signature("MEAN"), "Mean of the elements.", Row::none, 1, "MEAN");
  add_function(m, "var", call_reduction, reduction_signature("MOMENT"), "Variance of the elements.", Row::none, 1,
               "MOMENT");
  add_function(m, "std", call_reduction, reduction_signature("MOMENT"), "Standard deviation of the elements.",
               Row::none, 1, "MOMENT");
  add_function(m, "logsumexp", call_reduction, reduction_signature("MEAN"),
               "log(sum(exp(x))) without overflow on the way.", Row::none, 1, "MEAN");
  auto along = [&](const char* name, const char* rule, const char* doc) {
    add_function(m, name, call_along, reduction_signature(rule), doc, Row::none, 1, rule);
  };
  along("argmin", "PLACE",
        "Where the smallest element is (the first, or the first NaN): in the flattened array, or along an axis.");
  along("argmax", "PLACE",
        "Where the largest element is (the first, or the first NaN): in the flattened array, or along an axis.");
  along("cumsum", "SCAN", "Sums of all elements up to each, along an axis or of the flattened array.");
  along("cumprod", "SCAN", "Products of all elements up to each, along an axis or of the flattened array.");

  m.def(
      "rows",
      [] {
        nb::list rows;
        for (int i = 0; i < kRowCount; i++) rows.append(row_dict(row_info(static_cast<Row>(i))));
        return rows;
      },
      "What the table says of each row.");
}

}  // namespace slipstream::python
