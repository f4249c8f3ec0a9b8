// All steps of a recurrent layer in one call: rows of a batch never meet, so nobody waits for anybody between steps.
#pragma once

#include "../op.h"

namespace slipstream {

// Arrays are row-major, of one float type; the weight may be any matrix that BLAS could take.
extern const Op kLstm;  // projected, weight, state, cell; gives states, cells, and gates where somebody wants them
extern const Op kLstmGradient;  // gates, cells, weight, g of outputs, g of cells; gives those of projected, state, cell

struct LstmParams final : ComparedParams<LstmParams> {
  bool backwards = false;  // from the last step to the first
  bool operator==(const LstmParams&) const = default;
};

// Is one call quicker than one for each step? Not where the weight outgrows the cache, or nothing multiplies panels;
// and it takes all in one type.
bool lstm_pays(const Array& projected, const Array& weight, const Array& state, const Array& cell);

// States and cells before the first step and after each (steps + 1, batch, width), in the order of the steps: the first
// ones are the last where it goes backwards. Gates (steps, batch, 4 width): entry, forget, new, leave.
struct LstmSteps {
  Array states, cells;
  Array gates;  // empty if nobody wanted them
};
// From the projected input (steps, batch, 4 width), the weight (4 width, width), and state and cell (batch, width). No
// history: its gradient is the other one.
LstmSteps lstm(const Array& projected, const Array& weight, const Array& state, const Array& cell, bool backwards,
               bool want_gates);

struct LstmSlopes {
  Array projected, state, cell;
};
// From the gradients of what came after each step (steps, batch, width).
LstmSlopes lstm_gradient(const Array& gates, const Array& cells, const Array& weight, const Array& of_outputs,
                         const Array& of_cells, bool backwards);

}  // namespace slipstream
