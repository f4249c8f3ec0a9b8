// Task: what the planner makes of one or more calls. It runs when the tasks before it are done.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../op.h"
#include "engine.h"
#include "locks.h"

namespace slipstream::engine {

// Tasks and their steps are made by any thread, under the planner's lock, and ended by any thread: their memory goes
// back to the next that is made, and not to the heap of a thread that may not need it again.
struct StepMemory {
  static Record* take(int n);
  static void give(Record* memory, int n);
};

class Task : public RefCounted<Task> {
 public:
  enum State : uint8_t { waiting, ready, running, done };
  static constexpr int kPhaseShift = 40;
  static constexpr uint64_t kChunkMask = (1ull << kPhaseShift) - 1;

  static void* operator new(size_t bytes);
  static void operator delete(void* memory);

  // ---- set by the planner, then constant
  SmallVec<Record, 1, StepMemory>
      steps;  // run one after another; only a task of one step, or by rows, is cut into chunks
  bool by_rows = false;        // all steps on one block of rows (rows.h) or tile (tiles.h), then on the next
  Device device;
  uint64_t sequence = 0;       // of the first call in it
  uint64_t recorded_in = 0;    // number of the host call that recorded it; 0: the program itself
  uint8_t flags = 0;           // of all its calls
  bool brief = false;          // over so soon that who runs it need not leave the stream to another
  bool tiny = false;           // cheaper than handing it to another thread
  size_t new_bytes = 0;        // of results that need memory, and of room to pack operands in

  // ---- order
  std::atomic<int> blockers{1};  // unfinished tasks before this one, and 1 while it is being planned
  std::atomic<State> state{waiting};
  std::atomic<bool> urgent{false};     // somebody waits for it
  std::atomic<bool> abandoned{false};  // the interpreter exits: do not run it
  std::atomic<bool> kept{false};       // until its turn comes (ready.h)
  bool at_front = false;  // it runs, and younger ones may have to wait for it; whoever runs it writes this

  // ---- the running call, while it is cut into chunks. The cursor holds (phase + 1) << kPhaseShift | next chunk.
  std::unique_ptr<Kernel> kernel;
  SmallVec<int64_t, 4> chunk_counts;  // of each phase; set before the first is offered, then constant
  std::atomic<uint64_t> cursor{0};
  std::atomic<int64_t> chunks_left{0};
  std::atomic<bool> chunk_failed{false};
  std::exception_ptr chunk_error;  // set by the first chunk that fails

  // ---- while tracing
  int64_t ready_ns = 0;
  std::shared_ptr<const Event> event;  // the only call's, without times
  std::vector<std::vector<uint64_t>> after;  // for each step, the calls whose results it reads

  // Is there a part of it that a thread could join?
  bool has_chunks() const {
    uint64_t seen = cursor.load(std::memory_order_acquire);
    if (seen == 0) return false;  // not cut into chunks, or not yet
    auto phase = static_cast<int>((seen >> kPhaseShift) - 1);
    return static_cast<int64_t>(seen & kChunkMask) < chunk_counts[phase];
  }
  // Whoever marks a task urgent and then finds it unfinished is woken by its end: neither misses the other's word.
  bool finished() const { return state.load(std::memory_order_seq_cst) == done; }
  // True for exactly one caller, who then runs it.
  bool claim() {
    State expected = ready;
    return state.compare_exchange_strong(expected, running, std::memory_order_acq_rel);
  }

  // Makes this task wait for `before` unless that is done or already waited for.
  void run_after(Task& before);
  // Does it wait for that one directly? For the planner, while it builds the task.
  bool runs_after(const Task& before) const {
    return std::any_of(before_.begin(), before_.end(), [&](const Ref<Task>& task) { return task.get() == &before; });
  }
  // Does it wait for none but these? The same.
  bool runs_only_after(const SmallVec<Task*, 6>& tasks) const {
    return std::all_of(before_.begin(), before_.end(), [&](const Ref<Task>& task) {
      return task->finished() || std::find(tasks.begin(), tasks.end(), task.get()) != tasks.end();
    });
  }
  // While it runs, it waits for these (a host call may).
  void await(const std::vector<Ref<Task>>& tasks);
  void await_no_more(size_t count);  // the last so many
  // Tasks before, awaited and after, copied under the lock (they change as tasks end).
  std::vector<Ref<Task>> predecessors();
  std::vector<Ref<Task>> successors();
  // Marks it done; gives the tasks after it.
  std::vector<Ref<Task>> finish();

 private:
  SpinLock lock_;
  std::vector<Ref<Task>> before_;
  std::vector<Ref<Task>> awaited_;
  std::vector<Ref<Task>> after_;
};

inline bool is_older(const Ref<Task>& a, const Ref<Task>& b) { return a->sequence < b->sequence; }

inline void Task::run_after(Task& before) {
  if (runs_after(before)) return;
  std::lock_guard hold(before.lock_);
  if (before.state.load(std::memory_order_relaxed) == done) return;
  before.after_.emplace_back(this);
  blockers.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard own(lock_);
  before_.emplace_back(&before);
}

inline void Task::await(const std::vector<Ref<Task>>& tasks) {
  std::lock_guard hold(lock_);
  awaited_.insert(awaited_.end(), tasks.begin(), tasks.end());
}

inline void Task::await_no_more(size_t count) {
  std::vector<Ref<Task>> dropped;  // after the lock is released
  std::lock_guard hold(lock_);
  for (; count > 0; count--) {
    dropped.push_back(std::move(awaited_.back()));
    awaited_.pop_back();
  }
}

inline std::vector<Ref<Task>> Task::predecessors() {
  std::lock_guard hold(lock_);
  std::vector<Ref<Task>> all = before_;
  all.insert(all.end(), awaited_.begin(), awaited_.end());
  return all;
}

inline std::vector<Ref<Task>> Task::successors() {
  std::lock_guard hold(lock_);
  return after_;
}

inline std::vector<Ref<Task>> Task::finish() {
  std::vector<Ref<Task>> before, after;
  std::lock_guard hold(lock_);
  state.store(done, std::memory_order_seq_cst);
  before.swap(before_);
  after.swap(after_);
  return after;  // `before` drops its references after the lock is released
}

}  // namespace slipstream::engine
