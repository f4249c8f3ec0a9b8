// Source lines: which line of the user's program recorded a call, as a number that costs a few nanoseconds to find.

#include <nanobind/stl/string.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "errors.h"

// Python's interface makes an object of the running frame before it tells the line. Python 3.11's own headers say where
// that lies.
#if PY_VERSION_HEX < 0x030C0000 && __has_include(<internal/pycore_frame.h>)
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#define SLIP_FRAMES_KNOWN
#endif

namespace slipstream::python {

namespace {

// A place is a code object and an offset in it. Code objects are kept for good, so that their addresses stay theirs.
struct Place {
  PyCodeObject* code;
  int offset;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  size_t operator()(const Place& p) const {
    return (reinterpret_cast<uintptr_t>(p.code) >> 4) * 31 + static_cast<unsigned>(p.offset) / 2;
  }
};

constexpr SourceId kInternal = ~SourceId{0};  // a line of the package itself: the caller's line is meant

struct Table {
  std::unordered_map<Place, SourceId, PlaceHash> ids;
  std::vector<Place> places;  // places[id - 1]
  std::unordered_map<PyCodeObject*, bool> internal;
  std::vector<std::string> package;  // folders of the package
  nb::ft_mutex mutex;
};
Table& table() {
  static Table* t = new Table;  // never destroyed: threads may still ask at exit
  return *t;
}

// The places seen last, by hash. Filled and read under the GIL, or per thread where there is none.
struct Seen {
  Place place;
  SourceId id;
};
constexpr size_t kSeen = 1024;
#ifdef Py_GIL_DISABLED
thread_local Seen seen[kSeen];
#else
Seen seen[kSeen];
#endif

void find_package(Table& t) {
  nb::object package = nb::steal(PyImport_GetModule(nb::str("slipstream").ptr()));
  if (!package.is_valid()) {
    PyErr_Clear();
    return;
  }
  nb::object path = nb::getattr(package, "__path__", nb::tuple());
  for (nb::handle folder : path) t.package.push_back(std::string(nb::str(folder).c_str()) + "/");
}

bool is_internal(Table& t, PyCodeObject* code) {
  auto found = t.internal.find(code);
  if (found != t.internal.end()) return found->second;
  if (t.package.empty()) find_package(t);
  std::string_view file = PyUnicode_AsUTF8(code->co_filename) ? PyUnicode_AsUTF8(code->co_filename) : "";
  bool internal = false;
  for (const std::string& folder : t.package) internal |= file.starts_with(folder);
  Py_INCREF(code);
  t.internal.emplace(code, internal);
  return internal;
}

SourceId intern(Place place, bool even_internal) {
  Table& t = table();
  nb::ft_lock_guard lock(t.mutex);
  if (!even_internal && is_internal(t, place.code)) return kInternal;
  auto [it, is_new] = t.ids.try_emplace(place, static_cast<SourceId>(t.places.size() + 1));
  if (is_new) {
    Py_INCREF(place.code);
    t.places.push_back(place);
  }
  return it->second;
}

Place place_of(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  Place place{code, PyFrame_GetLasti(frame)};
  Py_DECREF(code);  // the frame holds it
  return place;
}

// Of the running frame; without code where none runs.
Place running_place() {
#ifdef SLIP_FRAMES_KNOWN
  PyThreadState* thread = _PyThreadState_UncheckedGet();
  const _PyInterpreterFrame* frame = thread ? thread->cframe->current_frame : nullptr;
  if (!frame) return {nullptr, 0};
  PyCodeObject* code = frame->f_code;
  auto bytes = [](const _Py_CODEUNIT* at) { return reinterpret_cast<const char*>(at); };
  return {code, static_cast<int>(bytes(frame->prev_instr) - bytes(_PyCode_CODE(code)))};
#else
  PyFrameObject* frame = PyEval_GetFrame();
  return frame ? place_of(frame) : Place{nullptr, 0};
#endif
}

Seen& seen_as(Place place) { return seen[PlaceHash()(place) % kSeen]; }

SourceId lookup(Place place) {
  Seen& entry = seen_as(place);
  if (entry.place == place) return entry.id;
  SourceId id = intern(place, false);
  entry = {place, id};
  return id;
}

// A place not seen before, or the nearest caller outside the package; the innermost line where there is none.
[[gnu::noinline]] SourceId lookup_callers(Place innermost) {
  if (SourceId id = lookup(innermost); id != kInternal) return id;
  PyFrameObject* frame = PyEval_GetFrame();
  PyFrameObject* at = frame ? PyFrame_GetBack(frame) : nullptr;
  SourceId id = kInternal;
  while (at && id == kInternal) {
    id = lookup(place_of(at));
    PyFrameObject* back = PyFrame_GetBack(at);
    Py_DECREF(at);
    at = back;
  }
  Py_XDECREF(at);
  return id == kInternal ? intern(innermost, true) : id;
}

}  // namespace

// The core asks on threads that run Python, or did until they lent the GIL.
SourceId current_source() {
  if (gil_is_lent) return 0;
  Place place = running_place();
  if (!place.code) return 0;
  const Seen& entry = seen_as(place);
  if (entry.place == place && entry.id != kInternal) return entry.id;
  return lookup_callers(place);
}

bool locate(SourceId source, Location* location) {
  Table& t = table();
  nb::ft_lock_guard lock(t.mutex);
  if (source == 0 || source > t.places.size()) return false;
  Place place = t.places[source - 1];
  const char* file = PyUnicode_AsUTF8(place.code->co_filename);
  const char* function = PyUnicode_AsUTF8(place.code->co_qualname);
  PyErr_Clear();
  *location = {file ? file : "?", PyCode_Addr2Line(place.code, place.offset), function ? function : "?"};
  return true;
}

std::string describe_location(SourceId source) {
  Location at;
  if (!locate(source, &at)) return "";
  return at.file + ", line " + std::to_string(at.line) + ", in " + at.function;
}

void bind_source(nb::module_& m) {
  m.def(
      "current_source",
      []() -> nb::object {
        Location at;
        if (!locate(current_source(), &at)) return nb::none();
        return nb::make_tuple(at.file, at.line, at.function);
      },
      "File, line and function of the caller, as a call recorded here would note them.");
}

}  // namespace slipstream::python
