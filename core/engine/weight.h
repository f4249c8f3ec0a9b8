// Weight: how much work a call is, as far as its operands tell. Decides who runs it, and whether it is planned at all.
#pragma once

#include "../program.h"

namespace slipstream::engine {

enum class Weight : uint8_t {
  trifle,   // costs less than taking it to another core: left to the thread that records and waits
  trivial,  // costs less than planning it
  tiny,     // not worth a task of its own
  small,    // not worth planning where a thread waits for a few of them
  modest,   // not worth planning where a thread waits for it alone
  heavy,    // worth waking a worker at once
};

inline int64_t elements_of(const Record& call) {
  if (call.op->row != Row::none && !is_reduction(call.op->row)) {  // inputs have the shape of the output
    int arrays = 1;
    for (const Operand& input : call.inputs) arrays += !input.is_scalar();
    return arrays * call.outputs[0].size();
  }
  int64_t elements = 0;
  for (const Operand& input : call.inputs)
    if (!input.is_scalar()) elements += input.size();
  for (const Operand& output : call.outputs) elements += output.size();
  return elements;
}

// Does each element cost about the same? Other calls may do much with few elements.
inline bool goes_by_elements(const Record& call) {
  return call.op->row != Row::none || call.op == &kMap || call.op == &kReduce;
}

inline Weight weigh(const Record& call) {
  if (call.op->flags & (kHost | kLong)) return Weight::heavy;
  bool is_row = call.op->row != Row::none;  // others may do much with few elements, or have tables to read
  int64_t elements = elements_of(call);
  bool is_plain = !(call.op->flags & ~kTiled);  // with so few elements nothing takes long
  if (elements <= 64 && (is_row || is_plain)) return Weight::trifle;
  if (elements <= (is_row ? 4096 : 256)) return Weight::trivial;
  if (elements <= 4096) return Weight::tiny;
  if (elements <= (is_row ? 16'384 : 262'144)) return Weight::small;
  return elements <= 262'144 ? Weight::modest : Weight::heavy;
}

}  // namespace slipstream::engine
