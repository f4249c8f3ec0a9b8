// Row: the number of each line of ops.def.
#pragma once

#include <cstdint>

namespace slipstream {

enum class Row : uint16_t {
#define UNARY(name, ...) name,
#define BINARY(name, ...) name,
#define TERNARY(name, ...) name,
#define REDUCE(name, ...) name,
#include "ops.def"
  cast,  // conversion between dtypes; not a public function
  none,
};
inline constexpr int kRowCount = static_cast<int>(Row::cast);

}  // namespace slipstream
