// Room for the work of a chunk: rooms that are held together never overlap, however they grow.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../../core/engine/thread_room.h"
#include "../../core/error.h"
#include "check.h"

using slipstream::engine::ThreadRoom;

namespace {

// Takes rooms within rooms, fills each with a number of its own, and looks whether all hold theirs still.
void take_rooms(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<ThreadRoom<int>>> held;
  std::vector<int64_t> sizes;
  for (int step = 0; step < 400; step++) {
    if (held.empty() || random() % 5 < 3) {
      sizes.push_back(random() % 8 == 0 ? random() % 400000 : random() % 5000);
      held.push_back(std::make_unique<ThreadRoom<int>>(sizes.back()));
      CHECK(sizes.back() == 0 || reinterpret_cast<uintptr_t>(held.back()->data()) % 64 == 0);
      std::fill_n(held.back()->data(), sizes.back(), static_cast<int>(held.size()));
    } else {
      for (size_t i = 0; i < held.size(); i++)
        CHECK(std::count(held[i]->data(), held[i]->data() + sizes[i], static_cast<int>(i + 1)) == sizes[i]);
      held.pop_back();
      sizes.pop_back();
    }
  }
  while (!held.empty()) held.pop_back();
}

}  // namespace

TEST(rooms_of_a_thread_do_not_overlap) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; seed++) threads.emplace_back(take_rooms, seed);
  for (std::thread& thread : threads) thread.join();
}

TEST(a_room_that_did_not_fit_finds_room_the_next_time) {
  if (!slipstream::engine::ThreadBytes::kShareBlock) check::skip("here each room is a block of its own");
  std::thread([] {
    const int* found = nullptr;
    for (int turn = 0; turn < 3; turn++) {
      ThreadRoom<int> outer(100), within(3 << 20);
      within.data()[(3 << 20) - 1] = turn;
      bool beside = within.data() > outer.data() && within.data() - outer.data() <= 128;
      CHECK(beside == (turn > 0));  // the first time nobody knew how much it would be
      if (turn == 2) CHECK(within.data() == found);
      found = within.data();
    }
  }).join();
}

TEST(room_that_cannot_be_had_is_an_error_and_no_more) {
  CHECK_THROWS(slipstream::Error, "out of memory", ThreadRoom<char>(int64_t{1} << 60));
  ThreadRoom<char> room(1000);
  std::memset(room.data(), 1, 1000);
}
