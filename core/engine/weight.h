// Weight: how much work a call is, as far as its operands tell. Decides who runs it, and whether it is planned at all.
#pragma once

#include "../op.h"

namespace slipstream::engine {

enum class Weight : uint8_t {
  trifle,   // costs less than taking it to another core: left to the thread that records and waits
  trivial,  // costs less than planning it
  tiny,     // not worth a task of its own
  small,    // not worth planning where a thread waits for a few of them
  normal,
  heavy,    // worth waking a worker at once
};

inline int64_t elements_of(const Record& call) {
  int64_t elements = 0;
  for (const Operand& input : call.inputs)
    if (!input.is_scalar()) elements += input.size();
  for (const Operand& output : call.outputs) elements += output.size();
  return elements;
}

inline Weight weigh(const Record& call) {
  constexpr int64_t kHeavyBytes = 256 << 10;  // of results
  if (call.op->flags & (kHost | kLong)) return Weight::heavy;
  int64_t elements = elements_of(call);
  if (elements <= 4096) {
    if (call.op->row == Row::none) return elements <= 256 ? Weight::trivial : Weight::tiny;  // may do much with few
    return elements <= 64 ? Weight::trifle : Weight::trivial;
  }
  int64_t bytes = 0;
  for (const Operand& output : call.outputs) bytes += static_cast<int64_t>(output.nbytes());
  if (bytes >= kHeavyBytes) return Weight::heavy;
  // Other operations than rows have weights or tables to read.
  return elements <= (call.op->row == Row::none ? 262'144 : 16'384) ? Weight::small : Weight::normal;
}

}  // namespace slipstream::engine
