// Elementwise loops of complex64.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_c64(Loops& loops) { fill_rows<DType::c64>(loops); }

}  // namespace slipstream::SLIP_ISA
