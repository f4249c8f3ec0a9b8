// What happens around the engine: interrupts of waits, threads that share it, fork, exit.
#include <atomic>
#include <thread>

#include "check.h"
#include "child.h"
#include "toy.h"

using namespace toy;

namespace {

// A front end whose user presses Ctrl-C some time after `press` was called; the thread of the test answers it.
struct Interrupt {};

struct Keyboard {
  static inline std::atomic<bool> pressed{false};
  static inline std::atomic<int> blocking{0}, sections{0};
  static inline std::thread::id main_thread;
  std::thread finger;

  Keyboard() {
    engine::wait_all();
    pressed = false;
    blocking = sections = 0;
    main_thread = std::this_thread::get_id();
    engine::FrontEnd front_end;
    front_end.enter_blocking = []() -> void* {
      sections++;
      blocking++;
      return &blocking;
    };
    front_end.leave_blocking = [](void*) { blocking--; };
    front_end.poll = [] {
      if (pressed.exchange(false)) throw Interrupt();
    };
    front_end.must_poll = [] { return std::this_thread::get_id() == main_thread; };
    engine::set_front_end(front_end);
  }
  ~Keyboard() {
    if (finger.joinable()) finger.join();
    engine::wait_all();
    engine::set_front_end({});
  }
  void press(int after_ms) {
    if (finger.joinable()) finger.join();
    finger = std::thread([=] {
      sleep_ms(after_ms);
      pressed = true;
    });
  }
};

bool interrupted(const std::function<void()>& wait) {
  try {
    wait();
  } catch (const Interrupt&) {
    return true;
  }
  return false;
}

// Not tiny, so it is a task of its own.
Array slow_step(const Array& x, int ms) {
  return apply(
      pure, {x},
      [ms](const Record& r, int, int64_t) {
        sleep_ms(ms);
        value(r.outputs[0]) = value(r.inputs[0]) + 1;
      },
      {1}, 10'000);
}

}  // namespace

// ---- interrupts

TEST(an_interrupt_ends_every_wait_and_the_work_goes_on) {
  Settings restore;
  Keyboard keyboard;
  Gate gate;
  Array x = plus(gate.array, 1);
  engine::Limits few = engine::limits();
  few.ops = 4;
  const std::function<void()> waits[] = {
      [&] { engine::wait(x); },
      [] { engine::wait_all(); },
      [] { engine::wait_until(engine::sequence()); },
      [&] {
        engine::set_limits(few);  // the stream is full: recording waits
        for (int i = 0; i < 10; i++) apply(effect, {gate.array}, [](const Record&, int, int64_t) {});
      },
  };
  for (const auto& wait : waits) {
    keyboard.press(5);
    CHECK(interrupted(wait));
    CHECK_EQ(Keyboard::blocking.load(), 0);
    engine::set_limits(restore.limits);
    CHECK_EQ(read(plus(constant(1), 1)), 2);
  }
  CHECK(Keyboard::sections > 4);
  gate.is_open = true;
  CHECK_EQ(read(x), 8);
}

TEST(an_interrupted_thread_gives_back_the_work_it_took) {
  Settings restore;
  engine::set_workers(1);
  Keyboard keyboard;
  Gate gate;  // the only worker is busy: the waiting thread does everything
  Array x = constant(0);
  for (int i = 0; i < 12; i++) x = slow_step(x, 5);
  keyboard.press(15);
  CHECK(interrupted([&] { engine::wait(x); }));
  CHECK(!engine::is_ready(x));
  gate.is_open = true;
  CHECK_EQ(read(x), 12);
}

TEST(an_interrupt_between_chunks_leaves_the_rest_to_others) {
  Settings restore;
  Keyboard keyboard;
  for (int workers : {1, 3}) {
    engine::set_workers(workers);
    auto ran = std::make_shared<std::atomic<int>>(0);
    Array x = apply(
        pure, {},
        [ran](const Record&, int, int64_t) {
          sleep_ms(2);
          (*ran)++;
        },
        {40, 1, 40}, 10'000);
    keyboard.press(10);
    interrupted([&] { engine::wait(x); });
    engine::wait(x);
    CHECK_EQ(ran->load(), 81);
  }
}

// ---- threads

TEST(synchronous_calls_of_other_threads_are_waited_for) {
  Settings restore;
  engine::set_engine_kind(engine::EngineKind::sync);
  CHECK(engine::engine_kind() == engine::EngineKind::sync);
  Array shared = constant(1);
  std::atomic<bool> entered{false};
  std::thread writer([&] {
    apply_to(shared, effect, {}, [&](const Record& r, int, int64_t) {
      entered = true;
      sleep_ms(30);
      value(r.outputs[0]) = 5;
    });
  });
  while (!entered) sleep_ms(1);
  CHECK_EQ(read(shared), 5);
  Array copy = plus(shared, 1);
  CHECK_EQ(read(copy), 6);
  writer.join();
}

TEST(a_call_that_takes_long_holds_up_no_other) {
  Settings restore;
  engine::set_workers(2);
  Gate gate;
  Array x = constant(0);
  for (int i = 0; i < 600; i++) {
    x = plus(x, 1);
    CHECK_EQ(read(x), i + 1);
  }
  CHECK(!engine::is_ready(gate.array));
}

TEST(a_tiny_call_does_not_wait_for_the_inputs_of_another) {
  Settings restore;
  engine::set_workers(1);
  Gate gate;  // the only worker is busy: all that follows is one batch
  Array behind = plus(gate.array, 1), further = plus(gate.array, 2);
  Array free = plus(constant(3), 1);
  std::atomic<bool> late{false};
  std::thread opens([&] {
    for (int i = 0; i < 2000 && !engine::is_ready(free); i++) sleep_ms(1);
    late = !engine::is_ready(free);
    gate.is_open = true;
  });
  CHECK_EQ(read(free), 4);
  opens.join();
  CHECK(!late);
  CHECK_EQ(read(behind) + read(further), 17);
}

TEST(what_a_host_call_may_not_do_is_an_error_and_what_it_may_works) {
  Settings restore;
  Array x = constant(3), other = constant(4);
  Array result = apply(host, {x}, [&](const Record& r, int, int64_t) {
    CHECK(engine::inside_task());
    CHECK(engine::holds(x));
    CHECK(!engine::holds(other));
    CHECK(!engine::quiesce());
    CHECK_THROWS(Error, "not inside a host call", engine::set_workers(3));
    value(r.outputs[0]) = read(other) + value(r.inputs[0]);
  });
  CHECK_EQ(read(result), 7);
  CHECK(!engine::inside_task());
  CHECK(!engine::holds(x));
  CHECK(engine::quiesce());
}

// ---- fork and exit

TEST(a_forked_child_has_the_settings_of_its_parent_and_an_engine_of_its_own) {
  Settings restore;
  engine::set_workers(3);
  engine::Limits limits = engine::limits();
  limits.ops = 123;
  engine::set_limits(limits);
  engine::Planning planning = engine::planning();
  planning.batch = 17;
  engine::set_planning(planning);
  Array done = constant(2), written = constant(1);
  CHECK_EQ(read(done), 2);
  engine::wait(written);
  Gate gate;
  Array late = plus(gate.array, 1);
  apply_to(written, pure, {gate.array}, [](const Record&, int, int64_t) {});
  const uint32_t generation = engine::generation();
  const int64_t in_use = engine::memory().in_use;
  CHECK_EQ(check::in_child([&] {
             if (engine::generation() != generation + 1) return 1;
             if (engine::workers() != 3 || engine::limits().ops != 123 || engine::planning().batch != 17) return 2;
             if (engine::memory().in_use != in_use) return 3;
             for (const Array& lost : {gate.array, late, written}) {
               if (!engine::is_ready(lost)) return 4;  // never will be: reading it must not wait
               try {
                 engine::wait(plus(lost, 1));
                 return 5;
               } catch (const FailedResult& error) {
                 if (std::string(error.what()).find("when the process forked") == std::string::npos) return 6;
               }
             }
             if (!engine::take_failures().empty()) return 7;
             return read(plus(done, 40)) == 42 ? 0 : 8;
           }),
           0);
  gate.is_open = true;
  CHECK_EQ(read(late), 8);
}

TEST(exit_drops_what_has_no_effect_and_says_so) {
  CHECK_EQ(check::in_child([] {
             engine::set_workers(1);
             std::atomic<int> effects{0};
             std::atomic<bool> entered{false};
             Array first = apply(host, {}, [&](const Record&, int, int64_t) {
               entered = true;
               sleep_ms(50);
               effects++;
             });
             while (!entered) sleep_ms(1);  // the only worker is busy while the rest is recorded
             Array dropped = slow_step(constant(1), 1), behind = slow_step(dropped, 1);
             Array kept = apply(effect, {constant(2)}, [&](const Record&, int, int64_t) { effects++; });
             engine::shutdown(20);
             if (effects != 2 || !engine::is_ready(kept)) return 1;
             if (engine::engine_kind() != engine::EngineKind::sync) return 2;
             for (const Array& gone : {dropped, behind}) {
               try {
                 engine::wait(gone);
                 return 3;
               } catch (const FailedResult& error) {
                 if (std::string(error.what()) != "dropped at exit of the interpreter") return 4;
               }
             }
             engine::shutdown(20);  // a second time does nothing
             return read(plus(constant(1), 1)) == 2 ? 0 : 5;
           }),
           0);
}

TEST(exit_is_bounded_and_can_be_interrupted) {
  for (bool pressed : {false, true}) {
    CHECK_EQ(check::in_child([&] {
               auto& keyboard = *new Keyboard();  // stays: at its end it would wait for the endless call
               auto& entered = *new std::atomic<bool>(false);
               Array endless = apply(host, {}, [&entered](const Record&, int, int64_t) {
                 entered = true;
                 sleep_ms(1'000'000);
               });
               while (!entered) sleep_ms(1);
               if (pressed) keyboard.press(10);
               const auto start = std::chrono::steady_clock::now();
               engine::shutdown(pressed ? 1 : 0.1);
               const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
               return seconds.count() < 10 ? 0 : 1;
             }),
             0);
  }
}
