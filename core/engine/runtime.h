// Runtime: the one object behind engine.h. Made on first use, never destroyed (threads may outlive static objects).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine.h"
#include "planner.h"
#include "pool.h"
#include "trace.h"

namespace slipstream::engine {

// Bytes of memory this process may use: the machine's, or its control group's.
int64_t machine_memory();

class Allocator {
 public:
  void* allocate(Device device, size_t nbytes, const Limits& limits);
  void deallocate(Device device, void* memory, size_t nbytes, const Limits& limits);
  MemoryStats stats();
  void empty_cache();
  void reset_peak();
  void fail_every(int64_t n);
  void inherit(const Allocator& parent);  // in a forked child: what its arrays hold already

 private:
  struct Key {
    uint8_t kind;
    uint16_t id;
    size_t size;
    auto operator<=>(const Key&) const = default;
  };
  void* take_cached(Device device, size_t size);
  void release_cached();

  std::mutex mutex_;
  std::map<Key, std::vector<void*>> free_;
  int64_t in_use_ = 0, cached_ = 0, peak_ = 0;
  int64_t fail_every_ = 0, allocations_ = 0;
};

// Limits, readable without a lock.
class SharedLimits {
 public:
  SharedLimits();
  Limits load() const {
    return {ops_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
            memory_.load(std::memory_order_relaxed), cache_.load(std::memory_order_relaxed)};
  }
  void store(const Limits& limits) {
    ops_ = limits.ops;
    bytes_ = limits.bytes;
    memory_ = limits.memory;
    cache_ = limits.cache;
  }
  int64_t ops() const { return ops_.load(std::memory_order_relaxed); }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> ops_, bytes_, memory_, cache_;
};

struct Counters {
  std::atomic<int64_t> retired{0}, executed{0}, fused{0}, skipped{0};
  std::atomic<int64_t> returned_bytes{0};  // of those brought (Stream), no longer in flight
  std::atomic<int64_t> peak_ops{0}, peak_bytes{0};  // in flight
  std::atomic<int64_t> stalls{0}, stalled_ns{0};
};

// Failures nobody has seen yet. One may own an exception of the front end's, whose end may run code that waits: so it
// is let go of where no lock is held.
class Failures {
 public:
  void add(FailurePtr failure);
  void forget_observed();
  std::vector<FailurePtr> take();
  void close();  // what fails from here on was dropped at exit

 private:
  std::mutex mutex_;
  std::vector<FailurePtr> list_;
  size_t left_ = 0;  // in the list when it was last looked through
  bool closed_ = false;
};

// The calls recorded and not yet planned, in program order over all threads.
class Stream {
 public:
  // Appends the call, which is counted as below. Gives its number. Is it a trifle (weight.h)?
  uint64_t append(Record&& call, bool trifle);
  // Gives the call the next number; its new results are in flight from here on.
  void count(Record& call) {
    std::lock_guard hold(lock_);
    count_locked(call);
  }
  void inherit(const Stream& parent) { sequence_ = inherited_ = parent.sequence_.load(); }
  bool take(Calls& into);    // are they trifles, all of them?
  void give_back(std::span<Record> last);  // of those taken
  size_t size() const { return size_.load(std::memory_order_seq_cst); }
  bool only_trifles() const { return only_trifles_.load(std::memory_order_relaxed); }
  uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }
  int64_t recorded() const { return static_cast<int64_t>(sequence() - inherited_); }  // calls, by this process
  int64_t brought() const { return bytes_.load(std::memory_order_relaxed); }  // bytes of their new results

 private:
  void count_locked(Record& call);

  SpinLock lock_;
  Calls calls_;
  std::atomic<size_t> size_{0};
  std::atomic<bool> only_trifles_{true};
  std::atomic<uint64_t> sequence_{0};
  std::atomic<int64_t> bytes_{0};
  uint64_t inherited_ = 0;
};

class Runtime {
 public:
  static Runtime& get() {
    Runtime* runtime = the_runtime.load(std::memory_order_acquire);
    return runtime ? *runtime : make();
  }

  Runtime();
  std::atomic<EngineKind> kind{EngineKind::async};
  FrontEnd front_end;
  SharedLimits limits;
  Counters counters;
  Failures failures;
  Tracer tracer;
  Allocator allocator;
  Stream stream;
  Planner planner{*this};
  Pool pool{*this};
  std::recursive_timed_mutex sync_mutex;  // the synchronous engine runs one call at a time
  std::atomic<bool> ended{false};  // what was not computed by then never will be
  uint32_t generation = 1;

  // Lets other threads of the front end run while this one blocks.
  class Blocking {
   public:
    explicit Blocking(Runtime& runtime) : runtime_(runtime) {
      if (runtime_.front_end.enter_blocking) token_ = runtime_.front_end.enter_blocking();
    }
    ~Blocking() {
      if (token_) runtime_.front_end.leave_blocking(token_);
    }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    Runtime& runtime_;
    void* token_ = nullptr;
  };

  // Bookkeeping of one call from record to end.
  void admit(const Record& call);  // waits while the stream is full
  void retire(int64_t calls);  // they are done, one way or another
  void retire(const Record& call) { retire(int64_t{call.calls}); }
  int64_t ops_in_flight() const { return stream.recorded() - counters.retired.load(std::memory_order_relaxed); }
  int64_t bytes_in_flight() const { return stream.brought() - counters.returned_bytes.load(std::memory_order_relaxed); }
  // A storage of the process this one was forked from: what was not computed then never will be.
  void adopt(Storage& storage) {
    uint32_t seen = storage.generation.load(std::memory_order_relaxed);
    if (seen != generation && seen != 0) take_from_parent(storage);
  }

 private:
  static constinit std::atomic<Runtime*> the_runtime;
  static Runtime& make();
  void take_from_parent(Storage& storage);
  void stall(int64_t bytes);
  static void fork_prepare();
  static void fork_parent();
  static void fork_child();
};

int64_t now_ns();

}  // namespace slipstream::engine
