// Memory of tasks, used again and again.
#include "task.h"

namespace slipstream::engine {

namespace {

struct Spare {
  Spare* next;
};
std::atomic<Spare*> given_back{nullptr};  // by any thread
Spare* spares = nullptr;                  // taken from there; guarded by the planner's lock

}  // namespace

void* Task::operator new(size_t bytes) {
  if (!spares) spares = given_back.exchange(nullptr, std::memory_order_acquire);
  if (!spares) return ::operator new(bytes);
  return std::exchange(spares, spares->next);
}

void Task::operator delete(void* memory) {
#if defined(__SANITIZE_ADDRESS__)
  return ::operator delete(memory);  // so that it sees who uses a task that has ended
#endif
  auto* spare = new (memory) Spare{given_back.load(std::memory_order_relaxed)};
  while (!given_back.compare_exchange_weak(spare->next, spare, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace slipstream::engine
