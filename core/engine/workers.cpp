// Pool's threads: how they start and leave, how they look for calls to plan and tasks to run, and how they sleep.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "pool.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

constexpr int64_t kHotNs = 100'000;            // an idle worker looks at the stream this long before it naps
constexpr int kPauses = 128;                  // between two looks: each costs the front end a cache miss
constexpr auto kNap = std::chrono::microseconds(100);
constexpr int64_t kWarmNs = 20'000'000;       // after this long without work it sleeps until it is woken
constexpr int64_t kQuietNs = 10'000;          // the stream is planned when nothing came for so long
constexpr int64_t kQuietTriflesNs = 100'000;   // or so long, if they are trifles
constexpr int kOften = 8;                     // so many short runs in a row are the program's habit
constexpr int64_t kShortRun = 32;             // calls between two waits
constexpr size_t kManyTrifles = 256;          // the front end runs so many itself, while they are in its cache
constexpr size_t kManyCalls = 256;            // or plans so many itself, if no worker has time to

thread_local bool is_worker_thread = false;
thread_local bool is_watching = false;  // this worker, counted among watchers_

int default_workers() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Pool::Pool(Runtime& runtime) : runtime_(runtime), target_(default_workers()) {}

bool Pool::is_worker() { return is_worker_thread; }

void Pool::start() {
  if (started_.load(std::memory_order_acquire)) return;
  std::lock_guard hold(mutex_);
  if (started_ || stopping_) return;
  int made = start_threads(workers());
  if (made == 0) fail(ErrorKind::runtime, "cannot start a worker: the system gives this process no more threads");
  alive_ += made;
  target_ = made;
  ready_.set_workers(made);
  started_.store(true, std::memory_order_release);
}

// As many as the system gives, at most n.
int Pool::start_threads(int n) {
  sigset_t all, before;  // signals belong to the front end's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int made = 0;
  try {
    for (; made < n; made++) std::thread([this, made, crew = crew_.load()] { work(made, crew); }).detach();
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

void Pool::stop(double seconds) {
  std::unique_lock hold(mutex_);
  stopping_ = true;
  nap_.notify_all();
  wake_.notify_all();
  ended_.wait_for(hold, std::chrono::duration<double>(seconds), [this] { return alive_ == 0; });
}

// Each worker leaves after the task that it is at, whatever else there is to do; then a new crew takes over. If that is
// too long for whoever waits for it, the new crew has the old size.
void Pool::set_workers(int n) {
  Wait wait = new_wait();
  std::unique_lock hold(mutex_);
  auto until = [&](auto condition) {
    while (!ended_.wait_for(hold, std::chrono::nanoseconds(kPollNs), condition)) {
      hold.unlock();
      poll(wait);
      hold.lock();
    }
  };
  until([this] { return !resizing_; });
  if (!started_) {
    target_ = n;
    return;
  }
  resizing_ = true;
  crew_++;
  nap_.notify_all();
  wake_.notify_all();
  auto take_over = [&](int size) {
    resizing_ = started_ = false;
    target_ = size;
    ended_.notify_all();
    hold.unlock();
    start();
  };
  try {
    until([this] { return alive_ == 0; });
  } catch (...) {
    hold.lock();
    take_over(workers());
    throw;
  }
  take_over(n);
}

void Pool::work(int index, int crew) {
  is_worker_thread = true;
  set_lane(index);
  int64_t idle_since = now_ns();
  while (crew == crew_.load(std::memory_order_relaxed)) {
    watch(true);
    if (on_duty(index) && (run_something() || watch_stream())) {
      idle_since = now_ns();
      continue;
    }
    if (&Runtime::get() != &runtime_) return;  // a child forked inside a host call: this thread's pool is the parent's
    std::unique_lock hold(mutex_);
    if (stopping_) break;
    hold.unlock();
    idle(index, crew, idle_since);
  }
  watch(false);
  std::lock_guard hold(mutex_);
  alive_--;
  ended_.notify_all();
}

bool Pool::run_something() {
  if (work_left_.load(std::memory_order_acquire) == 0) return false;
  bool joins = false;
  Ref<Task> task;
  {
    std::lock_guard hold(mutex_);
    task = ready_.next(joins);
    note_ready();
    release_kept();
    if (ready_.size() > 0 && asleep_.load(std::memory_order_relaxed) > 0 && places() > 0) wake_one();
  }
  if (!task) return false;
  if (joins) {
    watch(false);
    task = join(task, nullptr);
  }
  run(std::move(task), nullptr);
  return true;
}

// The last one to turn away from the stream leaves it, and what lies in the queues, to another. (A call that is
// recorded from here on sees that nobody watches.)
void Pool::watch(bool on) {
  if (!is_worker_thread || is_watching == on) return;
  is_watching = on;
  int before = watchers_.fetch_add(on ? 1 : -1, std::memory_order_seq_cst);
  if (on || before > 1) return;
  if (runtime_.stream.size() == 0 && work_left_.load(std::memory_order_seq_cst) == 0) return;
  if (asleep_.load(std::memory_order_seq_cst) == 0) return call_helpers();
  std::lock_guard hold(mutex_);
  wake_one();
}

// Is there something in the stream that a worker should look at? Where the front end waits for nearly everything it
// records, it plans that itself: workers only disturb, and look now and then.
bool Pool::stream_calls() const {
  size_t calls = runtime_.stream.size();
  return calls >= runtime_.planner.batch_size() || (calls > 0 && !is_lazy());
}

// Trifles are left to the front end while it records more of them.
bool Pool::is_batch() const {
  return runtime_.stream.size() >= runtime_.planner.batch_size() && !runtime_.stream.only_trifles();
}

bool Pool::waits_often() const {
  return short_runs_.load(std::memory_order_relaxed) >= kOften &&
         runtime_.stream.recorded() - recorded_at_wait_.load(std::memory_order_relaxed) <= kShortRun;
}

// Where the program waits for every call, there is nothing to plan it with and nobody to take it from.
bool Pool::runs_at_once(Weight weight) const {
  if (weight > Weight::modest || !waits_often()) return false;
  return weight <= Weight::trivial || single_runs_.load(std::memory_order_relaxed) >= kOften;
}

void Pool::note_wait() {
  int64_t recorded = runtime_.stream.recorded();
  int64_t calls = recorded - recorded_at_wait_.load(std::memory_order_relaxed);
  if (calls == 0) return;  // another result of the same calls
  recorded_at_wait_.store(recorded, std::memory_order_relaxed);
  int runs = short_runs_.load(std::memory_order_relaxed);
  short_runs_.store(calls > kShortRun ? 0 : std::min(runs + 1, kOften), std::memory_order_relaxed);
  int singles = single_runs_.load(std::memory_order_relaxed);
  single_runs_.store(calls > 1 ? 0 : std::min(singles + 1, kOften), std::memory_order_relaxed);
}

// Plans the stream when it is long, or when nothing has come for a while. One worker at a time.
bool Pool::watch_stream() {
  if (runtime_.stream.size() == 0) return false;
  bool is_long = is_batch();
  if (!is_long) {
    uint64_t seen = runtime_.stream.sequence();
    int64_t quiet = runtime_.stream.only_trifles() ? kQuietTriflesNs : kQuietNs;
    for (int64_t until = now_ns() + quiet; now_ns() < until;) {
      sched_yield();  // whoever records may need this core for that
      for (int64_t i = 0; i < quiet / 200; i++) cpu_pause();  // looking costs the front end a cache miss
      if (runtime_.stream.sequence() != seen) return !is_lazy();  // still coming: look again
    }
  }
  std::vector<Ref<Task>> ready;
  if (!runtime_.planner.try_plan(ready, is_long)) return false;
  has_heavy_.store(false, std::memory_order_relaxed);
  submit(ready);
  return true;
}

// The last worker that is awake looks around for some microseconds after there was work, then it naps, then it sleeps
// until a call or a task wakes it, like all the others. While one is awake or naps, recording a call wakes nobody.
void Pool::idle(int index, int crew, int64_t& idle_since) {
  auto leaves = [&] { return stopping_ || crew != crew_.load(std::memory_order_relaxed); };
  if (on_duty(index) && watchers_.load(std::memory_order_relaxed) == 1 && now_ns() - idle_since < kWarmNs) {
    while (now_ns() - idle_since < kHotNs) {
      if (stream_calls() || work_left_.load(std::memory_order_relaxed)) return;
      for (int i = 0; i < kPauses; i++) cpu_pause();
    }
    std::unique_lock hold(mutex_);
    napping_.store(true, std::memory_order_seq_cst);
    nap_.wait_for(hold, kNap,
                  [&] { return leaves() || work_left_.load(std::memory_order_acquire) > 0 || stream_calls(); });
    napping_.store(false, std::memory_order_relaxed);
    return;
  }
  watch(false);
  std::unique_lock hold(mutex_);
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  wake_.wait(hold, [&] {
    return leaves() ||
           (on_duty(index) && (work_left_.load(std::memory_order_acquire) > 0 ||
                               (runtime_.stream.size() > 0 && watchers_.load(std::memory_order_seq_cst) == 0)));
  });
  asleep_.fetch_sub(1, std::memory_order_relaxed);
  idle_since = now_ns() - kHotNs;
}

// Under the lock. While threads help, some of the sleepers are off duty: then all are asked.
void Pool::wake_one() {
  if (helpers_.load(std::memory_order_relaxed) > 0)
    wake_.notify_all();
  else
    wake_.notify_one();
  call_helpers();
}

void Pool::notice(bool heavy) {
  start();
  size_t calls = runtime_.stream.size();
  if (calls >= kManyCalls || (calls >= kManyTrifles && runtime_.stream.only_trifles())) return plan_here(calls);
  if (heavy) has_heavy_.store(true, std::memory_order_seq_cst);  // before it looks who naps
  bool nap_ends = heavy && napping_.load(std::memory_order_seq_cst);
  if (!nap_ends && (watchers_.load(std::memory_order_seq_cst) > 0 || asleep_.load(std::memory_order_seq_cst) == 0))
    return;
  std::lock_guard hold(mutex_);
  if (nap_ends)
    nap_.notify_one();
  else
    wake_one();
}

}  // namespace slipstream::engine
