// Kernels of reductions, alone or at the end of a program.
#pragma once

#include "../engine/device.h"

namespace slipstream::cpu {

std::unique_ptr<Kernel> make_reduce(const Record& record);  // a record of a reduction row, or kReduce
void register_reduce(engine::Backend& backend);

}  // namespace slipstream::cpu
