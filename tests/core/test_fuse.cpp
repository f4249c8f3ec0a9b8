// The planner on real elementwise calls: fused, skipped and plain runs have the same bits.
#include <cstring>
#include <random>

#include "../../core/elementwise.h"
#include "../../core/ops/structural.h"
#include "arrays.h"
#include "check.h"
#include "toy.h"

using namespace slipstream;

namespace {

Device cpu() { return engine::device("cpu", 0); }

Array ramp(int64_t rows, int64_t columns, double start) {
  Array flat = arange(Scalar::of(start), Scalar::of(0.01), rows * columns, DType::f32, cpu());
  return reshape(flat, Shape{rows, columns});
}

// A random program on a few arrays: trees of rows, views, in-place writes, reductions, dropped handles.
std::vector<std::vector<float>> run_program(uint64_t seed) {
  std::mt19937_64 random(seed);
  int64_t n = 3 + static_cast<int64_t>(random() % 40);
  std::vector<Array> pool;
  for (int i = 0; i < 4; i++) pool.push_back(ramp(n, n, i * 0.1));
  auto pick = [&]() -> Array& { return pool[random() % pool.size()]; };
  const Row unary[] = {Row::tanh, Row::exp, Row::negative, Row::abs, Row::square, Row::sin};
  const Row binary[] = {Row::add, Row::multiply, Row::subtract, Row::maximum, Row::minimum};
  for (int step = 0; step < 60; step++) {
    Array x = pick();
    switch (random() % 8) {
      case 0: pick() = elementwise(unary[random() % 6], {x}); break;
      case 1:
        pick() = elementwise(Row::multiply, {elementwise(binary[random() % 5], {x, pick()}), Scalar::of(0.25)});
        break;
      case 2:
        pick() = elementwise(Row::tanh, {elementwise(Row::add, {transpose(x, std::vector<int64_t>{1, 0}), pick()})});
        break;
      case 3: {  // x *= 0.5; x += y
        ElementwiseOptions in_place;
        in_place.out = &x;
        elementwise(Row::multiply, {x, Scalar::of(0.5)}, in_place);
        elementwise(Row::add, {x, pick()}, in_place);
        break;
      }
      case 4: {
        ReduceOptions rows;
        rows.axes = 1 + static_cast<uint32_t>(random() % 2);
        rows.keepdims = true;
        Array total = reduce(random() % 2 ? Row::sum : Row::max, elementwise(Row::abs, {x}), rows);
        pick() = elementwise(Row::divide, {x, elementwise(Row::add, {total, Scalar::of(1.0)})});
        break;
      }
      case 5: assign(slice(x, 0, 1, 1, x.shape[0] - 1), slice(pick(), 0, 0, 1, x.shape[0] - 1)); break;
      case 6: pick() = copy(x); break;
      case 7: {
        Array kept = elementwise(Row::sin, {x});
        pool.push_back(elementwise(Row::add, {kept, elementwise(Row::square, {kept})}));
        if (random() % 2) pool.push_back(kept);
        break;
      }
    }
    if (random() % 25 == 0) values(astype(pick(), DType::f32));
  }
  std::vector<std::vector<float>> results;
  for (const Array& x : pool) results.push_back(values(astype(x, DType::f32)));
  return results;
}

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (a[i].size() != b[i].size() || std::memcmp(a[i].data(), b[i].data(), a[i].size() * 4) != 0) return false;
  return true;
}

}  // namespace

TEST(trifles_are_run_by_whoever_comes_first) {
  toy::Settings restore;
  Array first = ramp(1, 2, 1), last = first;
  engine::wait(first);
  int64_t before = engine::stats().executed;
  for (int i = 0; i < 10'000; i++) {  // the recording thread runs most of them
    last = elementwise(Row::add, {last, Scalar::of(1.0)});
    if (i % 3000 == 2999) toy::sleep_ms(2);  // a worker has time for some
  }
  CHECK(engine::stats().executed > before);
  float end = values(last)[0];
  CHECK_EQ(end, 10'001.0f);
}

TEST(fused_and_plain_programs_have_the_same_bits) {
  toy::Settings restore;
  int64_t fused = engine::stats().fused;
  for (uint64_t seed = 0; seed < 60; seed++) {
    engine::set_engine_kind(engine::EngineKind::sync);
    auto expected = run_program(seed);
    engine::set_engine_kind(engine::EngineKind::async);
    for (bool fuse : {true, false}) {
      for (bool skip : {true, false}) {
        engine::Planning planning = restore.planning;
        planning.fuse = fuse;
        planning.skip = skip;
        planning.batch = seed % 3 == 0 ? 7 : 256;
        planning.bulk = seed % 2 == 0 ? 1 : restore.planning.bulk;
        engine::set_planning(planning);
        if (!same_bits(run_program(seed), expected))
          check::failed(__FILE__, __LINE__,
                        "seed " + std::to_string(seed) + (fuse ? " fused" : "") + (skip ? " skipping" : ""));
      }
    }
  }
  CHECK(engine::stats().fused > fused);
}

TEST(a_chain_is_fused_into_one_pass_without_its_intermediates) {
  toy::Settings restore;
  Array x = ramp(50, 50, 0);
  values(x);
  engine::Stats before = engine::stats();
  Array y = elementwise(Row::tanh, {elementwise(Row::add, {elementwise(Row::multiply, {x, x}), Scalar::of(1.0)})});
  engine::wait(y);
  engine::Stats after = engine::stats();
  // Either the three calls were planned together and fused, or a worker came in between and took some alone.
  CHECK_EQ(after.executed - before.executed, 3);
  CHECK(after.fused - before.fused <= 3);
}

TEST(a_failed_input_of_a_fused_call_fails_only_what_depends_on_it) {
  toy::Settings restore;
  engine::set_workers(1);
  for (int repeat = 0; repeat < 20; repeat++) {
    toy::Gate gate;  // the only worker is in it, so what follows is one batch
    Array x = ramp(4, 4, 1);
    std::vector<Shape> shapes = {Shape{4, 4}};
    std::vector<DType> types = {DType::f32};
    Array bad = host_call([](const Record&) { fail(ErrorKind::value, "bad input"); }, {}, shapes, types, cpu())[0];
    Array good = elementwise(Row::multiply, {x, Scalar::of(2.0)});
    Array mixed = elementwise(Row::add, {good, bad});
    Array after = elementwise(Row::exp, {good});
    gate.is_open = true;
    CHECK_THROWS(FailedResult, "bad input", engine::wait(mixed));
    std::vector<float> doubled = values(good);
    CHECK_EQ(doubled[3], (1.0f + 0.03f) * 2.0f);
    engine::wait(after);
  }
}

TEST(memory_of_fused_intermediates_is_never_allocated) {
  toy::Settings restore;
  engine::wait_all();
  engine::empty_cache();
  Array x = ramp(1000, 1000, 0);
  engine::wait(x);
  engine::set_workers(1);
  toy::Gate gate;
  engine::reset_peaks();
  Array y = x;
  for (int i = 0; i < 10; i++) y = elementwise(Row::add, {y, x});
  int64_t before = engine::memory().in_use;
  gate.is_open = true;
  engine::wait(y);
  CHECK(engine::memory().peak <= before + 5'000'000);  // one result of 4 MB
}
