// Kernels of elementwise records and programs.
#pragma once

#include "../engine/device.h"

namespace slipstream::cpu {

std::unique_ptr<Kernel> make_map(const Record& record);      // a record of an elementwise row, or a copy
std::unique_ptr<Kernel> make_program(const Record& record);  // kMap
void register_map(engine::Backend& backend);

}  // namespace slipstream::cpu
