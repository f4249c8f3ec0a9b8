// Tracer: collects events while tracing is on.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine.h"

namespace slipstream::engine {

class Tracer {
 public:
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void start();
  std::vector<Event> stop();
  void add(Event event);
  void merge(uint64_t call, uint64_t into);  // the one runs as part of the other

 private:
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<Event> events_;
  std::unordered_multimap<uint64_t, uint64_t> merged_;
};

// The lane of the calling thread: a worker's number, or -1 - k for the k-th thread of the front end.
int current_lane();
void set_lane(int lane);
std::string describe_shape(const View& array);  // "(2, 3) float32"
// "(2, 3) float32, (3,) float32 -> (2, 3) float32"
std::string describe_shapes(const Record& call);

}  // namespace slipstream::engine
