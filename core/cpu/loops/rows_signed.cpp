// Elementwise loops of the signed integers.
#include "loops.h"

namespace slipstream::SLIP_ISA {

void fill_signed(Loops& loops) {
  fill_rows<DType::i8>(loops);
  fill_rows<DType::i16>(loops);
  fill_rows<DType::i32>(loops);
  fill_rows<DType::i64>(loops);
}

}  // namespace slipstream::SLIP_ISA
