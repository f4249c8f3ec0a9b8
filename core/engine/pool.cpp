// Pool: the queues of what can run, how a task is run, and how a thread that waits takes part.
#include "pool.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>

#include "../program.h"
#include "execute.h"
#include "rows.h"
#include "runtime.h"
#include "tiles.h"

namespace slipstream::engine {

namespace {

constexpr size_t kTooManyCalls = 1024;  // so many the front end plans before it goes on
constexpr int kBlockedLong = 10;         // times that a wait looked and nothing had moved

thread_local std::vector<Task*> running;

}  // namespace

thread_local constinit int Pool::depth_ = 0;

struct Pool::RunningHere {
  explicit RunningHere(Task& task) {
    running.push_back(&task);
    depth_++;
  }
  ~RunningHere() {
    running.pop_back();
    depth_--;
  }
};

const std::vector<Task*>& Pool::running_here() { return running; }

// ---- queues --------------------------------------------------------------------------------------------------------

void Pool::note_ready() {
  work_left_.store(ready_.size(), std::memory_order_seq_cst);
  kept_.store(ready_.kept(), std::memory_order_relaxed);
}

void Pool::submit(std::vector<Ref<Task>>& ready) {
  if (ready.empty()) return;
  std::sort(ready.begin(), ready.end(), is_older);
  std::lock_guard hold(mutex_);
  int worth_waking = 0;
  bool all_brief = true;
  for (Ref<Task>& task : ready) {
    bool tiny = task->tiny;
    all_brief = all_brief && task->brief;
    if (ready_.add(std::move(task)) && !tiny) worth_waking++;
  }
  ready.clear();
  note_ready();
  wake_for(all_brief ? std::min(worth_waking, places()) : worth_waking);
}

// Under the lock: for sleepers, now. The front end needs one while it records, and while it helps: a worker more would
// only take turns with others. What is left to do when it does neither wakes the rest (run_something).
int Pool::places() {
  int taken = alive_ - asleep_.load(std::memory_order_relaxed) - napping_.load(std::memory_order_relaxed);
  int helpers = helpers_.load(std::memory_order_relaxed);
  int wanted = helpers == 0 && front_end_is_busy() ? std::max(1, workers() - 1) : workers() - helpers;
  return std::max(0, wanted - taken);
}

// Under the lock. Has it recorded anything of late?
bool Pool::front_end_is_busy() {
  uint64_t sequence = runtime_.stream.sequence();
  int64_t now = now_ns();
  if (sequence != seen_sequence_) moved_ns_ = now;
  seen_sequence_ = sequence;
  return now - moved_ns_ < kBusyNs;
}

// Under the lock. Tiny work waits for a worker that is awake, or for the thread that needs it.
void Pool::wake_for(int tasks) {
  if (tasks == 0 && watchers_.load(std::memory_order_seq_cst) == 0) tasks = 1;
  if (tasks > 0 && napping_.load(std::memory_order_relaxed)) {
    nap_.notify_one();
    tasks--;
  }
  if (tasks > 1) wake_.notify_all();
  if (tasks == 1)
    wake_one();
  else
    call_helpers();
}

bool Pool::claim(Task& task) {
  if (task.tiny && kept_.load(std::memory_order_relaxed) == 0) return task.claim();  // nobody waits behind it
  std::lock_guard hold(mutex_);
  if (!task.claim()) return false;
  ready_.begin(task);
  release_kept();
  return true;
}

void Pool::end(Task& task) {
  if (!task.at_front && kept_.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard hold(mutex_);
  ready_.end(task);
  release_kept();
}

// Under the lock, where the front moved: also where something began that may take any time.
void Pool::release_kept() {
  if (ready_.kept() == 0) return;
  bool any = ready_.release();
  note_ready();
  if (any) wake_for(1);
}

bool Pool::release(const std::vector<Ref<Task>>& needed, bool even_if_others_move) {
  if (kept_.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard hold(mutex_);
  bool any = ready_.release(needed, even_if_others_move);
  note_ready();
  if (any) call_helpers();
  return any;
}

void Pool::withdraw(const Task& task) {
  std::lock_guard hold(mutex_);
  ready_.withdraw(task);
  note_ready();
}

// Under the lock, so that whoever takes the last chunk withdraws after this.
void Pool::offer(Task& task, int phase) {
  {
    std::lock_guard hold(mutex_);
    ready_.offer(task);
    note_ready();
    task.cursor.store(static_cast<uint64_t>(phase + 1) << Task::kPhaseShift, std::memory_order_release);
    wake_.notify_all();
    nap_.notify_one();
  }
  if (task.urgent.load(std::memory_order_relaxed))
    wake_waiters();
  else
    call_helpers();
}

// ---- running -------------------------------------------------------------------------------------------------------

// Runs a claimed task, then one that became ready by it, and so on.
void Pool::run(Ref<Task> task, Wait* wait) {
  while (task) {
    if (running.empty()) watch(task->brief);
    bool may_cut = task->steps.size() == 1 || task->by_rows;
    if (may_cut && !task->abandoned.load(std::memory_order_relaxed) && start_task(*task)) {
      task = join(task, wait);
    } else {
      if (!task->steps.empty()) run_steps(*task);
      task = complete(*task, wait);
    }
    if (wait) poll_holding(*wait, task);
  }
}

// An interrupted wait gives the task that it was about to run back to the pool.
void Pool::poll_holding(Wait& wait, const Ref<Task>& claimed) {
  try {
    poll(wait);
  } catch (...) {
    if (claimed) {
      end(*claimed);
      claimed->state.store(Task::ready, std::memory_order_release);
      std::vector<Ref<Task>> back = {claimed};
      submit(back);
    }
    throw;
  }
}

// Prepares the only call of a task, or all that run by rows. True if it is cut into chunks that others may join; if
// not, an only call has been run.
bool Pool::start_task(Task& task) {
  RunningHere here(task);
  if (runtime_.tracer.on()) task.event = std::make_shared<Event>(run_event(task, 0));
  if (task.by_rows) {
    std::span steps(task.steps.begin(), static_cast<size_t>(task.steps.size()));
    auto kernel = is_tiled(steps[0]) ? make_tiles_kernel(steps) : make_rows_kernel(steps);
    return kernel && cut(task, kernel);
  }
  Record& call = task.steps[0];
  int64_t start = task.event ? now_ns() : 0;
  Prepared prepared = prepare(runtime_, call);
  if (prepared.kernel && cut(task, prepared.kernel)) return true;
  if (prepared.kernel) prepared.failure = run_kernel(runtime_, call, *prepared.kernel);
  prepared.kernel.reset();
  if (start) trace_run(*task.event, start, now_ns(), 1, prepared.failure != nullptr);
  conclude(runtime_, call, prepared.failure);
  task.steps.clear();
  return false;
}

// Opens the kernel's first phase to others, and takes it over, if it has several chunks.
bool Pool::cut(Task& task, std::unique_ptr<Kernel>& kernel) {
  bool parallel = false;
  task.chunk_counts.clear();
  for (int phase = 0, phases = kernel->phases(); phase < phases; phase++) {
    task.chunk_counts.push_back(kernel->chunks(phase));
    parallel |= task.chunk_counts[phase] > 1;
  }
  if (!parallel) return false;
  task.kernel = std::move(kernel);
  next_phase(task, -1);
  return true;
}

// Calls of a group, one after another on this thread.
void Pool::run_steps(Task& task) {
  static const FailurePtr* at_exit = [] {
    auto failure = std::make_shared<Failure>();
    failure->message = "dropped at exit of the interpreter";
    return new FailurePtr(failure);
  }();
  RunningHere here(task);
  for (int i = 0; i < task.steps.size(); i++) {
    Record& call = task.steps[i];
    if (task.abandoned.load(std::memory_order_relaxed)) {
      conclude(runtime_, call, *at_exit);
      continue;
    }
    if (!runtime_.tracer.on()) {
      run_whole(runtime_, call);
      continue;
    }
    Event event = run_event(task, i);
    int64_t start = now_ns();
    bool failed = run_whole(runtime_, call);
    trace_run(event, start, now_ns(), 1, failed);
  }
}

// Opens the first phase after `phase` that has chunks; false if there is none.
bool Pool::next_phase(Task& task, int phase) {
  while (++phase < task.chunk_counts.size()) {
    int64_t n = task.chunk_counts[phase];
    if (n == 0) continue;
    task.chunks_left.store(n, std::memory_order_relaxed);
    offer(task, phase);
    return true;
  }
  return false;
}

void Pool::run_chunk(Task& task, int phase, int64_t chunk) {
  if (task.chunk_failed.load(std::memory_order_relaxed)) return;
  try {
    task.kernel->run(phase, chunk);
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    if (!task.chunk_failed.exchange(true)) task.chunk_error = std::current_exception();
  }
}

// Runs chunks of a task until none is left or this thread has to go. Whoever runs the last chunk completes the task
// and gets the task to run next.
Ref<Task> Pool::join(const Ref<Task>& task, Wait* wait) {
  RunningHere here(*task);
  int64_t start = task->event ? now_ns() : 0, end = start, chunks = 0;
  while (true) {
    uint64_t ticket = task->cursor.fetch_add(1, std::memory_order_acq_rel);
    int phase = static_cast<int>(ticket >> Task::kPhaseShift) - 1;
    auto chunk = static_cast<int64_t>(ticket & Task::kChunkMask);
    int64_t count = task->chunk_counts[phase];
    if (chunk >= count) break;
    if (chunk == count - 1) withdraw(*task);  // nothing left to join
    run_chunk(*task, phase, chunk);
    chunks++;
    if (start) end = now_ns();  // before others may take the task for done
    if (task->chunks_left.fetch_sub(1, std::memory_order_acq_rel) == 1 && !next_phase(*task, phase)) {
      if (start) trace_run(*task->event, start, end, chunks, task->chunk_failed);
      end_parallel(*task);
      return complete(*task, wait);
    }
    if (wait)
      poll(*wait);
    else if (running.size() == 1 && !on_duty(current_lane()))
      break;
  }
  if (start && chunks) trace_run(*task->event, start, end, chunks, false);
  return {};
}

void Pool::end_parallel(Task& task) {
  task.kernel.reset();
  FailurePtr failure;
  if (task.chunk_failed) failure = to_failure(runtime_, task.steps[0], std::exchange(task.chunk_error, nullptr));
  for (Record& call : task.steps) {
    runtime_.counters.executed.fetch_add(call.calls, std::memory_order_relaxed);
    conclude(runtime_, call, failure);
  }
}

// The task is done: releases what it used and the tasks behind it. Gives one of those to run next, already claimed.
Ref<Task> Pool::complete(Task& task, Wait* wait) {
  task.steps.clear();
  std::vector<Ref<Task>> after = task.finish(), ready;
  Ref<Task> next;
  for (Ref<Task>& later : after) {
    if (later->blockers.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (runtime_.tracer.on()) later->ready_ns = now_ns();
    later->state.store(Task::ready, std::memory_order_release);
    bool mine = !next && may_run(*later, wait) && (!wait || wait->needed.contains(later.get()));
    if (!mine)
      ready.push_back(std::move(later));
    else if (claim(*later))
      next = std::move(later);
  }
  submit(ready);
  end(task);
  if (task.urgent.load(std::memory_order_seq_cst)) wake_waiters();
  return next;
}

// ---- tracing -------------------------------------------------------------------------------------------------------

Event Pool::run_event(const Task& task, int step) {
  const Record& call = task.steps[step];
  Event event{};
  event.type = Event::run;
  event.name = call_name(call);
  event.shapes = describe_shapes(call);
  event.source = call.source;
  event.sequence = call.sequence;
  event.calls = {call.sequence};
  auto number = static_cast<size_t>(step);
  if (number < task.after.size()) event.after = task.after[number];
  for (int i = 1; task.by_rows && i < task.steps.size(); i++) {
    event.name += ", " + call_name(task.steps[i]);
    event.calls.push_back(task.steps[i].sequence);
    if (auto more = static_cast<size_t>(i); more < task.after.size())
      event.after.insert(event.after.end(), task.after[more].begin(), task.after[more].end());
  }
  std::erase(event.after, event.sequence);  // steps by rows that read what an earlier one made
  event.recorded_ns = call.recorded_ns;
  event.ready_ns = task.ready_ns;
  return event;
}

void Pool::trace_run(Event event, int64_t start, int64_t end, int64_t chunks, bool failed) {
  event.lane = current_lane();
  event.start_ns = start;
  event.end_ns = end;
  event.chunks = chunks;
  event.failed = failed;
  runtime_.tracer.add(std::move(event));
}

// ---- waiting -------------------------------------------------------------------------------------------------------

void Pool::plan() {
  std::vector<Ref<Task>> ready;
  runtime_.planner.plan(ready);
  submit(ready);
}

// Calls that lie in the stream keep what they read and all that lies between them; tasks need far less.
void Pool::plan_here(size_t calls) {
  std::vector<Ref<Task>> ready;
  bool done = runtime_.planner.try_plan(ready, !runtime_.stream.only_trifles());
  submit(ready);
  if (done || calls < kTooManyCalls) return;
  Runtime::Blocking blocking(runtime_);
  plan();
}

bool Pool::run_at_once(Storage& wanted, std::vector<Ref<Task>>& ready) {
  size_t calls = runtime_.stream.size();
  if (calls == 0 || calls > kFewCalls || !runtime_.planner.try_run(ready)) return false;
  has_heavy_.store(false, std::memory_order_relaxed);
  return ready.empty() && wanted.pending_writes.load(std::memory_order_acquire) == 0;
}

bool Pool::may_run(const Task& task, const Wait* wait) const {
  if (!wait || is_worker()) return true;
  return !(task.flags & kHost) && !(wait->must_poll && (task.flags & kLong));
}

void Pool::wake_waiters() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  {
    std::lock_guard hold(wait_mutex_);
  }
  progress_.notify_all();
}

// There is something to do, for them or for the workers whose place they take.
void Pool::call_helpers() {
  if (idle_helpers_.load(std::memory_order_seq_cst) > 0) wake_waiters();
}

Pool::Wait Pool::new_wait() const {
  Wait wait;
  wait.must_poll = runtime_.front_end.must_poll && runtime_.front_end.must_poll();
  wait.next_poll_ns = wait.must_poll ? now_ns() + kPollNs : 0;
  return wait;
}

void Pool::poll(Wait& wait) {
  if (!wait.must_poll) return;
  int64_t now = now_ns();
  if (now < wait.next_poll_ns) return;
  wait.next_poll_ns = now + kPollNs;
  bool counted = wait.counted;  // what the front end does now may itself wait, for another thread or for its own work
  count_helper(wait, false);
  runtime_.front_end.poll();
  count_helper(wait, counted);
}

// While a waiting thread runs tasks, one worker steps back, so that there are never more busy threads than asked for.
void Pool::count_helper(Wait& wait, bool helping) {
  if (is_worker() || wait.counted == helping) return;
  wait.counted = helping;
  helpers_.fetch_add(helping ? 1 : -1, std::memory_order_acq_rel);
  if (!helping && (work_left_.load(std::memory_order_acquire) > 0 || runtime_.stream.size() > 0)) {
    std::lock_guard hold(mutex_);
    wake_.notify_all();
    nap_.notify_one();
  }
}

// Everything unfinished that these tasks need, oldest first, and the same as a set. From here on it is urgent.
std::vector<Ref<Task>> Pool::collect(std::vector<Ref<Task>> wanted, std::unordered_set<const Task*>& seen) {
  std::vector<Ref<Task>> needed, ready;
  while (!wanted.empty()) {
    Ref<Task> task = std::move(wanted.back());
    wanted.pop_back();
    if (!task || task->finished() || !seen.insert(task.get()).second) continue;
    if (std::find(running.begin(), running.end(), task.get()) != running.end())
      fail(ErrorKind::runtime,
           "waiting, inside a host call, for something that needs the result of that call, or waits for it");
    task->urgent.store(true, std::memory_order_seq_cst);
    if (task->state.load(std::memory_order_acquire) == Task::ready) ready.push_back(task);
    for (Ref<Task>& before : task->predecessors()) wanted.push_back(std::move(before));
    needed.push_back(std::move(task));
  }
  std::sort(needed.begin(), needed.end(), is_older);
  if (ready.size() > 1) submit(ready);  // again, into the urgent queue
  return needed;
}

void Pool::abandon_all_but(const std::vector<Ref<Task>>& tasks, const std::vector<Ref<Task>>& kept) {
  std::unordered_set<const Task*> needed;
  collect(kept, needed);
  for (const Ref<Task>& task : tasks)
    if (!needed.contains(task.get())) task->abandoned.store(true, std::memory_order_relaxed);
}

void Pool::keep_waitable(std::vector<Ref<Task>>& tasks) {
  uint64_t own = running_call();
  std::unordered_set<Task*> dependents;
  std::vector<Ref<Task>> open;
  for (Task* task : running) open.emplace_back(task);
  while (!open.empty()) {
    Ref<Task> task = std::move(open.back());
    open.pop_back();
    if (!dependents.insert(task.get()).second) continue;
    for (Ref<Task>& after : task->successors()) open.push_back(std::move(after));
  }
  std::erase_if(tasks, [&](const Ref<Task>& task) {
    return dependents.contains(task.get()) || (task->sequence > own && task->recorded_in != own);
  });
}

// Where there is one thing to begin with, the waiting thread does that itself instead of offering it around.
void Pool::help_with(Storage& wanted, std::vector<Ref<Task>>&& ready) {
  has_heavy_.store(false, std::memory_order_relaxed);
  runtime_.planner.plan(ready);
  Ref<Task> task = runtime_.planner.last_writer(wanted);
  if (!task || ready.size() != 1) submit(ready);
  if (task) help_until_done({task}, INT64_MAX, std::move(ready));
}

void Pool::run_held(std::vector<Ref<Task>>& held, Wait& wait) {
  if (held.empty()) return;
  Ref<Task> task = held[0];
  if (!wait.needed.contains(task.get()) || !may_run(*task, &wait)) return submit(held);
  held.clear();
  if (!claim(*task)) return;
  count_helper(wait, true);
  run(std::move(task), &wait);
}

bool Pool::help_until_done(std::vector<Ref<Task>> wanted, int64_t deadline_ns, std::vector<Ref<Task>> held) {
  Wait wait = new_wait();
  struct Uncount {
    Pool& pool;
    Wait& wait;
    ~Uncount() { pool.count_helper(wait, false); }
  } uncount{*this, wait};
  // Said before it looks at what others await: of host calls that wait for each other, the last one sees it.
  struct Awaited {
    size_t count;
    explicit Awaited(const std::vector<Ref<Task>>& tasks) : count(tasks.size()) {
      for (Task* task : running) task->await(tasks);
    }
    ~Awaited() {
      for (Task* task : running) task->await_no_more(count);
    }
  } awaited{wanted};

  std::vector<Ref<Task>> needed;
  try {
    needed = collect(std::move(wanted), wait.needed);
  } catch (...) {
    submit(held);
    throw;
  }
  run_held(held, wait);
  size_t first = 0;
  int blocked = 0;  // in vain, since something moved
  while (true) {
    uint64_t seen = epoch_.load(std::memory_order_seq_cst);
    while (first < needed.size() && needed[first]->finished()) first++;
    if (first == needed.size()) return true;
    if (now_ns() > deadline_ns) return false;
    if (help_once(needed, first, wait) || release(needed, blocked >= kBlockedLong))
      blocked = 0;
    else
      blocked = block(wait, seen) ? 0 : blocked + 1;
  }
}

// Runs one of the needed tasks, or chunks of one; false if others are at all of them.
bool Pool::help_once(const std::vector<Ref<Task>>& needed, size_t first, Wait& wait) {
  for (size_t i = first; i < needed.size(); i++) {
    const Ref<Task>& task = needed[i];
    if (task->finished() || task->kept.load(std::memory_order_relaxed) || !may_run(*task, &wait)) continue;
    if (claim(*task)) {
      count_helper(wait, true);
      run(task, &wait);
      return true;
    }
    if (task->has_chunks()) {
      count_helper(wait, true);
      run(join(task, &wait), &wait);
      return true;
    }
  }
  return false;
}

// Until something that somebody waits for moves on, but not for long. Did it? While nobody has anything to do, it stays
// among the helpers: a worker that came back for this while would be in its way when it goes on.
bool Pool::block(Wait& wait, uint64_t seen) {
  bool keeps_place = wait.counted;
  if (keeps_place) {
    idle_helpers_.fetch_add(1, std::memory_order_seq_cst);  // said before it looks
    if (work_left_.load(std::memory_order_seq_cst) > 0 || runtime_.stream.size() > 0) {
      idle_helpers_.fetch_sub(1, std::memory_order_relaxed);
      keeps_place = false;
      count_helper(wait, false);
    }
  }
  bool moved = sleep(seen);
  if (keeps_place) idle_helpers_.fetch_sub(1, std::memory_order_relaxed);
  poll(wait);
  return moved || epoch_.load(std::memory_order_relaxed) != seen;
}

bool Pool::sleep(uint64_t seen) {
  for (int i = 0; i < 256; i++) {
    if (epoch_.load(std::memory_order_relaxed) != seen) return true;
    cpu_pause();
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock hold(wait_mutex_);
    progress_.wait_for(hold, std::chrono::nanoseconds(kPollNs),
                       [&] { return epoch_.load(std::memory_order_seq_cst) != seen; });
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return epoch_.load(std::memory_order_relaxed) != seen;
}

}  // namespace slipstream::engine
