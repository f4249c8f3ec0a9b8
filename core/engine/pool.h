// Pool: the worker threads. Independent tasks run side by side; a large one is cut into chunks that idle threads join.
// A thread that waits for a task takes part in the work that task needs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "engine.h"
#include "ready.h"
#include "task.h"
#include "weight.h"

namespace slipstream::engine {

class Runtime;

class Pool {
 public:
  explicit Pool(Runtime& runtime);

  int workers() const { return target_.load(std::memory_order_relaxed); }
  void set_workers(int n);
  // Threads start with the first recorded call, not before.
  void start();
  void stop(double seconds);

  // The program looks at a value. Where it does so every few calls it gains nothing by running ahead.
  void note_wait();
  bool waits_often() const;
  bool runs_at_once(Weight weight) const;  // a call about to be recorded

  // A call was recorded: make sure that somebody will plan it soon, without waking a thread per call.
  void notice(bool heavy);
  // Tasks that can run now.
  void submit(std::vector<Ref<Task>>& ready);
  // Until all of these are done, running what they need. Ends early with the exception of FrontEnd::poll.
  // False if `deadline_ns` passes first.
  // `held`: at most one task that can run now and nobody else knows of.
  bool help_until_done(std::vector<Ref<Task>> wanted, int64_t deadline_ns = INT64_MAX,
                       std::vector<Ref<Task>> held = {});
  // Plans what is recorded and submits it.
  void plan();
  // For a wait for a storage. The first runs what is recorded here and now, if that is little, and tells whether that
  // was all; if one task could run of the rest, it is left in `ready`. The second goes on from there, until the last
  // planned write is done.
  bool run_at_once(Storage& wanted, std::vector<Ref<Task>>& ready);
  void help_with(Storage& wanted, std::vector<Ref<Task>>&& ready);

  // At exit: of these tasks, only those that the kept ones need are to run.
  void abandon_all_but(const std::vector<Ref<Task>>& tasks, const std::vector<Ref<Task>>& kept);
  // Inside a host call, "everything so far" is what was recorded before that call or by it, less what needs its result.
  static void keep_waitable(std::vector<Ref<Task>>& tasks);
  static uint64_t running_call() { return inside_task() ? running_here().back()->sequence : 0; }
  void inherit(const Pool& parent) { target_ = parent.workers(); }

  static bool inside_task() { return depth_ > 0; }
  static bool is_worker();
  // Tasks on the calling thread's stack, innermost last.
  static const std::vector<Task*>& running_here();

 private:
  static constexpr size_t kLine = 64;  // of the cache
  static constexpr int64_t kBusyNs = 100'000;  // a front end that has not recorded for so long does something else
  static constexpr int64_t kPollNs = 20'000'000;  // how often a wait looks for signals
  struct Wait {  // what a waiting thread keeps in mind while it takes part
    std::unordered_set<const Task*> needed;  // it runs nothing else: not what another thread waits for, and no host
                                             // call that may itself wait for the one this thread is in
    bool must_poll = false;  // it answers signals: nothing long may hold it up
    bool counted = false;  // among helpers_
    int64_t next_poll_ns = 0;
  };

  int start_threads(int n);
  void work(int index, int crew);
  bool run_something();
  bool watch_stream();
  bool is_lazy() const { return waits_often() && !has_heavy_.load(std::memory_order_relaxed); }
  bool stream_calls() const;
  bool is_batch() const;
  void plan_here(size_t calls);
  void idle(int index, int crew, int64_t& idle_since);
  void watch(bool on);
  void wake_one();
  bool on_duty(int index) const { return index + helpers_.load(std::memory_order_acquire) < workers(); }

  void note_ready();
  int places();
  bool front_end_is_busy();
  void wake_for(int tasks);
  bool claim(Task& task);
  void end(Task& task);
  void release_kept();
  bool release(const std::vector<Ref<Task>>& needed, bool even_if_others_move);
  void offer(Task& task, int phase);  // others may join its chunks
  void withdraw(const Task& task);  // its last chunk is taken

  void run(Ref<Task> task, Wait* wait);
  bool start_task(Task& task);
  bool cut(Task& task, std::unique_ptr<Kernel>& kernel);
  void run_steps(Task& task);
  bool next_phase(Task& task, int phase);
  void run_chunk(Task& task, int phase, int64_t chunk);
  Ref<Task> join(const Ref<Task>& task, Wait* wait);
  void end_parallel(Task& task);
  Ref<Task> complete(Task& task, Wait* wait);
  Event run_event(const Task& task, int step);
  void trace_run(Event event, int64_t start, int64_t end, int64_t chunks, bool failed);

  bool may_run(const Task& task, const Wait* wait) const;
  std::vector<Ref<Task>> collect(std::vector<Ref<Task>> wanted, std::unordered_set<const Task*>& seen);
  bool help_once(const std::vector<Ref<Task>>& needed, size_t first, Wait& wait);
  void run_held(std::vector<Ref<Task>>& held, Wait& wait);
  void count_helper(Wait& wait, bool helping);
  void wake_waiters();
  void call_helpers();
  Wait new_wait() const;
  void poll(Wait& wait);
  void poll_holding(Wait& wait, const Ref<Task>& claimed);
  bool block(Wait& wait, uint64_t seen);
  bool sleep(uint64_t seen);

  struct RunningHere;  // a task on the calling thread's stack
  static thread_local constinit int depth_;  // how many of them: asked at every call

  // What every call looks at lies apart from what the workers write: each look would bring it from their core.
  Runtime& runtime_;
  std::atomic<int> target_;
  std::atomic<bool> started_{false};
  std::atomic<bool> has_heavy_{false};  // a large call was recorded since the stream was last planned
  std::atomic<int> short_runs_{0};  // waits in a row with few calls between them
  std::atomic<int> single_runs_{0};  // the same, with one call between them
  std::atomic<int64_t> recorded_at_wait_{0};  // calls recorded when the program last waited

  alignas(kLine) std::atomic<int> asleep_{0};  // workers in untimed sleep
  std::atomic<int> watchers_{0};  // workers that look at the stream soon: awake or napping, and not
                                  // in the middle of something long
  std::atomic<bool> napping_{false};

  alignas(kLine) std::mutex mutex_;  // queues and sleeping workers
  std::condition_variable wake_;  // for workers that sleep
  std::condition_variable nap_;  // for the one that naps
  ReadyTasks ready_;
  std::atomic<int> work_left_{0};  // size of ready_
  std::atomic<int> kept_{0};  // tasks in it that wait for their turn
  std::atomic<int> helpers_{0};  // waiting threads that run tasks: so many workers step back
  uint64_t seen_sequence_ = 0;  // of the last call that was recorded when somebody looked
  int64_t moved_ns_ = 0;  // when it was first seen
  bool stopping_ = false;
  int alive_ = 0;  // workers, also those that are about to leave
  std::atomic<int> crew_{0};  // only workers of this one go on
  std::condition_variable ended_;
  bool resizing_ = false;

  std::mutex wait_mutex_;
  std::condition_variable progress_;
  std::atomic<uint64_t> epoch_{0};  // changes when something that somebody waits for moves on
  std::atomic<int> waiters_{0};
  std::atomic<int> idle_helpers_{0};  // waiting threads that keep a worker's place and have nothing to do
};

}  // namespace slipstream::engine
