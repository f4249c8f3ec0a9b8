// ReadyTasks: queues by age, for each device.
#include "ready.h"

#include <algorithm>

namespace slipstream::engine {

namespace {

constexpr int kReach = 8;                  // calls behind the front, for each worker
constexpr size_t kMuchMemory = 64 * 1024;  // bytes
constexpr int64_t kLargePart = 32;         // one of so many parts of the peak of memory

// Most tasks are younger than all in the queue.
void insert(std::deque<Ref<Task>>& queue, Ref<Task> task) {
  if (queue.empty() || !is_older(task, queue.back()))
    queue.push_back(std::move(task));
  else
    queue.insert(std::upper_bound(queue.begin(), queue.end(), task, is_older), std::move(task));
}

// Host functions and long library calls may take any time, and hold up nobody.
bool is_at_front(const Task& task) { return !(task.flags & (kHost | kLong)); }

}  // namespace

ReadyTasks::OfDevice& ReadyTasks::of(const Task& task) {
  size_t number = static_cast<size_t>(task.device.kind) * 64 + task.device.id % 64u;
  if (number >= devices_.size()) devices_.resize(number + 1);
  return devices_[number];
}

void ReadyTasks::push(OfDevice& device, Ref<Task> task) {
  Level level = task->urgent.load(std::memory_order_relaxed) ? wanted : other;
  insert(device.queues[level], std::move(task));
  size_++;
}

Ref<Task> ReadyTasks::pop(Queue& queue) {
  Ref<Task> task = std::move(queue.front());
  queue.pop_front();
  size_--;
  return task;
}

// A task in a queue may have been run already by a thread that waited for it.
void ReadyTasks::drop_taken(Queue& queue) {
  while (!queue.empty() && queue.front()->state.load(std::memory_order_acquire) != Task::ready) pop(queue);
}

// What takes a good part of all memory begins when everything before it is done: beside that, it would raise the peak.
bool ReadyTasks::is_far(const Task& task, OfDevice& device) {
  bool large = static_cast<int64_t>(task.new_bytes) > memory().peak / kLargePart;
  auto reach = static_cast<uint64_t>(large ? 0 : kReach * workers_);
  return task.sequence > reach && task.sequence - reach > front(device);
}

bool ReadyTasks::add(Ref<Task> task) {
  OfDevice& device = of(*task);
  if (task->kept.load(std::memory_order_relaxed)) return false;
  if (task->new_bytes < kMuchMemory || !is_far(*task, device)) {
    push(device, std::move(task));
    return true;
  }
  task->kept.store(true, std::memory_order_relaxed);
  insert(device.kept, std::move(task));
  kept_++;
  return false;
}

uint64_t ReadyTasks::front(OfDevice& device) {
  uint64_t oldest = UINT64_MAX;
  for (uint64_t number : device.begun) oldest = std::min(oldest, number);
  for (Queue& queue : device.queues) {
    drop_taken(queue);
    if (!queue.empty()) oldest = std::min(oldest, queue.front()->sequence);
  }
  return oldest;
}

Task* ReadyTasks::OfDevice::oldest_to_join() const {
  Task* oldest = nullptr;
  for (const Ref<Task>& task : parallel)
    if (task->has_chunks() && (!oldest || task->sequence < oldest->sequence)) oldest = task.get();
  return oldest;
}

// A device on which nothing older runs comes first, so that devices work side by side.
Ref<Task> ReadyTasks::next(bool& joins) {
  Task *to_join = nullptr, *older = nullptr;
  for (int level = 0; level < kLevels && !older; level++) {
    for (size_t i = 0; i < devices_.size(); i++) {
      OfDevice& device = devices_[turn_ = (turn_ + 1) % devices_.size()];
      Queue& queue = device.queues[level];
      Task* running = device.oldest_to_join();
      if (running) to_join = running;
      for (drop_taken(queue); !queue.empty(); drop_taken(queue)) {
        if (running && running->sequence < queue.front()->sequence) {
          older = running;
          break;
        }
        joins = false;
        if (Ref<Task> task = pop(queue); task->claim()) {
          begin(*task);
          return task;
        }
      }
    }
  }
  joins = true;
  return Ref<Task>(older ? older : to_join);
}

void ReadyTasks::offer(Task& task) {
  of(task).parallel.emplace_back(&task);
  size_++;
}

void ReadyTasks::withdraw(const Task& task) {
  size_ -=
      static_cast<int>(std::erase_if(of(task).parallel, [&](const Ref<Task>& other) { return other.get() == &task; }));
}

void ReadyTasks::begin(Task& task) {
  if (!is_at_front(task)) return;
  task.at_front = true;
  of(task).begun.push_back(task.sequence);
}

void ReadyTasks::end(Task& task) {
  if (!std::exchange(task.at_front, false)) return;
  std::vector<uint64_t>& begun = of(task).begun;
  begun.erase(std::find(begun.begin(), begun.end(), task.sequence));
}

void ReadyTasks::release(OfDevice& device, Ref<Task> task) {
  task->kept.store(false, std::memory_order_relaxed);
  push(device, std::move(task));
  kept_--;
}

bool ReadyTasks::release() {
  int before = kept_;
  if (before == 0) return false;
  for (OfDevice& device : devices_)
    while (!device.kept.empty() && !is_far(*device.kept.front(), device)) {
      Ref<Task> task = std::move(device.kept.front());
      device.kept.pop_front();
      release(device, std::move(task));
    }
  return kept_ < before;
}

bool ReadyTasks::release(const std::vector<Ref<Task>>& needed, bool even_if_others_move) {
  int before = kept_;
  bool moves = std::any_of(devices_.begin(), devices_.end(), [](OfDevice& device) { return !device.begun.empty(); });
  if (before == 0 || (moves && !even_if_others_move)) return false;
  for (const Ref<Task>& task : needed) {
    if (!task->kept.load(std::memory_order_relaxed)) continue;
    OfDevice& device = of(*task);
    std::erase(device.kept, task);
    release(device, task);
    if (!moves) break;  // the oldest is enough to go on
  }
  return kept_ < before;
}

}  // namespace slipstream::engine
