// Nodes of the tape: their life, the general kinds of them, saved values, leaves.
#include "tape.h"

#include "../elementwise.h"
#include "../engine/engine.h"
#include "../ops/structural.h"

namespace slipstream::tape {

thread_local constinit Flags flags;
thread_local constinit Running running;

// ---- life -----------------------------------------------------------------------------------------------------------

namespace {
thread_local constinit struct {
  bool now = false;
  Node* waiting = nullptr;
} ending;
}  // namespace

thread_local constinit Blocks<64> Node::blocks_[kSizes];

// What a node holds ends after it, one by one: nodes that end meanwhile wait in a list.
void Node::end(Node* node) {
  if (ending.now) {
    node->sequence = reinterpret_cast<uint64_t>(std::exchange(ending.waiting, node));  // its number is no longer of use
    return;
  }
  ending.now = true;
  do {
    delete node;
    node = ending.waiting;
    if (node) ending.waiting = reinterpret_cast<Node*>(node->sequence);
  } while (node);
  ending.now = false;
}

SourceId here() { return engine::source(); }

// ---- errors ---------------------------------------------------------------------------------------------------------

namespace {
std::string (*describe_source)(SourceId) = nullptr;
}

void set_describe_source(std::string (*describe)(SourceId)) { describe_source = describe; }

std::string place(SourceId source) {
  std::string text = describe_source ? describe_source(source) : "";
  return text.empty() ? "a line that is not known" : text;
}

void fail_written(const char* op, SourceId recorded, const Storage& storage) {
  fail(ErrorKind::runtime, "backward: a value that the gradient of ", op, " needs was written in place since. ", op,
       " was recorded at ", place(recorded), "; the write was at ", place(storage.last_writer.load()),
       ". Write to a copy, or after backward()");
}

// ---- saved values ---------------------------------------------------------------------------------------------------

namespace {

// One of several results: the gradient goes to its place at the node of all.
class Part final : public Node {
 public:
  Part(Ref<Node> whole, int part) : whole_(std::move(whole)), part_(part) {}
  const char* name() const override { return whole_->name(); }
  std::span<const Ref<Node>> inputs() const override { return {&whole_, 1}; }
  void differentiate(Spread& to) override { to.add_part(0, part_, to.gradient()); }
  void forget() override {}  // the whole does

 private:
  Ref<Node> whole_;
  int part_;
};

void enter_part(const Array& result, Node* whole, int part) {
  enter(result, new Part(Ref<Node>(whole), part), whole->source);
}

}  // namespace

Array Kept::get(const Node& operation) const {
  const Storage& storage = *value_.storage();
  if (storage.version.load(std::memory_order_relaxed) != version_)
    fail_written(operation.name(), operation.source, storage);
  return value_;
}

Saved Saved::result(const Array& result, int part) {
  Saved saved;
  saved.value_ = Kept(result);
  saved.part_ = part;
  return saved;
}

Array Saved::get() const {
  Array value = value_.get(*running.node);
  if (!recording()) return value;
  if (part_ < 0)
    value.set_node(node_);
  else if (running.node->results() > 1)
    enter_part(value, running.node, part_);
  else
    value.set_node(Ref<Node>(running.node));
  return value;
}

bool wanted(int input) { return running.spread->wants(input); }
void add_product(int input, const Array& left, const Array& g) { running.spread->add_product(input, left, g); }

// ---- noted operations -----------------------------------------------------------------------------------------------

namespace {

// An operation with several results.
class Whole final : public Operation {
 public:
  Whole(const char* op, std::span<const Array> inputs, Gradients gradients, size_t results)
      : Operation(op, inputs), gradients_(std::move(gradients)), results_(static_cast<int>(results)) {}
  int results() const override { return results_; }
  void differentiate(Spread& to) override { spread(gradients_(to.gradients()), to); }
  void forget() override {
    gradients_ = nullptr;
    inputs_.clear();
  }

 private:
  Gradients gradients_;
  int results_;
};

// A selection of an array's elements.
class Selection final : public Node {
 public:
  Selection(const char* op, const Array& x, const View& inner, int64_t start)
      : op_(op),
        input_(ref_of(x)),
        shape_(x.shape),
        strides_(inner.strides),
        offset_(inner.offset - start),
        dtype_(inner.dtype) {
    stay_with(x.node());
  }
  const char* name() const override { return op_; }
  std::span<const Ref<Node>> inputs() const override { return {&input_, 1}; }
  void differentiate(Spread& to) override {
    const Array& g = to.gradient();  // of the selection's shape
    to.add_selection(0, g, View(dtype_, offset_, g.shape, strides_), shape_);
  }
  void forget() override {
    if (!stays) input_.reset();
  }

 private:
  const char* op_;
  Ref<Node> input_;
  Shape shape_;  // of what is selected from
  Strides strides_;  // of the selection in a row-major array of that shape
  int64_t offset_;
  DType dtype_;
};

}  // namespace

void Operation::spread(std::vector<Array> gradients, Spread& to) {
  for (size_t i = 0; i < gradients.size(); i++)
    if (gradients[i]) to.add(static_cast<int>(i), std::move(gradients[i]));
}

void note_all(const char* op, std::span<const Array> results, std::span<const Array> inputs, Gradients gradients) {
  auto* whole = new Whole(op, inputs, std::move(gradients), results.size());
  if (results.size() == 1) return enter(results[0], whole, here());
  Array owner;  // holds the node of all results until each has its own
  enter(owner, whole, here());
  for (size_t i = 0; i < results.size(); i++) enter_part(results[i], whole, static_cast<int>(i));
}

// ---- selections -----------------------------------------------------------------------------------------------------

void note_selection(const char* op, const Array& result, const Array& x, const View& inner) {
  enter(result, new Selection(op, x, inner, 0), here());
}

bool note_selection_of_rows(const char* op, const Array& result, const Array& x, const View& selected) {
  if (!x.contiguous()) return false;
  enter(result, new Selection(op, x, selected, x.offset), here());
  return true;
}

namespace {

// A view found for elements of one size, for elements of another.
View rescaled(View inner, DType type) {
  auto from = static_cast<int64_t>(itemsize(inner.dtype)), to = static_cast<int64_t>(itemsize(type));
  inner.dtype = type;
  if (from == to) return inner;
  inner.offset = inner.offset / from * to;
  for (int64_t& step : inner.strides) step = step / from * to;
  return inner;
}

View within(const Array& whole, const View& inner) {
  View v = rescaled(inner, whole.dtype);
  v.offset += whole.offset;
  return v;
}

}  // namespace

Array pick(const Array& x, const View& inner) {
  Array whole = contiguous(x);
  Array made = whole.view(within(whole, inner));
  if (follows_views(whole)) note_selection("pick", made, whole, rescaled(inner, x.dtype));
  return made;
}

Array put(const Array& g, const View& inner, const Shape& shape) {
  Array whole = full(shape, Scalar::of(int64_t{0}), g.dtype, g.device());
  assign(whole.view(within(whole, inner)), g.detached());
  if (follows(g)) note("put", whole, {&g}, [inner](const Array& gg) { return std::vector<Array>{pick(gg, inner)}; });
  return whole;
}

// ---- leaves ---------------------------------------------------------------------------------------------------------

void attach(const Array& x, Array grad, GradReq req) {
  if (!grad || req == GradReq::null) return x.set_node({});
  auto leaf = Ref<Node>::adopt(new Leaf(grad.detached(), req));
  Node* node = history(x);
  if (!node || node->is_leaf() || node->forgotten) return x.set_node(std::move(leaf));
  if (node->derived) hold_content(x);
  node->attached = std::move(leaf);
}

void drop(const Array& x) {
  Node* node = x.node();
  if (!node) return;
  if (node->is_leaf()) return x.set_node({});
  if (node->derived) release_content(x);
  node->attached.reset();
}

Leaf* leaf_of(const Array& x) {
  Node* node = x.node();
  return static_cast<Leaf*>(!node || node->is_leaf() ? node : node->attached.get());
}

namespace {

// May `g` become the gradient's array itself? Nobody else must know either of them.
bool replaces(const Array& g, const Array& grad) {
  Storage &a = *g.storage(), &b = *grad.storage();
  auto alone = [](const Storage& s) { return s.has_one_handle() && !s.lent.load() && !s.lent_writable.load(); };
  return g.dtype == grad.dtype && g.contiguous() && g.nbytes() == a.nbytes && g.device() == grad.device() && alone(a) &&
         alone(b);
}

}  // namespace

void Leaf::receive(Array g) {
  Pause pause;
  if (req == GradReq::write) {
    if (!g)
      assign(grad, Scalar::of(int64_t{0}));
    else if (replaces(g, grad))
      grad = std::move(g);
    else
      assign(grad, g);
  } else if (g) {
    ElementwiseOptions options;
    options.out = &grad;
    elementwise(Row::add, {Arg(grad), Arg(g)}, options);
  }
  fresh = true;
  if (on_gradient) on_gradient(grad);
}

}  // namespace slipstream::tape
