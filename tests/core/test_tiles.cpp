// Elementwise work on products: tile by tile, with the same bits and the same failures as one by one.
#include <string>

#include "../../core/elementwise.h"
#include "../../core/ops/structural.h"
#include "arrays.h"
#include "check.h"
#include "toy.h"

using namespace slipstream;

namespace {

Array layer(const Array& x, const Array& weight, const Array& bias) {
  return elementwise(Row::relu, {elementwise(Row::add, {matmul(x, weight), bias})});
}

// Two layers, a stack, a residual, and a write into an argument of the product before its result is used.
std::vector<std::vector<float>> run_program() {
  Array x = wave({300, 30}), weight = wave({30, 290}), bias = wave({290}), next = wave({290, 280});
  Array hidden = layer(x, weight, bias), out = layer(hidden, next, wave({300, 1}));
  Array stack = elementwise(Row::multiply, {matmul(wave({40, 30, 20}), wave({40, 20, 50})), wave({40, 1, 50})});
  Array residual = elementwise(Row::subtract, {out, matmul(hidden, next)});
  Array late = matmul(x, weight);
  assign(weight, Scalar::of(2.0));
  late = elementwise(Row::add, {late, weight.view({DType::f32, 0, {290}, {4}})});
  return {values(out), values(stack), values(residual), values(late)};
}

}  // namespace

TEST(work_on_products_has_the_same_bits_as_one_by_one) {
  toy::Settings restore;
  engine::set_engine_kind(engine::EngineKind::sync);
  auto expected = run_program();
  engine::set_engine_kind(engine::EngineKind::async);
  for (int workers : {1, 3}) {
    engine::set_workers(workers);
    for (int repeat = 0; repeat < 3; repeat++) CHECK(run_program() == expected);
  }
}

TEST(work_on_products_says_so_and_traces_as_one) {
  toy::Settings restore;
  engine::set_workers(1);
  Array x = wave({300, 30}), weight = wave({30, 290}), bias = wave({290});
  engine::wait_all();
  toy::Gate gate;  // the only worker is busy: all that follows is one batch
  engine::start_trace();
  engine::wait(layer(x, weight, bias));
  bool together = false;
  for (const engine::Event& event : engine::stop_trace())
    together |= event.type == engine::Event::run && event.name == "matmul, add+relu";
  CHECK(together);
  CHECK(engine::explain().find("tile by tile: matmul -> (300, 290)") != std::string::npos);
}

TEST(work_on_products_without_memory_fails_one_by_one) {
  toy::Settings restore;
  engine::set_workers(1);
  Array x = wave({300, 30}), weight = wave({30, 290}), bias = wave({290});
  std::vector<float> expected = values(layer(x, weight, bias));
  int failures = 0;
  for (int every = 1; every < 5; every++) {
    engine::fail_allocations(every);
    try {
      engine::wait(layer(x, weight, bias));
    } catch (const FailedResult&) {
      failures++;
    }
    engine::fail_allocations(0);
    engine::wait_all();
    engine::take_failures();
  }
  CHECK(failures > 0);
  CHECK(values(layer(x, weight, bias)) == expected);
}
