// The tape: how operations note what they did while a program records, so that it can be differentiated.
//
// An operation computes its value as always and then, in the same function, says how it is differentiated:
//
//   Array result = record_new(...);
//   if (tape::follows(x) || tape::follows(y))
//     tape::note("name", result, {&x, &y}, [x = tape::Saved(x), y = tape::Saved(y)](const Array& g) {
//       return std::vector<Array>{tape::wanted(0) ? multiply(g, y.get()) : Array(), ...};
//     });
//
// The gradient is made of recorded operations, so it can itself be differentiated; it is called at most once unless
// the graph is kept. It saves only what it needs, arrays always as Saved (never as Array: that could keep the whole
// history alive, and would miss writes in place). Operations made of others that note themselves need no note.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "../array.h"
#include "node.h"

namespace slipstream {
struct Arg;
enum class Row : uint16_t;
}  // namespace slipstream

namespace slipstream::tape {

// ---- the state of a thread ----------------------------------------------------------------------------------------

struct Flags {
  bool recording = false;
  bool training = false;
};
extern thread_local constinit Flags flags;

inline bool recording() { return flags.recording; }

// The array's history: its own, or that of what was written into its storage.
Node* derive(const Array& x);
inline Node* history(const Array& x) {
  Node* node = x.node();
  return (node ? !node->derived : !x.storage()->content) ? node : derive(x);
}
// Does what is computed from this array now have a history? Ask before recording a call that writes to its storage.
inline bool follows(const Array& x) { return flags.recording && history(x); }
// Must a view of the array be noted? Not if the history is the storage's: the view will find it there.
inline bool follows_views(const Array& x) {
  return flags.recording && x.node() && (!x.node()->derived || x.node()->attached);
}

// Recording switched on or off while this lives.
class Recording {
 public:
  explicit Recording(bool on) : before_(flags.recording) { flags.recording = on; }
  ~Recording() { flags.recording = before_; }
  Recording(const Recording&) = delete;

 private:
  bool before_;
};
struct Pause : Recording {
  Pause() : Recording(false) {}
};

// ---- noting -------------------------------------------------------------------------------------------------------

// A handle of the tape's own: it keeps the values that are there now, but no program can name the storage by it.
class Kept {
 public:
  Kept() {}
  explicit Kept(const Array& x) : value_(x, Array::Detached()), version_(x.storage()->version) { count(); }
  Kept(const Kept& o) : value_(o.value_), version_(o.version_) { count(); }
  Kept(Kept&&) noexcept = default;
  Kept& operator=(Kept o) noexcept {
    std::swap(value_, o.value_);
    std::swap(version_, o.version_);
    return *this;
  }
  ~Kept() {
    if (value_) add_alone(value_.storage()->saved, -1u);
  }
  // Raises if the storage was written since; the error names the line that recorded the operation and the line that
  // wrote.
  Array get(const Node& operation) const;
  const Array& even_if_written() const { return value_; }

 private:
  void count() {
    if (value_) add_alone(value_.storage()->saved, 1);
  }

  Array value_;  // without history
  uint32_t version_ = 0;
};

// A value that a gradient needs. get() gives it with its history, or raises as Kept does.
class Saved {
 public:
  Saved() {}
  explicit Saved(const Array& input) : value_(input), node_(input.node()) {}
  // The (part-th) result of the operation itself, which must not hold its own history.
  static Saved result(const Array& result, int part = 0);
  Array get() const;  // only while the gradient runs
  explicit operator bool() const { return static_cast<bool>(view().storage()); }
  const Array& view() const { return value_.even_if_written(); }

 private:
  Kept value_;
  Ref<Node> node_;
  int part_ = -1;  // of the running node's results; -1: an input
};

// Notes that `result` was made from the inputs. Call it only if one of them is followed. `gradient` gives those of the
// inputs, as std::vector<Array>, from that of the result. Empty: none. Shapes and types are the inputs' own.
template <class F>
void note(const char* op, const Array& result, std::initializer_list<const Array*> inputs, F&& gradient);
template <class F>
void note(const char* op, const Array& result, std::span<const Array> inputs, F&& gradient);
// The same for operations with several results; a gradient is empty where a result was not used.
using Gradients = std::function<std::vector<Array>(std::span<const Array> gs)>;
void note_all(const char* op, std::span<const Array> results, std::span<const Array> inputs, Gradients gradients);
inline bool follows_any(std::span<const Array> inputs) {
  if (!flags.recording) return false;
  bool any = false;
  for (const Array& x : inputs) any |= history(x) != nullptr;
  return any;
}

// Inside a gradient: does anybody want the gradient of the i-th input?
bool wanted(int input);
// Inside a gradient, in place of returning one for the i-th input: see Spread::add_product.
void add_product(int input, const Array& left, const Array& g);

// ---- views --------------------------------------------------------------------------------------------------------

// A view of x that selects some of its elements, each at most once. `select` maps a View of x's shape, with whatever
// strides, to the selected one: it is also asked how the selection lies in a row-major array.
template <class F>
Array selected(const char* op, const Array& x, F&& select);
template <class F>
[[gnu::always_inline]] inline void note_selected(const char* op, const Array& result, const Array& x,
                                                 const View& selected, F&& select);
// `inner` is how it lies in such an array.
void note_selection(const char* op, const Array& result, const Array& x, const View& inner);
// If x is such an array itself, of which `selected` is the view.
bool note_selection_of_rows(const char* op, const Array& result, const Array& x, const View& selected);

template <class F>
Array selected(const char* op, const Array& x, F&& select) {
  Array made = x.view(select(static_cast<const View&>(x)));
  if (follows_views(x)) note_selected(op, made, x, made, select);
  return made;
}

// Of `result`, which is the view `selected` of x, or a copy of that.
template <class F>
inline void note_selected(const char* op, const Array& result, const Array& x, const View& selected, F&& select) {
  if (!note_selection_of_rows(op, result, x, selected)) [[unlikely]]
    note_selection(op, result, x, select(View(x.dtype, x.shape)));
}

// The elements of x that `inner` names in a row-major array of its shape, and the reverse: zeros with g there.
Array pick(const Array& x, const View& inner);
Array put(const Array& g, const View& inner, const Shape& shape);

// ---- writes: writes.cpp -------------------------------------------------------------------------------------------

// What is written under recording to an array without a history of its own is remembered with its storage, part by
// part: whoever reads any view of it under recording gets that history.

// Raises if the array has a history of its own, which a write under recording would make wrong.
void check_write(const char* op, const Array& target);
// A gradient was attached to an array whose history is its storage's: nobody may write there until it is taken off, or
// the array and all that was computed from it are gone.
void hold_content(const Array& x);
void release_content(const Array& x);
// After a write to the target: `value` stands for what is there now (the same view), and has its history.
void store(const Array& target, const Array& value);
// A write of something without a history; called for every write to a storage that has content.
void overwrite(Storage& storage, const View& where);
// The program's array ends. What was written in place may have been computed from what was there before: the storage's
// history then keeps the storage. Where nothing else does, nobody can ask for that history any more.
void end_content(Storage& storage);
inline void let_go(const Array& x) {
  if (x && x.storage()->content) end_content(*x.storage());
}

// ---- leaves -------------------------------------------------------------------------------------------------------

enum class GradReq : uint8_t { null, write, add };

// Gradients arrive here. The array `grad` stays the same array; only its values are written.
class Leaf final : public Node {
 public:
  Leaf(Array grad, GradReq req) : grad(std::move(grad)), req(req) { stays = kMostViews; }
  const char* name() const override { return "leaf"; }
  std::span<const Ref<Node>> inputs() const override { return {}; }
  void differentiate(Spread&) override {}
  void forget() override {}
  bool is_leaf() const override { return true; }
  void receive(Array g);  // the whole gradient of a backward pass; empty: 0

  Array grad;
  GradReq req;
  bool fresh = false;  // written by a backward pass, and not used since (by whoever looks)
  std::function<void(const Array& grad)> on_gradient;  // called when its gradient has been recorded
};

// The gradient of x is written to `grad`: x becomes a leaf, but a recorded result keeps its history as well. Without
// grad or with GradReq::null, x has neither gradient nor history.
void attach(const Array& x, Array grad, GradReq req);
void drop(const Array& x);      // takes the gradient away; a result keeps its history
Leaf* leaf_of(const Array& x);  // where its gradient is written; nullptr: nowhere

// ---- differentiation: backward.cpp --------------------------------------------------------------------------------

// What a node's differentiate() talks to.
class Spread {
 public:
  virtual ~Spread() = default;
  // Gradients of the node's results: of the only one, or of each.
  virtual const Array& gradient() const = 0;
  virtual std::span<const Array> gradients() const = 0;
  virtual bool wants(int input) const = 0;
  virtual void add(int input, Array g) = 0;
  virtual void add_part(int input, int part, Array g) = 0;  // the input is a node of several results
  virtual void add_selection(int input, const Array& g, const View& inner, const Shape& shape) = 0;
  // Adds the transpose of `left` times g. Products for one input wait until all are there, and are one then.
  virtual void add_product(int input, const Array& left, const Array& g) = 0;
};

// From the heads to all leaves. A head's gradient is ones where `head_gradients` has none for it.
void backward(std::span<const Array> heads, std::span<const Array> head_gradients, bool retain);
// The gradients of the variables, as new arrays; `create`: with a history of their own.
std::vector<Array> grad(std::span<const Array> heads, std::span<const Array> head_gradients,
                        std::span<const Array> variables, bool retain, bool create);

// How errors name a line; given by the front end.
void set_describe_source(std::string (*describe)(SourceId));

// ---- for core/graph, core/elementwise.cpp and core/reductions.cpp alone -------------------------------------------

bool follows_any(std::span<const Arg> args);
// Notes a row of the table, if one of its arguments has a history.
void note_row(Row row, std::span<const Arg> args, const Array& result, SourceId source);
void note_reduction(Row row, const Array& x, uint32_t axes, const Array& result, SourceId source);
// A gradient in the shape of a broadcast result, summed back to the input's shape, in the input's type.
Array back_to(Array gradient, const Shape& shape, DType dtype);

// Numbers of nodes: each is above all that any thread has given.
inline constinit std::atomic<uint64_t> last_number = 0;
inline uint64_t next_number() {
  if (!one_at_a_time) return last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t next = last_number.load(std::memory_order_relaxed) + 1;
  last_number.store(next, std::memory_order_relaxed);
  return next;
}

// Gives the node its number and its line, and the result its history.
inline void enter(const Array& result, Node* node, SourceId source) {
  node->sequence = next_number();
  node->source = source;
  result.set_node(Ref<Node>::adopt(node));
}
inline Ref<Node> ref_of(const Array& x) { return Ref<Node>(x.node()); }
SourceId here();                     // the line of the user's program
std::string place(SourceId source);  // "train.py, line 3, in step", or that it is not known
[[noreturn]] void fail_written(const char* op, SourceId recorded, const Storage& storage);

// The node of a noted operation.
class Operation : public Node {
 public:
  Operation(const char* op, std::initializer_list<const Array*> inputs) : op_(op) {
    for (const Array* x : inputs) add(*x);
  }
  Operation(const char* op, std::span<const Array> inputs) : op_(op) {
    for (const Array& x : inputs) add(x);
  }
  const char* name() const final { return op_; }
  std::span<const Ref<Node>> inputs() const final { return {inputs_.begin(), static_cast<size_t>(inputs_.size())}; }

 protected:
  static void spread(std::vector<Array> gradients, Spread& to);
  SmallVec<Ref<Node>, 2> inputs_;

 private:
  void add(const Array& x) { inputs_.emplace_back(x.node()); }

  const char* op_;
};

// One result: the gradient lies in the node.
template <class F>
class Step final : public Operation {
 public:
  template <class Inputs, class G>
  Step(const char* op, Inputs inputs, G&& gradient) : Operation(op, inputs), gradient_(std::forward<G>(gradient)) {}
  void differentiate(Spread& to) override { spread((*gradient_)(to.gradient()), to); }
  void forget() override {
    gradient_.reset();
    inputs_.clear();
  }

 private:
  std::optional<F> gradient_;
};

template <class F>
void note(const char* op, const Array& result, std::initializer_list<const Array*> inputs, F&& gradient) {
  enter(result, new Step<std::decay_t<F>>(op, inputs, std::forward<F>(gradient)), here());
}
template <class F>
void note(const char* op, const Array& result, std::span<const Array> inputs, F&& gradient) {
  enter(result, new Step<std::decay_t<F>>(op, inputs, std::forward<F>(gradient)), here());
}

// The node whose gradient runs on this thread.
struct Running {
  Node* node = nullptr;
  Spread* spread = nullptr;
};
extern thread_local constinit Running running;

}  // namespace slipstream::tape
