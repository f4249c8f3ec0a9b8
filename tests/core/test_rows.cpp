// Calls that keep to their rows: run block of rows by block of rows, with the same bits and the same failures.
#include <atomic>
#include <string>

#include "../../core/elementwise.h"
#include "../../core/ops/structural.h"
#include "arrays.h"
#include "check.h"
#include "toy.h"

using namespace slipstream;

namespace {

Array row_by_row(Row row, const Array& x, bool keepdims = true) {
  ReduceOptions options;
  options.axes = 1u << (x.ndim() - 1);
  options.keepdims = keepdims;
  return reduce(row, x, options);
}

Array softmax(const Array& x) {
  Array powers = elementwise(Row::exp, {elementwise(Row::subtract, {x, row_by_row(Row::max, x)})});
  return elementwise(Row::divide, {powers, row_by_row(Row::sum, powers)});
}

// Rows of rows, reductions without the axis they reduced, a result that is kept, and one that reads across rows.
std::vector<std::vector<float>> run_program(const Shape& shape) {
  Array x = wave(shape);
  Array soft = softmax(x), centred = elementwise(Row::subtract, {x, row_by_row(Row::sum, soft)});
  Array lengths = elementwise(Row::sqrt, {row_by_row(Row::sum, elementwise(Row::square, {centred}), false)});
  ReduceOptions first;
  first.axes = 1;
  Array across = elementwise(Row::add, {x, reduce(Row::max, softmax(centred), first)});
  return {values(soft), values(lengths), values(across)};
}

}  // namespace

TEST(calls_that_keep_to_their_rows_have_the_same_bits_as_one_by_one) {
  toy::Settings restore;
  for (const Shape& shape :
       {Shape{300, 200}, Shape{40, 30, 60}, Shape{20'000, 3}, Shape{2, 30'000}, Shape{1, 4, 9000}}) {
    engine::set_engine_kind(engine::EngineKind::sync);
    auto expected = run_program(shape);
    engine::set_engine_kind(engine::EngineKind::async);
    for (int workers : {1, 3}) {
      engine::set_workers(workers);
      for (int repeat = 0; repeat < 3; repeat++) CHECK(run_program(shape) == expected);
    }
  }
}

TEST(calls_run_by_rows_say_so_and_trace_as_one) {
  toy::Settings restore;
  engine::set_workers(1);
  Array x = wave(Shape{512, 256});
  engine::wait(x);
  toy::Gate gate;  // the only worker is busy: all that follows is one batch
  engine::start_trace();
  Array y = softmax(x);
  engine::wait(y);
  bool together = false;
  for (const engine::Event& event : engine::stop_trace())
    together |= event.type == engine::Event::run && event.name.find("max, subtract+exp, sum, divide") == 0;
  CHECK(together);
  CHECK(engine::explain().find("block of rows by block of rows: max") != std::string::npos);
}

TEST(calls_by_rows_without_memory_fail_one_by_one) {
  toy::Settings restore;
  engine::set_workers(1);
  Array x = wave(Shape{512, 256});
  engine::wait(x);
  int failures = 0;
  for (int every = 1; every < 6; every++) {
    engine::fail_allocations(every);
    Array y = softmax(x);
    try {
      engine::wait(y);
    } catch (const FailedResult&) {
      failures++;
    }
    engine::fail_allocations(0);
    engine::wait_all();
    engine::take_failures();
  }
  CHECK(failures > 0);
  std::vector<float> sums = values(row_by_row(Row::sum, softmax(x)));
  for (float sum : sums) CHECK(sum > 0.999f && sum < 1.001f);
}
