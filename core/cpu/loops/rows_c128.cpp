// Elementwise loops of complex128.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_c128(Loops& loops) { fill_rows<DType::c128>(loops); }

}  // namespace slipstream::SLIP_ISA
