// What the engine tells: its devices and memory, its plans and traces, its settings and errors.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "../../core/elementwise.h"
#include "../../core/ops/structural.h"
#include "check.h"
#include "toy.h"

using namespace toy;

namespace {

// A device with a megabyte of memory.
struct SmallBackend : engine::Backend {
  static constexpr size_t kCapacity = 1 << 20;
  std::atomic<size_t> used{0};
  SmallBackend() : Backend("small") {}
  int count() const override { return 1; }
  void* allocate(size_t nbytes) override {
    if (used + nbytes > kCapacity) return nullptr;
    used += nbytes;
    return std::aligned_alloc(64, (nbytes + 63) / 64 * 64);
  }
  void free(void* memory, size_t nbytes) override {
    used -= nbytes;
    std::free(memory);
  }
};

Device small() {
  static const uint8_t kind = [] {
    auto backend = std::make_unique<SmallBackend>();
    backend->provide(pure, engine::backend(device()).find(pure));
    return engine::add_backend(std::move(backend));
  }();
  return {kind, 0};
}

Array bytes_on_small(int64_t n) {
  Array result(Shape{n}, DType::u8, small());
  Record record = call(pure, {}, [](const Record& r, int, int64_t) { *r.outputs[0].data() = 1; });
  record.outputs.emplace_back(result);
  engine::record(std::move(record));
  return result;
}

// The result is dropped, and so is its memory when everything is done.
void bytes_on_small_and_back(int64_t n) {
  engine::wait(bytes_on_small(n));
  engine::wait_all();
}

Array ramp(int64_t n) { return arange(Scalar::of(0.0), Scalar::of(1.0), n, DType::f32, engine::device("cpu", 0)); }

Array total(const Array& x) {
  ReduceOptions all;
  all.axes = 1;
  return reduce(Row::sum, x, all);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

// ---- devices and memory

TEST(devices_are_found_by_name_and_number) {
  CHECK(engine::device("toy", 3) == device(3));
  CHECK_EQ(engine::kind_name(device()), "toy");
  CHECK_EQ(engine::device_count("toy"), 4);
  CHECK_EQ(engine::device_count("tpu"), 0);
  CHECK_THROWS(Error, "toy(4): this machine has 4 toy devices", engine::device("toy", 4));
  CHECK_THROWS(Error, "toy(-1): this machine has 4 toy devices", engine::device("toy", -1));
  CHECK_THROWS(Error, "tpu(0): this machine has no tpu", engine::device("tpu", 0));
}

TEST(kept_memory_is_given_up_when_a_device_has_none_left) {
  on_all_engines([] {
    engine::wait_all();
    engine::empty_cache();
    bytes_on_small_and_back(600'000);
    CHECK(engine::memory().cached >= 600'000);
    Array large = bytes_on_small(900'000);  // of another size, so what is kept does not help
    engine::wait(large);
    CHECK_EQ(engine::memory().cached, 0);
    Array more = bytes_on_small(600'000);
    CHECK_THROWS(FailedResult, "out of memory: cannot allocate 600000 bytes on small(0)", engine::wait(more));
    engine::wait_all();
    large = Array();
    bytes_on_small_and_back(600'000);
    engine::empty_cache();
  });
}

TEST(memory_beyond_what_may_be_kept_goes_back_at_once) {
  on_all_engines([] {
    engine::Limits limits = engine::limits();
    engine::wait_all();
    engine::empty_cache();
    engine::Limits none = limits;
    none.cache = 0;
    engine::set_limits(none);
    bytes_on_small_and_back(900'000);
    CHECK_EQ(engine::memory().cached, 0);
    bytes_on_small_and_back(900'000);
    engine::set_limits(limits);
  });
}

TEST(empty_arrays_need_no_memory) {
  on_all_engines([] {
    engine::wait_all();
    const int64_t before = engine::memory().in_use;
    Array x = apply(pure, {}, [](const Record&, int, int64_t) {}, {0}, 0);
    engine::wait(x);
    CHECK_EQ(engine::memory().in_use, before);
    Array sum = total(elementwise(Row::exp, {ramp(0)}));
    engine::wait(sum);
    CHECK_EQ(*reinterpret_cast<float*>(sum.storage()->data()), 0.0f);
  });
}

// ---- plans and traces

TEST(explain_tells_what_became_of_the_last_batch) {
  Settings restore;
  engine::set_workers(1);
  engine::wait_all();
  std::atomic<bool> entered{false}, go{false};
  Array gate = apply(host, {}, [&](const Record&, int, int64_t) {
    entered = true;
    while (!go) sleep_ms(1);
  });
  while (!entered) sleep_ms(1);  // the only worker is busy, so what follows is one batch
  Array x = ramp(5000);
  Array chain = elementwise(Row::exp, {elementwise(Row::multiply, {x, Scalar::of(0.5)})});
  Array sum = total(elementwise(Row::sin, {elementwise(Row::add, {x, Scalar::of(1.0)})}));
  Array a = constant(1), b = plus(a, 1), behind = plus(gate, 1);
  constant(2);  // nobody has its result
  engine::Stats before = engine::stats();
  std::thread opens([&] {
    sleep_ms(50);  // the wait has planned by then
    go = true;
  });
  engine::wait_all();
  opens.join();
  const std::string text = engine::explain();
  for (const char* part :
       {"last batch: 10 calls\n1 skipped, because nobody can read them: toy",
        "arange (not fused: not elementwise) -> (5000,)",
        "2 calls fused into one pass (multiply exp; 1 stored) -> (5000,)",
        "3 calls fused into one pass (add sin, then sum; 1 stored) -> (1,)", ", can start at once", ", after task ",
        ", after tasks of earlier batches", "then toy (not fused: not elementwise)"})
    if (!has(text, part)) check::failed(__FILE__, __LINE__, std::string(part) + " is not in\n" + text);
  engine::Stats after = engine::stats();
  CHECK_EQ(after.fused - before.fused, 5);
  CHECK_EQ(after.skipped - before.skipped, 1);
}

TEST(a_trace_tells_of_scalars_failures_and_stalls) {
  on_all_engines([] {
    engine::wait_all();
    engine::Limits limits = engine::limits(), few = limits;
    few.ops = 4;
    engine::start_trace();
    CHECK(engine::tracing());
    Array x = ramp(10);
    Array y = elementwise(Row::multiply, {x, Scalar::of(0.5)});
    engine::wait(y);
    Array bad = apply(failing, {}, [](const Record&, int, int64_t) { fail(ErrorKind::value, "bad"); }, {3});
    CHECK_THROWS(FailedResult, "bad", engine::wait(bad));
    engine::set_limits(few);
    for (int i = 0; i < 20; i++) apply(effect, {}, [](const Record&, int, int64_t) { sleep_ms(1); });
    engine::set_limits(limits);
    engine::wait_all();
    bool scalar = false, failed = false, stalled = false;
    for (const engine::Event& event : engine::stop_trace()) {
      scalar |= has(event.shapes, "(10,) float32, scalar -> (10,) float32");
      failed |= event.type == engine::Event::run && event.failed;
      stalled |= event.type == engine::Event::wait && event.name == "stream is full";
    }
    CHECK(scalar);
    CHECK(failed);
    CHECK_EQ(stalled, engine::engine_kind() == engine::EngineKind::async);
  });
}

// ---- errors and settings

TEST(errors_of_every_kind_reach_the_reader) {
  on_all_engines([] {
    auto payload = std::make_shared<int>(5);
    Array carried = apply(host, {}, [=](const Record&, int, int64_t) {
      auto failure = std::make_shared<Failure>();
      failure->kind = ErrorKind::index;
      failure->message = "an error of the front end";
      failure->payload = payload;
      throw FailedResult(failure);
    });
    Array number = apply(host, {}, [](const Record&, int, int64_t) { throw 42; });
    try {
      engine::wait(carried);
      CHECK(false);
    } catch (const FailedResult& error) {
      CHECK(error.failure->kind == ErrorKind::index);
      CHECK_EQ(error.failure->message, "an error of the front end");
      CHECK_EQ(error.failure->op, "host");
      CHECK(error.failure->payload == payload);
    }
    CHECK_THROWS(FailedResult, "unknown error", engine::wait(number));
  });
}

TEST(settings_out_of_range_are_refused) {
  Settings restore;
  CHECK_THROWS(Error, "at most 1024 workers, not 1025", engine::set_workers(1025));
  auto with = [](auto change) {
    engine::Limits limits = engine::limits();
    change(limits);
    engine::set_limits(limits);
  };
  CHECK_THROWS(Error, "bytes must be at least 1, not 0", with([](auto& limits) { limits.bytes = 0; }));
  CHECK_THROWS(Error, "memory must not be negative: -1", with([](auto& limits) { limits.memory = -1; }));
  CHECK_THROWS(Error, "cache must not be negative: -1", with([](auto& limits) { limits.cache = -1; }));
  CHECK_EQ(engine::limits().bytes, restore.limits.bytes);
}
