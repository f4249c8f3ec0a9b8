// Copies between strided blocks of one element type, cut into chunks, gentle to the cache where one side is transposed.
#pragma once

#include <vector>

#include "../shape.h"

namespace slipstream::cpu {

class StridedCopy {
 public:
  StridedCopy(const Shape& shape, const Strides& to, const Strides& from, size_t itemsize);

  int64_t chunks() const { return chunks_; }
  bool dense() const {  // one run of memory on both sides
    return outer_.empty() && rows_.n == 1 && is_item(columns_.to) && is_item(columns_.from);
  }
  // Blocks must not overlap.
  void run(int64_t chunk, char* to, const char* from) const;
  void run_all(char* to, const char* from) const {
    for (int64_t chunk = 0; chunk < chunks_; chunk++) run(chunk, to, from);
  }

 private:
  struct Axis {
    int64_t n, to, from;
  };
  void choose_plane();
  bool is_item(int64_t step) const { return step == static_cast<int64_t>(itemsize_); }

  size_t itemsize_;
  bool empty_ = false;
  std::vector<Axis> outer_;
  Axis rows_{1, 0, 0}, columns_{1, 0, 0};  // the plane that is copied block by block
  int64_t row_block_ = 1, column_block_ = 1;
  int64_t row_blocks_ = 1, column_blocks_ = 1;
  int64_t blocks_ = 1, per_chunk_ = 1, chunks_ = 1;
};

}  // namespace slipstream::cpu
