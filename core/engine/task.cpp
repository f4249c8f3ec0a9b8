// Memory of tasks, used again and again.
#include "task.h"

#include <array>
#include <bit>

namespace slipstream::engine {

namespace {

// Blocks of one size.
class Recycled {
 public:
  void* take(size_t bytes) {  // under the planner's lock
    if (!spares_) spares_ = given_back_.exchange(nullptr, std::memory_order_acquire);
    if (!spares_) return ::operator new(bytes);
    return std::exchange(spares_, spares_->next);
  }
  void give(void* memory) {  // any thread
#if defined(__SANITIZE_ADDRESS__)
    return ::operator delete(memory);  // so that it sees who uses what has ended
#endif
    auto* spare = new (memory) Spare{given_back_.load(std::memory_order_relaxed)};
    while (
        !given_back_.compare_exchange_weak(spare->next, spare, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

 private:
  struct Spare {
    Spare* next;
  };
  std::atomic<Spare*> given_back_{nullptr};
  Spare* spares_ = nullptr;
};

Recycled tasks;
constexpr int kMostSteps = 8;  // so many or fewer: most tasks have no more
std::array<Recycled, std::bit_width(unsigned{kMostSteps})> steps;  // by the power of two

Recycled& steps_of(int n) { return steps[static_cast<size_t>(std::countr_zero(static_cast<unsigned>(n)))]; }

}  // namespace

Record* StepMemory::take(int n) {
  if (n > kMostSteps) return OnHeap<Record>::take(n);
  return static_cast<Record*>(steps_of(n).take(sizeof(Record) * static_cast<size_t>(n)));
}

void StepMemory::give(Record* memory, int n) {
  n > kMostSteps ? OnHeap<Record>::give(memory, n) : steps_of(n).give(memory);
}

void* Task::operator new(size_t bytes) { return tasks.take(bytes); }
void Task::operator delete(void* memory) { tasks.give(memory); }

}  // namespace slipstream::engine
