// Elementwise loops of the unsigned integers and booleans, and the few that the 16-bit floats have of their own.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_unsigned(Loops& loops) {
  fill_rows<DType::b1>(loops);
  fill_rows<DType::u8>(loops);
  fill_rows<DType::u16>(loops);
  fill_rows<DType::u32>(loops);
  fill_rows<DType::u64>(loops);
  fill_rows<DType::f16>(loops);
  fill_rows<DType::bf16>(loops);
}

}  // namespace slipstream::SLIP_ISA
