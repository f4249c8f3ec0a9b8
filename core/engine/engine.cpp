// The functions of engine.h, and the runtime behind them.
#include "engine.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "execute.h"
#include "runtime.h"
#include "weight.h"

namespace slipstream::engine {

namespace {

// The failure of an array that was being computed when the process forked.
FailurePtr forked_failure() {
  auto failure = std::make_shared<Failure>();
  failure->op = "fork";
  failure->message = "this array was still being computed when the process forked; its value is in the parent only";
  failure->observed = true;
  return failure;
}

void raise_to(std::atomic<int64_t>& peak, int64_t value) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void raise_failure(Runtime& runtime, const Storage& storage) {
  if (FailurePtr failure = storage.failure()) {
    if (!failure->observed.exchange(true)) runtime.failures.forget_observed();
    throw FailedResult(failure);
  }
}

void trace_wait(Runtime& runtime, const char* what, int64_t start, SourceId source, const View* array = nullptr) {
  Event event{};
  event.type = Event::wait;
  event.lane = current_lane();
  event.name = what;
  if (array) event.shapes = describe_shape(*array);
  event.source = source;
  event.recorded_ns = event.ready_ns = event.start_ns = start;
  event.end_ns = now_ns();
  runtime.tracer.add(std::move(event));
}

SourceId current_source(const Runtime& runtime) { return runtime.front_end.source ? runtime.front_end.source() : 0; }

// Results are not ready from here on.
void expect_writes(Runtime& runtime, Record& call) {
  for (Operand& output : call.outputs) {
    Storage& storage = *output.storage();
    storage.generation.store(runtime.generation, std::memory_order_relaxed);
    if (call.in_place)
      storage.pending_writes.fetch_add(1, std::memory_order_relaxed);
    else
      storage.add_first_write();
  }
}

// Threads of the front end wait for their turn without keeping each other from running, until the user interrupts.
using Turn = std::unique_lock<std::recursive_timed_mutex>;
Turn take_turn(Runtime& runtime) {
  constexpr auto kPoll = std::chrono::milliseconds(20);
  Turn turn(runtime.sync_mutex, std::try_to_lock);
  if (turn) return turn;
  const FrontEnd& front_end = runtime.front_end;
  bool must_poll = front_end.must_poll && front_end.must_poll();
  Runtime::Blocking blocking(runtime);
  while (!turn.try_lock_until(std::chrono::system_clock::now() + kPoll))
    if (must_poll) front_end.poll();
  return turn;
}

// Runs a call inside record(). What it writes is ready until its turn comes: the call that runs may wait for it.
void run_now(Runtime& runtime, Record& call) {
  Turn turn;
  try {
    turn = take_turn(runtime);
  } catch (...) {
    runtime.retire(call);
    throw;
  }
  expect_writes(runtime, call);
  int64_t start = runtime.tracer.on() ? now_ns() : 0;
  Event event{};
  if (start) {
    event.type = Event::run;
    event.name = call.op->name;
    event.shapes = describe_shapes(call);
    event.source = call.source;
    event.sequence = call.sequence;
    event.calls = {call.sequence};
    event.recorded_ns = event.ready_ns = event.start_ns = start;
    event.chunks = 1;
  }
  event.failed = run_whole(runtime, call);
  if (start) {
    event.lane = current_lane();
    event.end_ns = now_ns();
    runtime.tracer.add(std::move(event));
  }
}

// A forked or sync-engine array is ready or being computed by another thread of the front end right now.
void wait_for_turn(Runtime& runtime) { take_turn(runtime); }

// Until every write of the storage recorded so far is done. Another thread may record a new one meanwhile, so look
// again.
void wait_for(Runtime& runtime, Storage& storage, const View& array, const char* why) {
  while (storage.pending_writes.load(std::memory_order_acquire) != 0) {
    int64_t start = runtime.tracer.on() ? now_ns() : 0;
    SourceId source = start ? current_source(runtime) : 0;
    std::vector<Ref<Task>> ready;
    if (runtime.kind.load(std::memory_order_relaxed) == EngineKind::sync) {
      wait_for_turn(runtime);
      if (runtime.ended.load() && storage.pending_writes.load(std::memory_order_acquire) != 0)
        fail(ErrorKind::runtime, "the array was still being computed when the interpreter exited");
    } else if (!runtime.pool.run_at_once(storage, ready)) {
      Runtime::Blocking blocking(runtime);
      runtime.pool.help_with(storage, std::move(ready));
    }
    if (start) trace_wait(runtime, why, start, source, &array);
  }
}

}  // namespace

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// ---- runtime -------------------------------------------------------------------------------------------------------

SharedLimits::SharedLimits() {
  Limits limits;
  int64_t memory = machine_memory();
  limits.bytes = std::clamp<int64_t>(memory / 8, 256 << 20, 4LL << 30);
  limits.memory = memory - memory / 10;
  limits.cache = memory / 4;
  store(limits);
}

constinit std::atomic<Runtime*> Runtime::the_runtime{nullptr};

Runtime& Runtime::make() {
  static std::mutex making;
  std::lock_guard hold(making);
  if (!the_runtime) the_runtime = new Runtime();
  return *the_runtime;
}

Runtime::Runtime() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(fork_prepare, fork_parent, fork_child); });
}

// The planner must not be in the middle of a storage's list of users when the process is copied.
void Runtime::fork_prepare() { get().planner.mutex.lock(); }
void Runtime::fork_parent() { get().planner.mutex.unlock(); }

// The child has none of the threads: it gets a new runtime with the same settings. The old one is left as it is.
void Runtime::fork_child() {
  Runtime& old = get();
  auto* fresh = new Runtime();
  fresh->kind = old.kind.load();
  fresh->front_end = old.front_end;
  fresh->limits.store(old.limits.load());
  fresh->allocator.inherit(old.allocator);
  fresh->planner.inherit(old.planner);
  fresh->pool.inherit(old.pool);
  fresh->stream.inherit(old.stream);
  fresh->generation = old.generation + 1;
  the_runtime.store(fresh, std::memory_order_release);
}

void Runtime::take_from_parent(Storage& storage) {
  if (storage.pending_writes.exchange(0) > 0) storage.set_failure(forked_failure());
  storage.generation.store(generation, std::memory_order_relaxed);
}

void Runtime::admit(const Record& call) {
  int64_t bytes = new_bytes(call), ops = ops_in_flight();
  // A host call that records more must not wait for itself to end.
  if (ops > 0 && (ops >= limits.ops() || bytes_in_flight() + bytes > limits.bytes()) && !Pool::inside_task())
    stall(bytes);
  raise_to(counters.peak_ops, ops_in_flight() + 1);
  raise_to(counters.peak_bytes, bytes_in_flight() + bytes);
}

void Runtime::retire(int64_t calls) { counters.retired.fetch_add(calls, std::memory_order_relaxed); }

void leave_flight(const Storage& storage) {
  Runtime& runtime = Runtime::get();
  if (storage.generation.load(std::memory_order_relaxed) == runtime.generation)
    runtime.counters.returned_bytes.fetch_add(static_cast<int64_t>(storage.nbytes), std::memory_order_relaxed);
}

// The stream is full: help until there is room again, with some to spare so that not every call stalls. Tasks are
// waited for many at once: a thread that begins or ends to help takes or leaves a worker's place.
void Runtime::stall(int64_t bytes) {
  int64_t start = now_ns();
  counters.stalls.fetch_add(1, std::memory_order_relaxed);
  struct Stopwatch {
    Runtime& runtime;
    int64_t start;
    ~Stopwatch() {
      runtime.counters.stalled_ns.fetch_add(now_ns() - start, std::memory_order_relaxed);
      if (runtime.tracer.on()) trace_wait(runtime, "stream is full", start, 0);
    }
  } stopwatch{*this, start};
  Blocking blocking(*this);
  constexpr int kSpare = 8;  // one of so many parts
  auto is_full = [&] {
    int64_t held = bytes_in_flight(), room = limits.bytes() - bytes;
    return ops_in_flight() > limits.ops() - std::max<int64_t>(1, limits.ops() / kSpare) ||
           (held > 0 && held > std::min(room, limits.bytes() - limits.bytes() / 4));
  };
  while (is_full()) {
    pool.start();
    pool.plan();
    if (std::vector<Ref<Task>> oldest = planner.oldest_unfinished(kSpare); !oldest.empty())
      pool.help_until_done(std::move(oldest));
    else if (planner.is_dropping())
      std::this_thread::yield();
    else
      break;
  }
}

// ---- stream and failures -------------------------------------------------------------------------------------------

// Under the lock, so that it needs no atomic additions. A result is in flight until the last call that uses it is done:
// before that its memory cannot go back, even if nobody else can name it.
void Stream::count_locked(Record& call) {
  call.sequence = sequence() + 1;
  sequence_.store(call.sequence, std::memory_order_relaxed);
  int64_t bytes = new_bytes(call);
  if (bytes == 0) return;
  bytes_.store(brought() + bytes, std::memory_order_relaxed);
  for (const Operand& output : call.outputs) output.storage()->in_flight.store(true, std::memory_order_relaxed);
}

// A worker that turns away from a stream with calls in it sees to it that another looks (Pool::watch). So only the
// first call must be seen by whoever looked before it came.
uint64_t Stream::append(Record&& call, bool trifle) {
  std::lock_guard hold(lock_);
  if (!trifle && only_trifles_.load(std::memory_order_relaxed)) only_trifles_.store(false, std::memory_order_relaxed);
  count_locked(call);
  uint64_t number = call.sequence;
  calls_.push_back(std::move(call));
  size_.store(calls_.size(), calls_.size() == 1 ? std::memory_order_seq_cst : std::memory_order_release);
  return number;
}

bool Stream::take(Calls& into) {
  std::lock_guard hold(lock_);
  into.swap(calls_);
  size_.store(0, std::memory_order_relaxed);
  return only_trifles_.exchange(true, std::memory_order_relaxed);
}

void Stream::give_back(std::span<Record> last) {
  std::lock_guard hold(lock_);
  calls_.insert(calls_.begin(), std::make_move_iterator(last.begin()), std::make_move_iterator(last.end()));
  size_.store(calls_.size(), std::memory_order_seq_cst);
  only_trifles_.store(false, std::memory_order_relaxed);
}

void Failures::add(FailurePtr failure) {
  std::lock_guard hold(mutex_);
  if (!closed_) list_.push_back(std::move(failure));
}

// Looks at all of them only when there are twice as many as it left the last time.
void Failures::forget_observed() {
  std::vector<FailurePtr> observed;  // they go after the lock is released
  std::lock_guard hold(mutex_);
  if (list_.size() <= 2 * left_) return;
  auto is_news = [](const FailurePtr& failure) { return !failure->observed.load(); };
  auto first = std::stable_partition(list_.begin(), list_.end(), is_news);
  observed.assign(std::make_move_iterator(first), std::make_move_iterator(list_.end()));
  list_.erase(first, list_.end());
  left_ = list_.size();
}

void Failures::close() {
  std::lock_guard hold(mutex_);
  closed_ = true;
}

std::vector<FailurePtr> Failures::take() {
  std::vector<FailurePtr> all, unseen;
  {
    std::lock_guard hold(mutex_);
    all.swap(list_);
    left_ = 0;
  }
  for (FailurePtr& failure : all)
    if (!failure->observed.exchange(true)) unseen.push_back(std::move(failure));
  return unseen;
}

// ---- record --------------------------------------------------------------------------------------------------------

SourceId source() { return current_source(Runtime::get()); }

namespace {

// Before a call writes into what existed before. True: others see that memory, so the call is done before it returns.
bool begin_write(Runtime& runtime, const Record& call, const Operand& output) {
  Storage& storage = *output.storage();
  if (storage.read_only)
    fail(ErrorKind::value, call.op->name, ": the array is read-only; its memory is another library's. Copy it first");
  runtime.adopt(storage);
  storage.note_write(call.source, output);
  return (storage.lent.load(std::memory_order_relaxed) | storage.lent_writable.load(std::memory_order_relaxed)) > 0;
}

// To the stream, or where that is better, runs it here. Gives the number of the call.
uint64_t pass(Runtime& runtime, Record&& call, bool tracing) {
  if (runtime.kind.load(std::memory_order_relaxed) == EngineKind::sync) {
    runtime.stream.count(call);
    run_now(runtime, call);
    return call.sequence;
  }
  expect_writes(runtime, call);
  Weight weight = weigh(call);
  if (!tracing && runtime.pool.runs_at_once(weight) && runtime.planner.run_recorded(call)) return call.sequence;
  uint64_t number = runtime.stream.append(std::move(call), weight == Weight::trifle);
  runtime.pool.notice(weight == Weight::heavy);
  return number;
}

void pass_traced(Runtime& runtime, Record&& call) {
  Event event{};
  event.type = Event::record;
  event.lane = current_lane();
  event.name = call.op->name;
  event.shapes = describe_shapes(call);
  event.source = call.source;
  event.start_ns = event.recorded_ns = call.recorded_ns = now_ns();
  event.sequence = pass(runtime, std::move(call), true);
  event.end_ns = now_ns();
  runtime.tracer.add(std::move(event));
}

void hand_over(Runtime& runtime, Record&& call) {
  if (runtime.tracer.on())
    pass_traced(runtime, std::move(call));
  else
    pass(runtime, std::move(call), false);
}

}  // namespace

SourceId record(Record&& call) {
  Runtime& runtime = Runtime::get();
  SourceId source = call.source = current_source(runtime);
  call.recorded_in = Pool::running_call();
  bool at_once = false;
  for (Operand& input : call.inputs) {
    if (input.is_scalar()) continue;
    runtime.adopt(*input.storage());
    at_once |= input.storage()->lent_writable.load(std::memory_order_relaxed) > 0;
  }
  if (call.in_place)
    for (Operand& output : call.outputs) at_once |= begin_write(runtime, call, output);
  runtime.admit(call);
  if (!at_once) {
    hand_over(runtime, std::move(call));
    return source;
  }
  SmallVec<Operand, 1> wanted = call.outputs;
  hand_over(runtime, std::move(call));
  for (const Operand& output : wanted) wait_for(runtime, *output.storage(), output, "memory lent to others");
  return source;
}

// ---- wait ----------------------------------------------------------------------------------------------------------

bool is_ready(const Array& array) {
  Runtime::get().adopt(*array.storage());
  return array.storage()->pending_writes.load(std::memory_order_acquire) == 0;
}

void wait(const Array& array) {
  Runtime& runtime = Runtime::get();
  runtime.adopt(*array.storage());
  runtime.pool.note_wait();
  if (!holds(array)) wait_for(runtime, *array.storage(), array, "wait_to_read");
  raise_failure(runtime, *array.storage());
}

uint64_t sequence() { return Runtime::get().stream.sequence(); }

void wait_until(uint64_t up_to) {
  Runtime& runtime = Runtime::get();
  if (runtime.kind.load(std::memory_order_relaxed) == EngineKind::sync) return wait_for_turn(runtime);
  runtime.pool.note_wait();
  int64_t start = runtime.tracer.on() ? now_ns() : 0;
  SourceId source = start ? current_source(runtime) : 0;
  Runtime::Blocking blocking(runtime);
  runtime.pool.plan();
  std::vector<Ref<Task>> tasks = runtime.planner.unfinished(up_to);
  if (Pool::inside_task()) Pool::keep_waitable(tasks);
  runtime.pool.help_until_done(std::move(tasks));
  // Then memory is what live arrays need. (Not for ever: what is dropped may itself wait.)
  for (int i = 0; i < 1000 && runtime.planner.is_dropping(); i++) std::this_thread::yield();
  if (start) trace_wait(runtime, "waitall", start, source);
}

void wait_all() { wait_until(sequence()); }

std::vector<FailurePtr> take_failures() { return Runtime::get().failures.take(); }

void set_front_end(const FrontEnd& front_end) { Runtime::get().front_end = front_end; }

// ---- settings ------------------------------------------------------------------------------------------------------

EngineKind engine_kind() { return Runtime::get().kind; }

void set_engine_kind(EngineKind kind) {
  wait_all();
  Runtime::get().kind = kind;
}

int workers() { return Runtime::get().pool.workers(); }

void set_workers(int n) {
  if (n < 1) fail(ErrorKind::value, "set_workers: at least 1 worker is needed, not ", n);
  if (n > 1024) fail(ErrorKind::value, "set_workers: at most 1024 workers, not ", n);
  if (inside_task()) fail(ErrorKind::runtime, "set_workers: not inside a host call");
  wait_all();  // what is running ends before the threads do, and this wait can be interrupted
  Runtime& runtime = Runtime::get();
  Runtime::Blocking blocking(runtime);
  runtime.pool.set_workers(n);
}

Limits limits() { return Runtime::get().limits.load(); }

void set_limits(const Limits& limits) {
  if (limits.ops < 1) fail(ErrorKind::value, "limits: ops must be at least 1, not ", limits.ops);
  if (limits.bytes < 1) fail(ErrorKind::value, "limits: bytes must be at least 1, not ", limits.bytes);
  if (limits.memory < 0) fail(ErrorKind::value, "limits: memory must not be negative: ", limits.memory);
  if (limits.cache < 0) fail(ErrorKind::value, "limits: cache must not be negative: ", limits.cache);
  Runtime::get().limits.store(limits);
}

Planning planning() { return Runtime::get().planner.settings(); }
void set_planning(const Planning& planning) { Runtime::get().planner.set(planning); }
void fail_allocations(int64_t every) { Runtime::get().allocator.fail_every(every); }

// ---- observe -------------------------------------------------------------------------------------------------------

Stats stats() {
  Counters& c = Runtime::get().counters;
  const Runtime& r = Runtime::get();
  return {r.stream.recorded(), c.executed, c.fused,      c.skipped, r.ops_in_flight(),
          r.bytes_in_flight(), c.peak_ops, c.peak_bytes, c.stalls,  static_cast<double>(c.stalled_ns) * 1e-9};
}

void reset_peaks() {
  Counters& c = Runtime::get().counters;
  c.peak_ops = Runtime::get().ops_in_flight();
  c.peak_bytes = Runtime::get().bytes_in_flight();
  Runtime::get().allocator.reset_peak();
}

MemoryStats memory() { return Runtime::get().allocator.stats(); }
void empty_cache() { Runtime::get().allocator.empty_cache(); }
void start_trace() { Runtime::get().tracer.start(); }
std::vector<Event> stop_trace() { return Runtime::get().tracer.stop(); }
bool tracing() { return Runtime::get().tracer.on(); }
std::string explain() { return Runtime::get().planner.explain(); }

// ---- life and death ------------------------------------------------------------------------------------------------

void shutdown(double seconds) {
  Runtime& runtime = Runtime::get();
  if (runtime.kind == EngineKind::sync) return;
  int64_t deadline = now_ns() + static_cast<int64_t>(seconds * 1e9);
  Runtime::Blocking blocking(runtime);
  runtime.pool.plan();
  std::vector<Ref<Task>> tasks = runtime.planner.unfinished(UINT64_MAX), observable;
  for (const Ref<Task>& task : tasks)
    if ((task->flags & (kObservable | kMayFail)) || task->recorded_in)  // a failure is to be seen too; and a host
      observable.push_back(task);                                        // call may wait for what it recorded
  runtime.pool.abandon_all_but(tasks, observable);
  try {
    runtime.pool.help_until_done(std::move(observable), deadline);
  } catch (...) {  // Ctrl-C at exit: stop at once
  }
  runtime.failures.close();
  for (const Ref<Task>& task : tasks) task->abandoned.store(true, std::memory_order_relaxed);
  runtime.pool.stop(std::max(0.2, static_cast<double>(deadline - now_ns()) * 1e-9));
  runtime.ended = true;
  runtime.kind = EngineKind::sync;  // whatever runs after this (other exit handlers) still works
}

uint32_t generation() { return Runtime::get().generation; }

bool quiesce() {
  if (Pool::inside_task()) return false;
  wait_all();
  return true;
}

bool inside_task() { return Pool::inside_task(); }

bool holds(const Array& array) {
  for (const Task* task : Pool::running_here())
    for (const Record& call : task->steps)
      for (const Operand& input : call.inputs)
        if (input.storage() == array.storage() && (call.op->flags & kHost)) return true;
  return false;
}

}  // namespace slipstream::engine
