// A layer's product, in one call of the front end.
#pragma once

#include <optional>

#include "../array.h"

namespace slipstream {

// x times the transposed weight (units, inputs), plus the bias if there is one; with `flatten`, all axes of x but the
// first are one. `units`, if given, is what the weight has to have.
Array fully_connected(const Array& x, const Array& weight, const Array* bias, std::optional<int64_t> units,
                      bool flatten);

}  // namespace slipstream
