// Elementwise loops of float32.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_f32(Loops& loops) { fill_rows<DType::f32>(loops); }

}  // namespace slipstream::SLIP_ISA
