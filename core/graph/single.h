// A node of one input and one result, for operations that are noted so often that an allocation or two matter.
#pragma once

#include "tape.h"

namespace slipstream::tape {

// `back` gives the gradient of the input, from that of the result.
template <class F>
class Single final : public Node {
 public:
  Single(const char* op, const Array& x, F back) : op_(op), input_(ref_of(x)), back_(std::move(back)) {
    stay_with(x.node());  // `back` holds no array
  }
  const char* name() const override { return op_; }
  std::span<const Ref<Node>> inputs() const override { return {&input_, 1}; }
  void differentiate(Spread& to) override { to.add(0, back_(to.gradient())); }
  void forget() override {
    if (!stays) input_.reset();
  }

 private:
  const char* op_;
  Ref<Node> input_;
  F back_;
};

// As note(), of a result that was made from x alone.
template <class F>
void note_single(const char* op, const Array& result, const Array& x, F back) {
  enter(result, new Single<F>(op, x, std::move(back)), here());
}

}  // namespace slipstream::tape
