// Node: one step of recorded history, as arrays point to it. What is recorded and how, is in tape.h.
#pragma once

#include <span>

#include "../error.h"
#include "../memory.h"

namespace slipstream::tape {

class Spread;

// Held by the arrays it made and by the nodes of what was computed from them. The last one to let go ends it, and
// with it whatever only it held: without recursion, however long the chain is.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  void retain() const { holders_.add(); }
  void release() const {
    if (holders_.drop()) end(const_cast<Node*>(this));
  }
  // Memory of nodes is used again by nodes of about their size.
  static void* operator new(size_t size) {
    size_t i = (size - 1) / kStep;
    return i < kSizes ? blocks_[i].take((i + 1) * kStep) : ::operator new(size);
  }
  static void operator delete(void* block, size_t size) {
    size_t i = (size - 1) / kStep;
    i < kSizes ? blocks_[i].give(block) : ::operator delete(block);
  }

  virtual const char* name() const = 0;
  // Nodes of the inputs; null where an input has no history.
  virtual std::span<const Ref<Node>> inputs() const = 0;
  // Hands the gradients of the inputs on, made from those of the results (empty where there is none).
  virtual void differentiate(Spread& to) = 0;
  // Lets everything go that only differentiate() needs.
  virtual void forget() = 0;
  virtual bool is_leaf() const { return false; }
  virtual int results() const { return 1; }

  uint64_t sequence = 0;  // above those of all inputs; once it is forgotten, of all that was recorded before
  SourceId source = 0;    // the line that recorded it
  uint32_t derived_version = 0;
  bool derived = false;  // from what was written into the array's storage, up to this version of it
  bool forgotten = false;  // used and freed by a backward pass
  // No pass frees it, so that graphs may share it: a leaf, or made of one without holding a value, in so many steps
  // less than kMostViews. A longer chain is freed, or a loop that makes a view of a view each time would grow for ever.
  static constexpr uint8_t kMostViews = 16;
  uint8_t stays = 0;
  Ref<Node> attached;  // the leaf that gets the result's gradient too, where one is attached to the result

 protected:
  virtual ~Node() = default;
  void stay_with(const Node* input) { stays = input && input->stays > 0 ? input->stays - 1 : 0; }

 private:
  static void end(Node* node);

  // For nodes of up to 64 bytes, 128, ...; larger ones are rare.
  static constexpr size_t kStep = 64, kSizes = 12;
  static thread_local constinit Blocks<64> blocks_[kSizes];

  mutable Holders holders_;
};

}  // namespace slipstream::tape
