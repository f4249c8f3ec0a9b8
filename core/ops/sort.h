// Order along the last axis: sorting, partial sorting, and the largest or smallest. Inputs and outputs are row-major.
#pragma once

#include <vector>

#include "../op.h"

namespace slipstream {

struct SortParams final : ComparedParams<SortParams> {
  bool descending = false;
  bool operator==(const SortParams&) const = default;
};
extern const Op kSort;     // SortParams; equal elements keep their order, NaN counts as the largest
extern const Op kArgsort;  // SortParams; the output is int64

struct SelectParams final : ComparedParams<SelectParams> {
  std::vector<int64_t> places;  // ascending: what would lie there if all were sorted lies there
  bool descending = false;
  bool operator==(const SelectParams&) const = default;
};
extern const Op kPartition;     // SelectParams
extern const Op kArgpartition;  // SelectParams; the output is int64
extern const Op kTop;           // SelectParams of one place; the output holds the places of all up to it, in order

}  // namespace slipstream
