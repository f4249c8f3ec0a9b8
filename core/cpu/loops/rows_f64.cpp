// Elementwise loops of float64.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_f64(Loops& loops) { fill_rows<DType::f64>(loops); }

}  // namespace slipstream::SLIP_ISA
