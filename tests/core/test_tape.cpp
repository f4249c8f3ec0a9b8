// The tape without Python: noting, saving, differentiating, freeing, from several threads.
#include "../../core/graph/tape.h"

#include <cmath>
#include <thread>

#include "../../core/elementwise.h"
#include "../../core/engine/device.h"
#include "../../core/engine/engine.h"
#include "../../core/ops/structural.h"
#include "check.h"

using namespace slipstream;

namespace {

Device cpu() { return engine::device("cpu", 0); }

std::vector<double> values(const Array& x) {
  std::vector<double> out(static_cast<size_t>(x.size()));
  engine::wait(copy_to_host(x, out.data()));
  return out;
}

double last(const Array& x) { return values(x).back(); }

Array leaf(double start, int64_t n) {
  Array x = arange(Scalar::of(start), Scalar::of(1.0), n, DType::f64, cpu());
  tape::attach(x, full(x.shape, Scalar::of(0.0), DType::f64, cpu()), tape::GradReq::write);
  return x;
}

Array gradient(const Array& x) { return tape::leaf_of(x)->grad; }

// A cube that notes its own gradient, as structural operations do.
Array cube(const Array& x) {
  Array bare = x.detached();
  Array square = elementwise(Row::multiply, {Arg(bare), Arg(bare)});
  Array made = elementwise(Row::multiply, {Arg(square), Arg(bare)});
  if (tape::follows(x))
    tape::note("cube", made, {&x}, [x = tape::Saved(x)](const Array& g) {
      Array v = x.get();
      Array slope = elementwise(Row::multiply, {Arg(elementwise(Row::square, {Arg(v)})), Arg(Scalar::of(3.0))});
      return std::vector<Array>{elementwise(Row::multiply, {Arg(g), Arg(slope)})};
    });
  return made;
}

}  // namespace

TEST(tape_rows_and_noted_operations) {
  Array x = leaf(1, 3);
  Array y;
  {
    tape::Recording on(true);
    y = elementwise(Row::add, {Arg(cube(x)), Arg(elementwise(Row::exp, {Arg(x)}))});
  }
  tape::backward({&y, 1}, {}, false);
  std::vector<double> g = values(gradient(x));
  for (int i = 0; i < 3; i++) CHECK_NEAR(g[static_cast<size_t>(i)], 3.0 * (i + 1) * (i + 1) + std::exp(i + 1), 1e-12);
  CHECK_THROWS(Error, "was used and freed", tape::backward({&y, 1}, {}, false));
}

TEST(tape_higher_orders_of_noted_operations) {
  Array x = leaf(2, 1), y, slope, curve;
  {
    tape::Recording on(true);
    y = cube(x);
    slope = tape::grad({&y, 1}, {}, {&x, 1}, true, true)[0];
    curve = tape::grad({&slope, 1}, {}, {&x, 1}, true, true)[0];
  }
  CHECK_EQ(last(slope), 12.0);
  CHECK_EQ(last(curve), 12.0);
  CHECK_EQ(last(tape::grad({&curve, 1}, {}, {&x, 1}, false, false)[0]), 6.0);
}

TEST(tape_sees_writes_into_saved_values) {
  Array x = leaf(1, 2), y;
  Array w = full(Shape{2}, Scalar::of(2.0), DType::f64, cpu());
  {
    tape::Recording on(true);
    y = elementwise(Row::multiply, {Arg(x), Arg(w)});
  }
  assign(w, Scalar::of(3.0));
  CHECK_THROWS(Error, "was written in place since", tape::backward({&y, 1}, {}, false));
}

TEST(tape_content_of_a_buffer) {
  Array x = leaf(1, 2), total;
  Array buffer = full(Shape{3, 2}, Scalar::of(0.0), DType::f64, cpu());
  {
    tape::Recording on(true);
    for (int i = 0; i < 3; i++)
      assign(select(buffer, 0, i), elementwise(Row::multiply, {Arg(x), Arg(Scalar::of(i + 1.0))}));
    total = elementwise(Row::multiply, {Arg(buffer), Arg(buffer)});
  }
  tape::backward({&total, 1}, {}, false);
  std::vector<double> g = values(gradient(x));
  CHECK_NEAR(g[0], 2 * (1 + 4 + 9) * 1.0, 1e-12);
  CHECK_NEAR(g[1], 2 * (1 + 4 + 9) * 2.0, 1e-12);
}

TEST(tape_long_chains_end_without_recursion) {
  Array x = leaf(1, 1);
  Array y = x;
  {
    tape::Recording on(true);
    for (int i = 0; i < 200'000; i++) y = elementwise(Row::add, {Arg(y), Arg(Scalar::of(1.0))});
  }
  y = Array();
  engine::wait_all();
}

TEST(tape_threads_share_leaves) {
  Array x = leaf(1, 4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      CHECK(!tape::recording());
      for (int i = 0; i < 50; i++) {
        Array y;
        {
          tape::Recording on(true);
          y = elementwise(Row::multiply, {Arg(x), Arg(Scalar::of(t + 1.0))});
          y = elementwise(Row::square, {Arg(y)});
        }
        Array g = tape::grad({&y, 1}, {}, {&x, 1}, false, false)[0];
        CHECK_EQ(last(g), 2.0 * (t + 1) * (t + 1) * 4);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(tape_content_goes_with_the_last_handle) {
  Array x = leaf(1, 2);
  Array buffer = full(x.shape, Scalar::of(0.0), DType::f64, cpu());
  {
    tape::Recording on(true);
    assign(buffer, elementwise(Row::multiply, {Arg(x), Arg(Scalar::of(2.0))}));
  }
  Operand use(buffer);  // a call that is not done
  CHECK(use.storage()->content);
  buffer = Array();
  CHECK(!use.storage()->has_handles());
  CHECK(!use.storage()->content);
}

// As under a front end that lets one thread at a time hold and let go.
TEST(tape_counts_of_one_thread_at_a_time) {
  struct Alone {
    Alone() {
      engine::wait_all();
      one_at_a_time = true;
    }
    ~Alone() {
      engine::wait_all();
      one_at_a_time = false;
    }
  } alone;
  Array x = leaf(1, 3);
  Storage& storage = *x.storage();
  uint32_t handles = storage.handles();
  {
    Array view = select(x, 0, 1), copy = x;
    CHECK_EQ(storage.handles(), handles + 2);
    Array y;
    {
      tape::Recording on(true);
      y = elementwise(Row::square, {Arg(x)});
    }
    CHECK_EQ(storage.saved.load(), 1u);
    CHECK_EQ(storage.handles(), handles + 3);
    tape::backward({&y, 1}, {}, false);
    CHECK_EQ(last(gradient(x)), 6.0);
    CHECK_EQ(storage.saved.load(), 0u);
  }
  CHECK_EQ(storage.handles(), handles);
  engine::wait_all();
  Operand use(x);
  x = Array();
  CHECK(!storage.has_handles());
  CHECK_EQ(storage.uses(), 1u);
}
