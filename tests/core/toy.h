// A toy device and toy operations on int64 values, to test the engine apart from all kernels.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "../../core/engine/device.h"
#include "../../core/engine/engine.h"

namespace toy {

using namespace slipstream;

struct ToyBackend : engine::Backend {
  ToyBackend() : Backend("toy") {}
  int count() const override { return 4; }
  void* allocate(size_t nbytes) override { return std::aligned_alloc(64, (nbytes + 63) / 64 * 64); }
  void free(void* memory, size_t) override { std::free(memory); }
};

// What a toy call does: phases of chunks, each a function of the call's values.
struct ToyParams : OpParams {
  std::vector<int64_t> chunks = {1};
  std::function<void(const Record&, int phase, int64_t chunk)> body;
};

struct ToyKernel : Kernel {
  explicit ToyKernel(const Record& call) : call(call), params(call.as<ToyParams>()) {}
  int phases() const override { return static_cast<int>(params.chunks.size()); }
  int64_t chunks(int phase) const override { return params.chunks[static_cast<size_t>(phase)]; }
  void run(int phase, int64_t chunk) override { params.body(call, phase, chunk); }
  const Record& call;
  const ToyParams& params;
};

inline const Op pure{"toy"};
inline const Op failing{"failing", kMayFail};
inline const Op effect{"effect", kObservable | kMayFail};
inline const Op host{"host", kObservable | kMayFail | kHost | kLong};
inline const Op after_failure{"after_failure", kObservable | kAfterFailure};
inline const Op unknown{"unknown"};

inline Device device(int id = 0) {
  static const uint8_t kind = [] {
    auto backend = std::make_unique<ToyBackend>();
    for (const Op* op : {&pure, &failing, &effect, &host, &after_failure})
      backend->provide(*op,
                       [](const Record& call) -> std::unique_ptr<Kernel> { return std::make_unique<ToyKernel>(call); });
    return engine::add_backend(std::move(backend));
  }();
  return {kind, static_cast<uint16_t>(id)};
}

inline int64_t& value(const Operand& operand) { return *reinterpret_cast<int64_t*>(operand.data()); }

using Body = std::function<void(const Record&, int, int64_t)>;

inline Record call(const Op& op, const std::vector<Array>& inputs, Body body, std::vector<int64_t> chunks = {1}) {
  auto params = std::make_shared<ToyParams>();
  params->chunks = std::move(chunks);
  params->body = std::move(body);
  Record record;
  record.op = &op;
  for (const Array& input : inputs) record.inputs.emplace_back(input);
  record.params = std::move(params);
  return record;
}

// Records a call with one new result of `n` values.
inline Array apply(const Op& op, const std::vector<Array>& inputs, Body body, std::vector<int64_t> chunks = {1},
                   int64_t n = 1, int id = 0) {
  Array result(Shape{n}, DType::i64, device(id));
  Record record = call(op, inputs, std::move(body), std::move(chunks));
  record.outputs.emplace_back(result);
  engine::record(std::move(record));
  return result;
}

// Records a call that writes an existing array.
inline void apply_to(const Array& target, const Op& op, const std::vector<Array>& inputs, Body body) {
  Record record = call(op, inputs, std::move(body));
  record.in_place = true;
  record.outputs.emplace_back(target);
  engine::record(std::move(record));
}

inline Array constant(int64_t v, int id = 0) {
  return apply(pure, {}, [v](const Record& r, int, int64_t) { value(r.outputs[0]) = v; }, {1}, 1, id);
}
inline Array plus(const Array& a, int64_t k) {
  return apply(pure, {a}, [k](const Record& r, int, int64_t) { value(r.outputs[0]) = value(r.inputs[0]) + k; });
}
inline int64_t read(const Array& a) {
  engine::wait(a);
  return *reinterpret_cast<int64_t*>(a.storage()->data() + a.offset);
}
inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A host call that keeps a worker until it is opened, at the latest at the end of the test.
struct Gate {
  std::atomic<bool> entered{false}, is_open{false};
  Array array = apply(host, {}, [this](const Record& r, int, int64_t) {
    entered = true;
    while (!is_open) sleep_ms(1);
    value(r.outputs[0]) = 7;
  });
  Gate() {
    while (!entered) sleep_ms(1);
  }
  ~Gate() {
    is_open = true;
    engine::wait_all();
  }
};

// Settings of one test, put back at its end. Runs a body on both engines and several numbers of workers.
struct Settings {
  engine::Limits limits = engine::limits();
  engine::Planning planning = engine::planning();
  int workers = engine::workers();
  ~Settings() {
    engine::wait_all();
    engine::take_failures();
    engine::set_engine_kind(engine::EngineKind::async);
    engine::set_limits(limits);
    engine::set_planning(planning);
    engine::fail_allocations(0);
    if (engine::workers() != workers) engine::set_workers(workers);
  }
};

inline void on_all_engines(const std::function<void()>& body) {
  Settings restore;
  engine::set_engine_kind(engine::EngineKind::sync);
  body();
  engine::set_engine_kind(engine::EngineKind::async);
  for (int workers : {1, 2, 8}) {
    engine::set_workers(workers);
    for (auto [batch, bulk] : {std::pair(1, 1), {256, 1}, {256, restore.planning.bulk}}) {
      engine::Planning planning = restore.planning;
      planning.batch = batch;
      planning.bulk = bulk;
      engine::set_planning(planning);
      body();
    }
  }
}

}  // namespace toy
