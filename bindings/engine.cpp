// The engine's functions: waits, settings, figures, traces, exit.

#include "../core/engine/engine.h"

#include <pthread.h>

#include "../core/cpu/dispatch.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// ---- what the front end lends the engine

pthread_t main_thread;

void poll_signals() {
  Gil gil;
  if (PyErr_CheckSignals() < 0) nb::raise_python_error();
}
bool on_main_thread() { return pthread_equal(pthread_self(), main_thread); }

void lend_front_end() {
  main_thread = static_cast<pthread_t>(
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident")));
  pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });
  engine::set_front_end({.enter_blocking = release_gil,
                         .leave_blocking = retake_gil,
                         .poll = poll_signals,
                         .must_poll = on_main_thread,
                         .source = current_source});
}

// ---- waits

nb::object exceptions_of(const std::vector<FailurePtr>& failures) {
  nb::list list;
  for (const FailurePtr& f : failures) {
    nb::object e = exception_of(f);
    bool listed = false;  // several results may carry one exception
    for (nb::handle other : list) listed |= other.is(e);
    if (!listed) list.append(e);
  }
  return list;
}

void wait_all() {
  engine::wait_all();
  std::vector<FailurePtr> failures = engine::take_failures();
  if (failures.empty()) return;
  nb::object list = exceptions_of(failures);
  std::string text = std::to_string(nb::len(list)) + (nb::len(list) == 1 ? " operation failed" : " operations failed");
  nb::object group = nb::module_::import_("builtins").attr("BaseExceptionGroup")(text, list);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(group.ptr())), group.ptr());
  nb::raise_python_error();
}

// ---- exit

void print_unobserved() {
  std::vector<FailurePtr> failures = engine::take_failures();
  if (failures.empty()) return;
  PySys_WriteStderr("slipstream: %zu operation%s failed and nobody read the result:\n", failures.size(),
                    failures.size() == 1 ? "" : "s");
  nb::object print = nb::module_::import_("traceback").attr("print_exception");
  for (nb::handle e : exceptions_of(failures)) print(e);
}

void shut_down(double seconds) {
  begin_exit();
  {
    NoGil released;
    engine::shutdown(seconds);
  }
  print_unobserved();
  forbid_python();
}

// ---- settings and figures

std::string kind_name_of(engine::EngineKind kind) { return kind == engine::EngineKind::sync ? "sync" : "async"; }

void set_kind(const std::string& kind) {
  if (kind != "sync" && kind != "async")
    fail(ErrorKind::value, "engine: kind is '", kind, "', but must be 'sync' or 'async'");
  NoGil released;
  engine::set_engine_kind(kind == "sync" ? engine::EngineKind::sync : engine::EngineKind::async);
}

nb::dict limits_dict() {
  engine::Limits l = engine::limits();
  nb::dict d;
  d["ops"] = l.ops;
  d["bytes"] = l.bytes;
  d["memory"] = l.memory;
  d["cache"] = l.cache;
  return d;
}

void set_limits(std::optional<int64_t> ops, std::optional<int64_t> bytes, std::optional<int64_t> memory,
                std::optional<int64_t> cache) {
  engine::Limits l = engine::limits();
  l.ops = ops.value_or(l.ops);
  l.bytes = bytes.value_or(l.bytes);
  l.memory = memory.value_or(l.memory);
  l.cache = cache.value_or(l.cache);
  engine::set_limits(l);
}

nb::dict planning_dict() {
  engine::Planning p = engine::planning();
  nb::dict d;
  d["batch"] = p.batch;
  d["bulk"] = p.bulk;
  d["fuse"] = p.fuse;
  d["skip"] = p.skip;
  return d;
}

void set_planning(std::optional<int> batch, std::optional<int> bulk, std::optional<bool> fuse,
                  std::optional<bool> skip) {
  engine::Planning p = engine::planning();
  p.batch = batch.value_or(p.batch);
  p.bulk = bulk.value_or(p.bulk);
  p.fuse = fuse.value_or(p.fuse);
  p.skip = skip.value_or(p.skip);
  engine::set_planning(p);
}

nb::dict stats_dict() {
  engine::Stats s = engine::stats();
  nb::dict d;
  d["recorded"] = s.recorded;
  d["executed"] = s.executed;
  d["fused"] = s.fused;
  d["skipped"] = s.skipped;
  d["in_flight_ops"] = s.in_flight_ops;
  d["in_flight_bytes"] = s.in_flight_bytes;
  d["peak_ops"] = s.peak_ops;
  d["peak_bytes"] = s.peak_bytes;
  d["stalls"] = s.stalls;
  d["stalled_seconds"] = s.stalled_seconds;
  return d;
}

nb::dict memory_dict() {
  engine::MemoryStats s = engine::memory();
  nb::dict d;
  d["in_use"] = s.in_use;
  d["cached"] = s.cached;
  d["peak"] = s.peak;
  return d;
}

nb::dict event_dict(const engine::Event& e) {
  static const char* const types[] = {"record", "run", "wait"};
  nb::dict d;
  d["type"] = types[e.type];
  d["lane"] = e.lane;
  d["name"] = e.name;
  d["shapes"] = e.shapes;
  Location at;
  d["source"] = locate(e.source, &at) ? nb::object(nb::make_tuple(at.file, at.line, at.function)) : nb::none();
  d["sequence"] = e.sequence;
  d["calls"] = nb::cast(e.calls);
  d["after"] = nb::cast(e.after);
  d["recorded_ns"] = e.recorded_ns;
  d["ready_ns"] = e.ready_ns;
  d["start_ns"] = e.start_ns;
  d["end_ns"] = e.end_ns;
  d["chunks"] = e.chunks;
  d["failed"] = e.failed;
  return d;
}

nb::list stop_trace() {
  nb::list events;
  for (const engine::Event& e : engine::stop_trace()) events.append(event_dict(e));
  return events;
}

// Runs an engine function that may wait, without the GIL.
template <auto F>
auto unlocked() {
  NoGil released;
  return F();
}

}  // namespace

void bind_engine(nb::module_& m) {
  lend_front_end();
  m.def("wait_all", &wait_all, "Waits for everything; raises all failures that nobody read, as an ExceptionGroup.");
  m.def("engine_sequence", &engine::sequence, "Number of the last recorded call.");
  m.def("engine_wait_until", &engine::wait_until, nb::arg("sequence"), "Waits for every call up to a number.");

  m.def("engine_kind", [] { return kind_name_of(engine::engine_kind()); });
  m.def("engine_set_kind", &set_kind, nb::arg("kind"));
  m.def("engine_workers", &engine::workers);
  m.def(
      "engine_set_workers",
      [](int n) {
        NoGil released;
        engine::set_workers(n);
      },
      nb::arg("n"));
  m.def("engine_limits", &limits_dict);
  m.def("engine_set_limits", &set_limits, nb::kw_only(), nb::arg("ops") = nb::none(), nb::arg("bytes") = nb::none(),
        nb::arg("memory") = nb::none(), nb::arg("cache") = nb::none());
  m.def("engine_planning", &planning_dict);
  m.def("engine_set_planning", &set_planning, nb::kw_only(), nb::arg("batch") = nb::none(),
        nb::arg("bulk") = nb::none(), nb::arg("fuse") = nb::none(), nb::arg("skip") = nb::none());
  m.def("engine_fail_allocations", &engine::fail_allocations, nb::arg("every"),
        "Every n-th allocation fails; 0: none.");

  m.def("engine_stats", &stats_dict);
  m.def("engine_reset_peaks", &engine::reset_peaks);
  m.def("engine_memory", &memory_dict);
  m.def("engine_empty_cache", &unlocked<engine::empty_cache>);
  m.def("engine_start_trace", &engine::start_trace);
  m.def("engine_stop_trace", &stop_trace, "What happened since start_trace, a list of dicts.");
  m.def("engine_tracing", &engine::tracing);
  m.def("engine_explain", &engine::explain);

  m.def("isa", &cpu::isa, "Instruction set of the vector loops.");
  m.def("set_isa", [](const std::string& name) { cpu::choose_isa(name.c_str()); }, nb::arg("name"));
  m.def("engine_generation", &engine::generation);
  m.def("engine_inside_task", &engine::inside_task);
  m.def("quiesce", &unlocked<engine::quiesce>, "Before a fork: waits until nothing runs; False inside a host call.");
  m.def("shutdown", &shut_down, nb::arg("seconds"), "At exit: ends the engine and prints failures that nobody read.");
}

}  // namespace slipstream::python
