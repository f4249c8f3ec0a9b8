// ReadyTasks: what can run now and what others may join, and which of it is next. Older calls go first: they free what
// younger ones would only pile up. The caller holds the pool's lock.
#pragma once

#include <deque>
#include <vector>

#include "task.h"

namespace slipstream::engine {

class ReadyTasks {
 public:
  // True if a thread can take it now. One that fills memory long before its turn is kept until then.
  bool add(Ref<Task> task);
  // What to run next, claimed; or, with `joins`, a running task to join, since it is older than all that could begin.
  Ref<Task> next(bool& joins);

  // A task that others may join, until its last chunk is taken.
  void offer(Task& task);
  void withdraw(const Task& task);

  // A task was claimed otherwise, or ends. What can begin or has begun, and ends by itself, is the front of its device.
  void begin(Task& task);
  void end(Task& task);
  // Lets go of kept tasks whose turn has come. True if there are any.
  bool release();
  // Lets go of the oldest that a thread waits for, unless others move on before which it would not be its turn; or of
  // all of them, even if others move.
  bool release(const std::vector<Ref<Task>>& needed, bool even_if_others_move);

  void set_workers(int n) { workers_ = n; }
  int size() const { return size_; }  // tasks to take or to join
  int kept() const { return kept_; }

 private:
  using Queue = std::deque<Ref<Task>>;  // oldest first
  enum Level { wanted, other, kLevels };
  struct OfDevice {
    Queue queues[kLevels];             // what somebody waits for, and the rest
    Queue kept;
    std::vector<Ref<Task>> parallel;   // running tasks that others may join
    std::vector<uint64_t> begun;       // numbers of running tasks
    Task* oldest_to_join() const;
  };
  OfDevice& of(const Task& task);
  void push(OfDevice& device, Ref<Task> task);
  Ref<Task> pop(Queue& queue);
  void drop_taken(Queue& queue);
  uint64_t front(OfDevice& device);
  bool is_far(const Task& task, OfDevice& device);
  void release(OfDevice& device, Ref<Task> task);

  std::vector<OfDevice> devices_;  // served in turn
  size_t turn_ = 0;
  int size_ = 0, kept_ = 0, workers_ = 1;
};

}  // namespace slipstream::engine
