// A layer's product, in one call of the front end.
#include "dense.h"

#include "../elementwise.h"
#include "../error.h"
#include "structural.h"

namespace slipstream {

Array fully_connected(const Array& x, const Array& weight, const Array* bias, std::optional<int64_t> units,
                      bool flatten) {
  if (weight.ndim() != 2)
    fail(ErrorKind::value, "fully_connected: weight of shape ", weight.shape, " must have two axes");
  if (units && *units != weight.shape[0])
    fail(ErrorKind::value, "fully_connected: num_hidden is ", *units, ", but weight has shape ", weight.shape);
  Array flat = x;
  if (flatten && x.ndim() != 2) {
    int64_t rows = x.ndim() ? x.shape[0] : 1, columns = 1;
    for (int i = 1; i < x.ndim(); i++) columns *= x.shape[i];
    flat = reshape(x, Shape{rows, columns});
  }
  if (flat.ndim() == 0 || flat.shape.back() != weight.shape[1])
    fail(ErrorKind::value, "fully_connected: data of shape ", flat.shape, " does not fit weight of shape ",
         weight.shape);
  Array made = matmul(flat, transpose(weight));
  return bias ? elementwise(Row::add, {std::move(made), *bias}) : made;
}

}  // namespace slipstream
