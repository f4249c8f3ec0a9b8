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
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    bool only = refs_.load(std::memory_order_acquire) == 1;  // then nobody else can add one
    if (only || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) end(const_cast<Node*>(this));
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
  bool forgotten = false;  // used and freed by a backward pass
  Ref<Node> attached;     // the leaf that gets the result's gradient too, where one is attached to the result
  bool derived = false;          // from what was written into the array's storage, up to this version of it
  uint32_t derived_version = 0;

 protected:
  virtual ~Node() = default;

 private:
  static void end(Node* node);

  mutable std::atomic<uint32_t> refs_{1};
};

}  // namespace slipstream::tape
