// Planner: turns recorded calls into tasks. Drops work nobody can read, fuses, bundles tiny calls, finds the order.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine.h"
#include "fused_programs.h"
#include "pages.h"
#include "share.h"
#include "task.h"

namespace slipstream::engine {

class Runtime;

inline constexpr size_t kFewCalls = 8;  // so few, if they are small, are not worth planning

using Calls = std::vector<Record, OnPages<Record>>;

class Planner {
 public:
  explicit Planner(Runtime& runtime) : runtime_(runtime) {}

  // Plans everything recorded so far and submits the tasks that can run at once; an only one is left in `ready`.
  void plan(std::vector<Ref<Task>>& ready);
  // The same, unless another thread is at it. If there is more to come, the last calls may be left to be planned with
  // that.
  bool try_plan(std::vector<Ref<Task>>& ready, bool more_to_come = false);
  // The same for a thread that waits.
  bool try_run(std::vector<Ref<Task>>& ready);
  // Where nothing is unfinished, planning tiny calls costs more than running them: both of the above run them here, in
  // order, and plan the rest from the first one on that is worth it. This does so with a call about to be recorded;
  // false if it must be recorded.
  bool run_recorded(Record& call);

  // The task that does the last planned write of a storage; null if it is done.
  Ref<Task> last_writer(Storage& storage);
  // Tasks of calls up to a number that are not done, oldest first.
  std::vector<Ref<Task>> unfinished(uint64_t up_to);
  std::vector<Ref<Task>> oldest_unfinished(int part);  // one of so many parts of them
  // Is a thread about to release what planned calls no longer need?
  bool is_dropping() const { return dropping_.load(std::memory_order_acquire) > 0; }

  Planning settings();
  void set(const Planning& settings);
  size_t batch_size() const { return static_cast<size_t>(batch_.load(std::memory_order_relaxed)); }
  void inherit(const Planner& parent) { set(parent.settings_); }
  std::string explain();

  std::mutex mutex;  // held while planning; around fork too

 private:
  void plan_all(std::vector<Ref<Task>>& ready, std::unique_lock<std::mutex>& hold, bool waits = false,
                bool more_to_come = false);
  Calls take_room();
  void give_room(Calls&& room);
  bool run_uncut(Record& call);
  size_t run_here(std::span<Record> calls, bool few);
  bool may_run_here();
  void plan_batch(std::span<Record> calls, std::vector<Ref<Task>>& ready, bool few);
  void drop_dead(std::span<Record> calls);
  void count_operands(std::span<const Record> calls);
  bool is_dead(const Record& call);
  void share_equal(std::span<Record> whole, std::span<Record> calls);
  void place(Record&& call, const char* why_alone, uint32_t row_group);
  Task* task_for(const Record& call, const SmallVec<Task*, 6>& before, uint32_t row_group);
  Task* new_task(const Record& call);
  StorageUse& use_of(Storage& storage);
  void forget_parent(StorageUse& use);  // whose tasks are those of the process this one was forked from
  void note(const Record& call, const Task& task, const SmallVec<Task*, 6>& before, const char* why_alone);
  void forget_notes();
  void trace_inputs(const Record& call, Task& task);
  void forget_finished();

  Runtime& runtime_;
  Planning settings_;
  std::atomic<int> batch_{Planning{}.batch};
  uint64_t batch_number_ = 0;
  std::vector<Calls> rooms_;           // empty, for calls
  std::vector<Record> replaced_;       // by merged calls
  FusedPrograms programs_;
  std::vector<const char*> why_alone_; // for each call of the batch, why it was not merged
  std::atomic<int> dropping_{0};       // threads that release planned calls
  std::vector<Ref<Task>> new_tasks_;   // of the batch being planned
  Task* open_group_ = nullptr;         // takes further tiny calls
  std::vector<Task*> row_tasks_;       // by the number of their group (rows.h)
  std::deque<Ref<Task>> live_;         // planned, perhaps finished

  struct Note {  // on a call of the last batch, for explain()
    const Op* op;
    const char* why_alone;  // why it was not merged with others; may be null
    std::shared_ptr<const OpParams> params;
    uint32_t calls;
    Shape shape;
    uint64_t task;
    std::vector<uint64_t> after;  // tasks of the same batch that come before
    bool after_earlier = false;   // and some of earlier batches
    bool by_rows = false;
  };
  std::vector<Note> notes_;
  size_t noted_calls_ = 0, noted_run_ = 0;
  std::vector<const Op*> noted_skipped_;
  Shared noted_shared_;
  bool noted_at_once_ = false;  // by run_recorded
};

}  // namespace slipstream::engine
