// Where a long stream of calls is cut into batches.
#include "cut.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace slipstream::engine {

size_t length_of_batch(std::span<const Record> calls, size_t most) {
  if (calls.size() <= most) return calls.size();
  size_t play = most / 4;
  size_t shortest = most - play, begin = shortest - play, end = std::min(most + play, calls.size());
  struct Life {
    size_t made, read;
  };
  std::unordered_map<const Storage*, Life> passing;  // values that nobody but these calls can name
  for (size_t i = begin; i < end; i++) {
    for (const Operand& input : calls[i].inputs)
      if (!input.is_scalar())
        if (auto life = passing.find(input.storage()); life != passing.end()) life->second.read = i;
    for (const Operand& output : calls[i].outputs)
      if (!output.storage()->has_handles()) passing.try_emplace(output.storage(), Life{i, i});
  }
  std::vector<int> severed(play + 1);  // by a cut after `shortest` calls, one more, ...
  for (const auto& [storage, life] : passing)
    for (size_t length = std::max(life.made + 1, shortest); length <= std::min(life.read, most); length++)
      severed[length - shortest]++;
  auto best = std::min_element(severed.rbegin(), severed.rend());  // the longest of the best
  return most - static_cast<size_t>(best - severed.rbegin());
}

}  // namespace slipstream::engine
