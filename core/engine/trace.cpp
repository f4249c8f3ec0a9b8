// The tracer, and the words in its events.
#include "trace.h"

#include <sstream>

namespace slipstream::engine {

namespace {

constexpr int kNoLane = INT32_MAX;
thread_local int lane = kNoLane;
std::atomic<int> front_end_threads{0};

}  // namespace

int current_lane() {
  if (lane == kNoLane) lane = -1 - front_end_threads.fetch_add(1);
  return lane;
}

void set_lane(int worker) { lane = worker; }

void Tracer::start() {
  std::lock_guard hold(mutex_);
  events_.clear();
  merged_.clear();
  on_ = true;
}

std::vector<Event> Tracer::stop() {
  std::lock_guard hold(mutex_);
  on_ = false;
  for (Event& event : events_)
    for (size_t i = 0, own = event.calls.size(); i < own; i++) {
      auto [first, last] = merged_.equal_range(event.calls[i]);
      for (; first != last; ++first) event.calls.push_back(first->second);
    }
  return std::move(events_);
}

void Tracer::merge(uint64_t call, uint64_t into) {
  std::lock_guard hold(mutex_);
  if (call != into) merged_.emplace(into, call);
}

void Tracer::add(Event event) {
  std::lock_guard hold(mutex_);
  if (on()) events_.push_back(std::move(event));
}

std::string describe_shape(const View& array) {
  std::ostringstream text;
  text << array.shape << ' ' << array.dtype;
  return text.str();
}

std::string describe_shapes(const Record& call) {
  std::ostringstream text;
  auto list = [&](const auto& operands) {
    bool first = true;
    for (const auto& operand : operands) {
      text << (first ? "" : ", ");
      if (operand.is_scalar())
        text << "scalar";
      else
        text << describe_shape(operand);
      first = false;
    }
  };
  list(call.inputs);
  text << " -> ";
  list(call.outputs);
  return text.str();
}

}  // namespace slipstream::engine
