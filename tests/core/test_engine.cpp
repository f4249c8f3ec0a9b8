// The engine's promises, on toy operations: order, waiting, failures, bounds, fork.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "check.h"
#include "toy.h"

using namespace toy;

TEST(chain_gives_sequential_result) {
  on_all_engines([] {
    Array x = constant(0);
    for (int i = 0; i < 2000; i++) x = plus(x, 1);
    CHECK_EQ(read(x), 2000);
  });
}

TEST(record_returns_before_the_work_is_done) {
  Settings restore;
  std::atomic<bool> go{false};
  Array x = apply(effect, {}, [&](const Record& r, int, int64_t) {
    while (!go) sleep_ms(1);
    value(r.outputs[0]) = 7;
  });
  CHECK(!engine::is_ready(x));
  go = true;
  CHECK_EQ(read(x), 7);
  CHECK(engine::is_ready(x));
}

TEST(in_place_writes_keep_program_order) {
  on_all_engines([] {
    Array x = constant(1);
    std::vector<Array> reads;
    for (int i = 0; i < 300; i++) {
      reads.push_back(plus(x, 0));
      apply_to(x, pure, {x},
               [](const Record& r, int, int64_t) { value(r.outputs[0]) = value(r.inputs[0]) * 3 % 1000003; });
    }
    int64_t expected = 1;
    for (int i = 0; i < 300; i++) {
      CHECK_EQ(read(reads[static_cast<size_t>(i)]), expected);
      expected = expected * 3 % 1000003;
    }
  });
}

TEST(independent_calls_run_side_by_side) {
  Settings restore;
  engine::set_workers(2);
  std::atomic<int> inside{0};
  auto meet = [&](const Record& r, int, int64_t) {
    inside++;
    for (int i = 0; i < 2000 && inside < 2; i++) sleep_ms(1);
    value(r.outputs[0]) = inside;
  };
  Array a = apply(host, {}, meet), b = apply(host, {}, meet);
  CHECK_EQ(read(a), 2);
  CHECK_EQ(read(b), 2);
}

// One worker naps, the other sleeps: a tiny call and a host call are ready, which wakes the first alone. It runs the
// tiny call and goes on with a second host call that this made ready. The first one, for which that waits, still lies
// in the queue: the sleeper has to be woken.
TEST(a_worker_that_turns_to_something_long_leaves_the_rest_to_a_sleeping_one) {
  Settings restore;
  engine::set_workers(2);
  engine::Planning planning = restore.planning;
  planning.bulk = 1;  // the tiny call is a task of its own
  engine::set_planning(planning);
  read(constant(1));
  for (int repeat = 0; repeat < 100; repeat++) {  // whether the first worker naps at that moment is chance
    sleep_ms(1);
    std::atomic<bool> first_runs{false}, met{false}, ended{false};
    Array tiny = apply(effect, {}, [](const Record&, int, int64_t) {});
    Array first = apply(host, {}, [&](const Record&, int, int64_t) { first_runs = true; });
    Array second = apply(host, {tiny}, [&](const Record&, int, int64_t) {
      for (int i = 0; i < 1000 && !first_runs; i++) sleep_ms(1);
      met = first_runs.load();
      ended = true;
    });
    engine::wait_until(0);  // plans them here, and waits for none
    while (!ended) std::this_thread::yield();
    engine::wait_all();
    REQUIRE(met);
  }
}

TEST(devices_have_queues_of_their_own) {
  Settings restore;
  engine::set_workers(2);
  std::atomic<bool> go{false};
  Array slow = apply(
      host, {},
      [&](const Record&, int, int64_t) {
        while (!go) sleep_ms(1);
      },
      {1}, 1, 0);
  Array fast = constant(5, 1);
  CHECK_EQ(read(fast), 5);
  CHECK(!engine::is_ready(slow));
  go = true;
  engine::wait(slow);
}

TEST(chunks_and_phases_each_run_once) {
  on_all_engines([] {
    for (int repeat = 0; repeat < 20; repeat++) {
      auto first = std::make_shared<std::vector<std::atomic<int>>>(100);
      auto second = std::make_shared<std::vector<std::atomic<int>>>(7);
      Array x = apply(pure, {},
                      [=](const Record& r, int phase, int64_t chunk) {
                        if (phase == 0) (*first)[static_cast<size_t>(chunk)]++;
                        if (phase == 2) {
                          int done = 0;
                          for (auto& count : *first) done += count;
                          CHECK_EQ(done, 100);  // phases do not overlap
                          (*second)[static_cast<size_t>(chunk)]++;
                          if (chunk == 0) value(r.outputs[0]) = 1;
                        }
                      },
                      {100, 0, 7});
      CHECK_EQ(read(x), 1);
      for (auto& count : *first) CHECK_EQ(count.load(), 1);
      for (auto& count : *second) CHECK_EQ(count.load(), 1);
    }
  });
}

TEST(a_wait_is_for_one_array_only) {
  Settings restore;
  engine::set_workers(1);
  std::atomic<bool> go{false};
  Array first = constant(3);
  Array behind = apply(host, {first}, [&](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
  });
  CHECK_EQ(read(first), 3);
  CHECK(!engine::is_ready(behind));
  go = true;
  engine::wait_all();
  CHECK(engine::is_ready(behind));
}

TEST(a_wait_runs_what_it_needs_first) {
  Settings restore;
  engine::set_workers(1);
  std::atomic<bool> go{false};
  std::atomic<int> others{0};
  Array blocker = apply(host, {}, [&](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
  });
  std::vector<Array> crowd;
  for (int i = 0; i < 100; i++) crowd.push_back(apply(effect, {}, [&](const Record&, int, int64_t) { others++; }));
  Array wanted = apply(effect, {}, [](const Record& r, int, int64_t) { value(r.outputs[0]) = 9; }, {1}, 10'000);
  CHECK_EQ(read(wanted), 9);  // the only worker is busy: this thread ran it, and did not run the crowd first
  CHECK(others < 100);
  go = true;
  engine::wait_all();
  CHECK_EQ(others.load(), 100);
}

TEST(random_programs_match_the_serial_result) {
  // 100 variables, 10,000 calls that read some and write one, in place or new, against plain C++.
  on_all_engines([] {
    std::mt19937_64 random(engine::workers() * 7919u + static_cast<uint64_t>(engine::planning().batch));
    constexpr int kVariables = 100, kCalls = 3000;
    std::vector<int64_t> expected(kVariables);
    std::vector<Array> actual;
    for (int i = 0; i < kVariables; i++) {
      expected[static_cast<size_t>(i)] = i;
      actual.push_back(constant(i));
    }
    auto pick = [&] { return static_cast<size_t>(random() % kVariables); };
    for (int c = 0; c < kCalls; c++) {
      size_t target = pick();
      std::vector<Array> inputs;
      int64_t sum = c;
      for (uint64_t k = random() % 5; k-- > 0;) {
        size_t source = pick();
        inputs.push_back(actual[source]);
        sum += expected[source];
      }
      bool chunked = random() % 8 == 0;
      auto body = [c](const Record& r, int, int64_t chunk) {
        if (chunk != 0) return;
        int64_t total = c;
        for (const Operand& input : r.inputs) total += value(input);
        value(r.outputs[0]) = total % 1000003;
      };
      expected[target] = sum % 1000003;
      if (random() % 2)
        apply_to(actual[target], pure, inputs, body);
      else
        actual[target] = apply(pure, inputs, body, {chunked ? 5 : 1});
      if (random() % 200 == 0) {
        size_t look = pick();
        CHECK_EQ(read(actual[look]), expected[look]);
      }
    }
    for (size_t i = 0; i < kVariables; i++) CHECK_EQ(read(actual[i]), expected[i]);
  });
}

TEST(many_threads_record_and_wait) {
  on_all_engines([] {
    Array shared = constant(0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&] {
        Array x = constant(0);
        for (int i = 0; i < 300; i++) {
          x = plus(x, 1);
          apply_to(shared, pure, {shared},
                   [](const Record& r, int, int64_t) { value(r.outputs[0]) = value(r.inputs[0]) + 1; });
          if (i % 50 == 0) CHECK_EQ(read(x), i + 1);
        }
        CHECK_EQ(read(x), 300);
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK_EQ(read(shared), 1200);
  });
}

TEST(dead_results_are_skipped_and_live_ones_are_not) {
  Settings restore;
  engine::wait_all();
  auto ran = std::make_shared<std::atomic<int>>(0);
  auto count = [ran](const Record&, int, int64_t) { (*ran)++; };
  auto record_dead_and_live = [&](bool skip) {
    engine::Planning planning = engine::planning();
    planning.skip = skip;
    engine::set_planning(planning);
    *ran = 0;
    engine::set_workers(1);
    Gate gate;  // the only worker is in it: what follows is planned as one batch
    Array live = apply(pure, {}, count);
    for (int i = 0; i < 10; i++) Array chain = apply(pure, {apply(pure, {}, count)}, count);
    apply(effect, {apply(pure, {}, count)}, count);  // its result is dead, its effect is not
    gate.is_open = true;
    engine::wait_all();
    return ran->load();
  };
  CHECK_EQ(record_dead_and_live(true), 3);
  CHECK_EQ(record_dead_and_live(false), 23);
  CHECK(engine::stats().skipped >= 20);
}

TEST(failures_mark_all_dependants_for_good) {
  on_all_engines([] {
    Array good = constant(1);
    Array bad =
        apply(failing, {good}, [](const Record&, int, int64_t) { fail(ErrorKind::index, "index 7 is out of bounds"); });
    Array child = plus(plus(bad, 1), 1);
    for (int i = 0; i < 3; i++) {
      CHECK_THROWS(FailedResult, "index 7", engine::wait(child));
      CHECK_THROWS(FailedResult, "index 7", engine::wait(bad));
    }
    CHECK_EQ(read(good), 1);
    Array target = constant(4);
    apply_to(target, pure, {bad}, [](const Record&, int, int64_t) {});
    CHECK_THROWS(FailedResult, "index 7", engine::wait(target));
    apply_to(target, pure, {good}, [](const Record&, int, int64_t) {});
    CHECK_THROWS(FailedResult, "index 7", engine::wait(target));
    CHECK_EQ(engine::take_failures().size(), 0u);  // observed above
  });
}

TEST(unobserved_failures_are_handed_over_once) {
  on_all_engines([] {
    for (int i = 0; i < 3; i++)
      apply(failing, {}, [](const Record&, int, int64_t) { throw std::runtime_error("nobody looks"); });
    engine::wait_all();
    CHECK_EQ(engine::take_failures().size(), 3u);
    CHECK_EQ(engine::take_failures().size(), 0u);
  });
}

TEST(a_failing_chunk_fails_the_call) {
  on_all_engines([] {
    Array x = apply(pure, {},
                    [](const Record&, int, int64_t chunk) {
                      if (chunk == 13) throw std::bad_alloc();
                    },
                    {64, 3});
    CHECK_THROWS(FailedResult, "out of memory", engine::wait(x));
  });
}

TEST(callbacks_run_after_failures) {
  on_all_engines([] {
    Array bad = apply(failing, {}, [](const Record&, int, int64_t) { fail(ErrorKind::value, "bad"); });
    auto seen = std::make_shared<std::atomic<int>>(0);
    Array done = apply(after_failure, {bad},
                       [=](const Record& r, int, int64_t) { *seen = r.inputs[0].storage()->failed() ? 2 : 1; });
    engine::wait_all();
    CHECK_EQ(seen->load(), 2);
    engine::take_failures();
  });
}

TEST(an_operation_without_kernel_fails_its_result) {
  Settings restore;
  Array x = apply(unknown, {}, [](const Record&, int, int64_t) {});
  CHECK_THROWS(FailedResult, "unknown is not available on toy(0)", engine::wait(x));
}

TEST(a_call_without_operands_runs) {
  on_all_engines([] {
    auto ran = std::make_shared<std::atomic<int>>(0);
    Record record = call(effect, {}, [=](const Record&, int, int64_t) { (*ran)++; });
    engine::backend(Device{}).provide(effect, engine::backend(device()).find(effect));
    engine::record(std::move(record));
    engine::wait_all();
    CHECK_EQ(ran->load(), 1);
  });
}

TEST(every_nth_allocation_fails_and_the_program_goes_on) {
  on_all_engines([] {
    for (int every : {1, 2, 3, 7}) {
      engine::fail_allocations(every);
      std::vector<Array> arrays;
      for (int i = 0; i < 40; i++) arrays.push_back(constant(i));
      int failed = 0;
      for (int i = 0; i < 40; i++) {
        try {
          CHECK_EQ(read(arrays[static_cast<size_t>(i)]), i);
        } catch (const FailedResult& e) {
          CHECK(e.failure->kind == ErrorKind::memory);
          failed++;
        }
      }
      CHECK_EQ(failed, 40 / every);
      engine::fail_allocations(0);
      CHECK_EQ(read(constant(5)), 5);
    }
  });
}

TEST(memory_limit_is_an_ordinary_error_and_freeing_helps) {
  on_all_engines([] {
    engine::wait_all();
    engine::empty_cache();
    engine::Limits limits = engine::limits();
    limits.memory = engine::memory().in_use + (1 << 20);
    engine::set_limits(limits);
    auto big = [] {
      return apply(pure, {}, [](const Record& r, int, int64_t) { value(r.outputs[0]) = 1; }, {1}, 100'000);
    };
    Array first = big();
    CHECK_EQ(read(first), 1);
    Array second = big();
    CHECK_THROWS(FailedResult, "out of memory", engine::wait(second));
    first = Array();
    CHECK_EQ(read(big()), 1);
    limits.memory = Settings().limits.memory;
    engine::set_limits(limits);
  });
}

TEST(memory_goes_back_at_last_use) {
  on_all_engines([] {
    engine::wait_all();
    int64_t before = engine::memory().in_use;
    {
      Array x = apply(pure, {}, [](const Record&, int, int64_t) {}, {1}, 1000);
      engine::wait(x);
      CHECK(engine::memory().in_use >= before + 8000);
    }
    engine::wait_all();
    CHECK_EQ(engine::memory().in_use, before);
    engine::empty_cache();
    CHECK_EQ(engine::memory().cached, 0);
  });
}

TEST(run_ahead_is_bounded_in_ops) {
  Settings restore;
  engine::Limits limits = engine::limits();
  limits.ops = 50;
  engine::set_limits(limits);
  engine::wait_all();
  engine::reset_peaks();
  int64_t stalls = engine::stats().stalls;
  std::vector<Array> kept;
  for (int i = 0; i < 1000; i++)
    kept.push_back(apply(
        effect, {}, [](const Record&, int, int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(20)); }));
  CHECK(engine::stats().peak_ops <= 50);
  CHECK(engine::stats().stalls > stalls);
  CHECK(engine::stats().stalled_seconds > 0);
}

TEST(run_ahead_is_bounded_in_bytes) {
  Settings restore;
  engine::Limits limits = engine::limits();
  limits.bytes = 8 << 20;
  engine::set_limits(limits);
  engine::wait_all();
  engine::empty_cache();
  engine::reset_peaks();
  for (int i = 0; i < 500; i++) apply(effect, {}, [](const Record&, int, int64_t) {}, {1}, 1 << 17);  // 1 MiB each
  engine::wait_all();
  CHECK(engine::stats().peak_bytes <= 8 << 20);
  engine::MemoryStats memory = engine::memory();
  CHECK(memory.peak <= 10 << 20);
  // A single result larger than the bound still runs, alone.
  Array large = apply(effect, {}, [](const Record& r, int, int64_t) { value(r.outputs[0]) = 1; }, {1}, 2 << 20);
  CHECK_EQ(read(large), 1);
}

TEST(waiting_inside_a_host_call_does_not_deadlock) {
  Settings restore;
  for (int workers : {1, 2, 8}) {
    engine::set_workers(workers);
    std::vector<Array> results;
    for (int i = 0; i < 10; i++) {
      Array x = plus(constant(i), 1);
      results.push_back(apply(host, {}, [x](const Record& r, int, int64_t) {
        Array inner = apply(host, {plus(x, 10)},
                            [](const Record& q, int, int64_t) { value(q.outputs[0]) = value(q.inputs[0]) * 2; });
        value(r.outputs[0]) = read(inner);
        engine::wait_all();
      }));
    }
    for (int i = 0; i < 10; i++) CHECK_EQ(read(results[static_cast<size_t>(i)]), (i + 11) * 2);
  }
}

TEST(a_host_call_that_waits_for_itself_is_an_error) {
  Settings restore;
  auto slot = std::make_shared<Array>();
  std::atomic<bool> go{false};
  Array x = apply(host, {}, [&, slot](const Record&, int, int64_t) {
    while (!go) sleep_ms(1);
    engine::wait(*slot);
  });
  *slot = plus(x, 1);
  go = true;
  CHECK_THROWS(FailedResult, "inside a host call", engine::wait(x));
  *slot = Array();
}

TEST(wait_until_is_a_fence) {
  on_all_engines([] {
    auto ran = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 20; i++) apply(effect, {}, [=](const Record&, int, int64_t) { (*ran)++; });
    uint64_t fence = engine::sequence();
    for (int i = 0; i < 5; i++) apply(effect, {}, [](const Record&, int, int64_t) {});
    engine::wait_until(fence);
    CHECK(ran->load() >= 20);
  });
}

TEST(trace_tells_of_every_call) {
  on_all_engines([] {
    engine::wait_all();
    engine::start_trace();
    Array x = constant(1);
    Array y = plus(x, 1);
    Array z = apply(pure, {y},
                    [](const Record& r, int, int64_t chunk) {
                      if (chunk == 0) value(r.outputs[0]) = 3;
                    },
                    {16});
    read(z);
    engine::wait_all();
    std::vector<engine::Event> events = engine::stop_trace();
    int records = 0, waits = 0;
    std::vector<engine::Event> runs;
    for (auto& event : events) {
      records += event.type == engine::Event::record;
      waits += event.type == engine::Event::wait;
      if (event.type != engine::Event::run) continue;
      runs.push_back(event);
      CHECK(event.recorded_ns <= event.start_ns && event.start_ns <= event.end_ns);
      CHECK(event.shapes.find("-> (1,) int64") != std::string::npos);
    }
    CHECK_EQ(records, 3);
    CHECK(runs.size() >= 3);
    CHECK(!engine::tracing());
    (void)waits;
  });
}

TEST(forked_child_computes_on_and_so_does_the_parent) {
  Settings restore;
  for (bool quiet : {true, false}) {
    for (int repeat = 0; repeat < 5; repeat++) {
      Array done = plus(constant(1), 1);
      engine::wait(done);
      std::atomic<bool> go{false};
      Array slow = quiet ? constant(5) : apply(host, {}, [&](const Record& r, int, int64_t) {
        while (!go) sleep_ms(1);
        value(r.outputs[0]) = 5;
      });
      if (quiet) engine::quiesce();
      pid_t child = fork();
      if (child == 0) {
        int code = 0;
        if (read(done) != 2) code = 1;
        try {
          if (read(slow) != 5) code = 2;
          if (!quiet) code = 3;
        } catch (const FailedResult&) {
          if (quiet) code = 4;
        }
        Array x = plus(done, 40);
        for (int i = 0; i < 100; i++) x = plus(x, 1);
        if (read(x) != 142) code = 5;
        _exit(code);
      }
      go = true;
      int status = 0;
      waitpid(child, &status, 0);
      CHECK(WIFEXITED(status));
      CHECK_EQ(WEXITSTATUS(status), 0);
      CHECK_EQ(read(slow), 5);
      CHECK_EQ(read(plus(done, 1)), 3);
    }
  }
}

TEST(settings_are_checked) {
  CHECK_THROWS(Error, "at least 1 worker", engine::set_workers(0));
  engine::Limits limits = engine::limits();
  limits.ops = 0;
  CHECK_THROWS(Error, "ops must be at least 1", engine::set_limits(limits));
}

// Runs in a child, because it ends the engine.
TEST(shutdown_finishes_effects_drops_the_rest_and_is_bounded) {
  pid_t child = fork();
  if (child == 0) {
    std::atomic<int> effects{0}, others{0};
    std::vector<Array> kept;
    Array source = apply(
        pure, {},
        [](const Record& r, int, int64_t) {
          sleep_ms(20);
          value(r.outputs[0]) = 1;
        },
        {1}, 10'000);
    for (int i = 0; i < 20; i++)
      kept.push_back(apply(effect, {source}, [&](const Record&, int, int64_t) { effects++; }));
    for (int i = 0; i < 2000; i++)
      kept.push_back(apply(
          pure, {},
          [&](const Record&, int, int64_t) {
            sleep_ms(10);
            others++;
          },
          {1}, 10'000));
    engine::shutdown(5);
    if (effects != 20) _exit(1);
    if (others > 500) _exit(2);
    Array late = plus(constant(1), 1);  // exit handlers that come later still get results
    _exit(read(late) == 2 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(several_threads_may_set_the_number_of_workers) {
  Settings restore;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([t] {
      for (int i = 0; i < 10; i++) {
        Array x = constant(i);
        engine::set_workers(1 + (i + t) % 3);
        CHECK_EQ(read(plus(x, 1)), i + 1);
      }
    });
  for (auto& thread : threads) thread.join();
}
