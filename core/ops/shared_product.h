// Products with a matrix that many steps share.
#pragma once

#include "../array.h"

namespace slipstream {

// x (rows, depth) times weight (depth, columns), as matmul. The gradient of a weight that was multiplied many times is
// one product over all of them, made when the last one is there: the state's weight of a recurrent layer has one for
// each step, each too small to be quick.
Array shared_product(const Array& x, const Array& weight);

}  // namespace slipstream
