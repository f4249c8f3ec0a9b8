// A lock for a handful of instructions, held too shortly to be worth a system call.
#pragma once

#include <sched.h>

#include <atomic>

namespace slipstream::engine {

inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  void lock() {
    for (int spins = 0; flag_.exchange(true, std::memory_order_acquire); spins++) {
      if (spins < 64)
        cpu_pause();
      else
        sched_yield();  // the holder may have been preempted
    }
  }
  bool try_lock() { return !flag_.exchange(true, std::memory_order_acquire); }
  void unlock() { flag_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace slipstream::engine
