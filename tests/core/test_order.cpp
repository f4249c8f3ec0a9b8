// The order in which tasks run where several could: older calls first, and memory is not filled before its turn.
#include <atomic>
#include <mutex>

#include "../../core/engine/cut.h"
#include "check.h"
#include "toy.h"

using namespace toy;

namespace {

constexpr int64_t kMega = 1 << 17;  // values of 8 bytes

Body sleeps(int ms) {
  return [ms](const Record&, int, int64_t) { sleep_ms(ms); };
}

void until(const std::function<bool()>& holds) {
  for (int i = 0; i < 5000 && !holds(); i++) sleep_ms(1);
  CHECK(holds());
}

}  // namespace

TEST(what_became_ready_late_but_was_recorded_early_runs_first) {
  Settings restore;
  engine::set_workers(1);
  std::atomic<bool> go{false};
  std::mutex mutex;
  std::vector<int> order;
  auto note = [&](int number) {
    return [&, number](const Record&, int, int64_t) {
      std::lock_guard hold(mutex);
      order.push_back(number);
    };
  };
  Array gate = apply(host, {}, [&](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
  });
  std::vector<Array> results;
  for (int i = 0; i < 3; i++) results.push_back(apply(effect, {gate}, note(i), {1}, 10'000));
  for (int i = 3; i < 6; i++) results.push_back(apply(effect, {}, note(i), {1}, 10'000));
  sleep_ms(20);  // planned, and the last three are in the queue
  go = true;
  until([&] { return engine::is_ready(results[5]); });
  CHECK(order == (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(a_loop_that_never_waits_does_not_fill_memory_ahead_of_its_turn) {
  Settings restore;
  engine::set_workers(2);
  engine::wait_all();
  engine::reset_peaks();
  int64_t before = engine::memory().in_use;
  Array state = constant(0);
  for (int i = 0; i < 60; i++) {
    Array data = apply(effect, {}, [](const Record&, int, int64_t) {}, {1}, kMega);
    for (int k = 0; k < 10; k++) state = apply(effect, {state, data}, sleeps(k == 0), {4}, 10'000);
  }
  engine::wait(state);
  int64_t data_bytes = kMega * 8;
  CHECK(engine::memory().peak - before < 8 * data_bytes);  // of 60
}

TEST(what_takes_a_good_part_of_all_memory_begins_when_all_before_it_is_done) {
  Settings restore;
  engine::set_workers(2);
  engine::wait_all();
  engine::reset_peaks();
  std::atomic<int> ended{0};
  std::atomic<bool> alone[20] = {};
  std::vector<Array> small;
  for (std::atomic<bool>& was_alone : alone) {  // independent of each other; nobody waits for any of them
    int before = static_cast<int>(small.size());
    auto slow = [&](const Record&, int, int64_t) {
      sleep_ms(3);
      ended++;
    };
    small.push_back(apply(effect, {}, slow, {1}, 10'000));
    apply(effect, {}, [&, before](const Record&, int, int64_t) { was_alone = ended > before; }, {1}, kMega);
  }
  until([&] { return engine::stats().in_flight_ops == 0; });
  for (std::atomic<bool>& was_alone : alone) CHECK(was_alone);
}

TEST(calls_that_no_worker_has_time_to_plan_are_planned_by_whoever_records_them) {
  Settings restore;
  engine::set_workers(1);
  std::atomic<bool> go{false};
  auto opens = [&](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
  };
  Array gate = apply(effect, {}, opens, {1}, 10'000);
  until([&] { return engine::explain().starts_with("last batch: 1 call\n"); });
  Array last = gate;
  for (int i = 0; i < 2000; i++) last = apply(pure, {last}, sleeps(0), {1}, 10'000);
  CHECK(!engine::explain().starts_with("last batch: 1 call\n"));
  CHECK(!engine::is_ready(last));
  go = true;
  engine::wait(last);
}

TEST(a_host_call_may_wait_for_what_lies_far_behind) {
  Settings restore;
  engine::set_workers(1);
  std::atomic<bool> go{false};
  Array far;
  Array waits = apply(host, {}, [&](const Record& r, int, int64_t) {
    while (!go) sleep_ms(1);
    value(r.outputs[0]) = read(far);
  });
  std::vector<Array> between;
  for (int i = 0; i < 100; i++) between.push_back(apply(effect, {}, sleeps(0), {1}, 10'000));
  far = apply(effect, {}, [](const Record& r, int, int64_t) { value(r.outputs[0]) = 11; }, {1}, kMega);
  sleep_ms(20);
  go = true;
  CHECK_EQ(read(waits), 11);
}

TEST(devices_do_not_wait_for_each_others_turn) {
  Settings restore;
  engine::set_workers(2);
  std::atomic<bool> go{false};
  auto opens = [&](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
  };
  Array slow = apply(effect, {}, opens, {1}, 10'000);
  for (int i = 0; i < 100; i++) slow = apply(effect, {slow}, sleeps(0), {1}, 10'000);
  Array other = apply(effect, {}, sleeps(0), {1}, kMega, 1);
  until([&] { return engine::is_ready(other); });
  CHECK(!engine::is_ready(slow));
  go = true;
  engine::wait_all();
}

TEST(a_batch_ends_where_the_fewest_passing_values_are_severed) {
  std::vector<Record> calls;
  Array kept(Shape{4}, DType::i64, device());
  for (int step = 0; step < 8; step++) {  // of five calls, each reading the one before it
    Array last = kept;
    for (int i = 0; i < 5; i++) {
      Array next(Shape{4}, DType::i64, device());
      Record record = call(pure, {last}, sleeps(0));
      record.outputs.emplace_back(i == 4 ? kept : next);
      calls.push_back(std::move(record));
      last = next;
    }
  }
  for (size_t most : {12u, 17u, 20u, 24u, 33u}) CHECK_EQ(engine::length_of_batch(calls, most), most - most % 5);
  CHECK_EQ(engine::length_of_batch(calls, 40), 40u);
  CHECK_EQ(engine::length_of_batch(calls, 1), 1u);
}
