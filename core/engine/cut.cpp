// Where a long stream of calls is cut into batches.
#include "cut.h"

#include <algorithm>
#include <vector>

namespace slipstream::engine {

size_t length_of_batch(std::span<const Record> calls, size_t most) {
  if (calls.size() <= most) return calls.size();
  size_t play = most / 4;
  size_t shortest = most - play, begin = shortest - play, end = std::min(most + play, calls.size());
  struct Life {
    const Storage* of;
    size_t made, read;
  };
  std::vector<Life> passing;  // values that nobody but these calls can name; few, so that looking through is quickest
  auto life_of = [&](const Storage* storage) {
    return std::find_if(passing.begin(), passing.end(), [&](const Life& life) { return life.of == storage; });
  };
  for (size_t i = begin; i < end; i++) {
    for (const Operand& input : calls[i].inputs)
      if (!input.is_scalar() && !input.storage()->has_handles())
        if (auto life = life_of(input.storage()); life != passing.end()) life->read = i;
    for (const Operand& output : calls[i].outputs)
      if (!output.storage()->has_handles() && life_of(output.storage()) == passing.end())
        passing.push_back({output.storage(), i, i});
  }
  std::vector<int> severed(play + 1);  // by a cut after `shortest` calls, one more, ...
  for (const Life& life : passing)
    for (size_t length = std::max(life.made + 1, shortest); length <= std::min(life.read, most); length++)
      severed[length - shortest]++;
  auto best = std::min_element(severed.rbegin(), severed.rend());  // the longest of the best
  return most - static_cast<size_t>(best - severed.rbegin());
}

}  // namespace slipstream::engine
