// Products with a shared matrix: matmul's value, and a gradient that waits for the others.
#include "shared_product.h"

#include "../graph/tape.h"
#include "structural.h"

namespace slipstream {

Array shared_product(const Array& x, const Array& weight) {
  bool plain = x.ndim() == 2 && weight.ndim() == 2 && x.dtype == weight.dtype;
  if (!plain || (!tape::follows(x) && !tape::follows(weight))) return matmul(x, weight);
  Array made = matmul(x.detached(), weight.detached());
  tape::Saved left = tape::follows(weight) ? tape::Saved(x) : tape::Saved(),
              right = tape::follows(x) ? tape::Saved(weight) : tape::Saved();
  tape::note("matmul", made, {&x, &weight}, [left, right](const Array& g) {
    std::vector<Array> found(2);
    if (right && tape::wanted(0)) found[0] = matmul(g, transpose(right.get()));
    if (left && tape::wanted(1)) tape::add_product(1, left.get(), g);
    return found;
  });
  return made;
}

}  // namespace slipstream
