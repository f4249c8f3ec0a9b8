// Rows of memory that lie apart.
#pragma once

#include <cstdint>

namespace slipstream {

struct MemoryRows {
  const char* data;
  int64_t down;  // bytes from row to row
};

}  // namespace slipstream
