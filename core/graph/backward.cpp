// Differentiation: from heads back to leaves or variables, each node once, in the reverse order of recording.
#include <algorithm>
#include <unordered_map>

#include "../elementwise.h"
#include "../ops/structural.h"
#include "tape.h"

namespace slipstream::tape {

namespace {

// What is known of a node during a pass.
struct Entry {
  Ref<Node> node;
  SmallVec<Array, 1> gradients;  // sums so far, of each result
  uint32_t uses = 0;             // nodes whose gradients are still to come
  int variable = -1;             // its gradient is asked for, as this variable
  bool needed = false;           // a leaf or variable lies behind it
  const Node* freed = nullptr;   // a node behind it that an earlier pass freed
  uint64_t constant_from = 0;    // it cannot be differentiated: a constant for what was recorded after this number
  bool cut = false;  // not needed, since it counts on a freed node, but leads to a leaf or variable past that too
  bool own = false;              // the gradient is an array of this pass alone, and may be written
  std::vector<Array> lefts, rights;  // products that are still to be added

  // A node that was freed got a number then. What has a lower one counts on its gradient, and has none either; what has
  // a higher one was computed from its values alone.
  void look_behind(const Entry& from) {
    bool here = from.node->forgotten;
    uint64_t since = here ? from.node->sequence : from.constant_from;
    if (here || from.freed) freed = here ? from.node.get() : from.freed;
    if (node->sequence <= since) constant_from = std::max(constant_from, since);
  }
};

[[noreturn]] void fail_freed(const Node& node) {
  fail(ErrorKind::runtime, "backward: the graph of ", node.name(), ", recorded at ", place(node.source),
       ", was used and freed by an earlier backward(); to use it again, call that with retain_graph=True");
}

class Pass final : public Spread {
 public:
  Pass(bool retain, bool create) : retain_(retain), create_(create) {}

  int add_head(const Array& head, const Array& gradient);
  void add_variable(const Array& variable, int number);
  // Finds all nodes, and which of them are needed: those before leaves, or before variables.
  void explore(bool leaves);
  void run(bool leaves);
  std::vector<Array> take() {
    for (size_t i = 0; i < found_.size(); i++) found_[i] = found_[static_cast<size_t>(same_[i])];
    return std::move(found_);
  }

  const Array& gradient() const override { return current_->gradients[0]; }
  std::span<const Array> gradients() const override {
    return {current_->gradients.begin(), static_cast<size_t>(current_->gradients.size())};
  }
  bool wants(int input) const override {
    const Entry* to = input_entry(input);
    return to && to->needed;
  }
  void add(int input, Array g) override { add_part(input, 0, std::move(g)); }
  void add_part(int input, int part, Array g) override;
  void add_selection(int input, const Array& g, const View& inner, const Shape& shape) override;
  void add_product(int input, const Array& left, const Array& g) override;

 private:
  int entry_of(Node* node);
  Entry* input_entry(int input) const {
    Node* node = current_->node->inputs()[static_cast<size_t>(input)].get();
    return node ? const_cast<Entry*>(&entries_[static_cast<size_t>(numbers_.at(node))]) : nullptr;
  }
  void accumulate(Array& sum, Array&& g, bool& own);
  void add_products(Entry& entry);
  void finish(Entry& entry, bool leaves);
  void step(Entry& entry, bool leaves);
  void check_heads() const;

  bool retain_, create_;
  std::vector<Entry> entries_;
  std::unordered_map<const Node*, int> numbers_;
  std::vector<int> order_;  // from inputs to results
  std::vector<std::pair<int, Array>> heads_;
  std::vector<Array> found_;  // gradients of the variables
  std::vector<int> same_;  // the first variable that each one is
  Entry* current_ = nullptr;
};

int Pass::entry_of(Node* node) {
  auto [at, is_new] = numbers_.try_emplace(node, static_cast<int>(entries_.size()));
  if (is_new) entries_.emplace_back().node = Ref<Node>(node);
  return at->second;
}

int Pass::add_head(const Array& head, const Array& gradient) {
  if (!history(head))
    fail(ErrorKind::runtime, "backward: the head of shape ", head.shape,
         " was not computed from arrays with gradients under autograd.record()");
  Array g = gradient;
  if (!g) {
    Pause pause;
    g = full(head.shape, Scalar::of(int64_t{1}), head.dtype, head.device());
  } else if (!(g.shape == head.shape)) {
    fail(ErrorKind::value, "backward: a head of shape ", head.shape, " has a gradient of shape ", g.shape);
  } else if (g.dtype != head.dtype) {
    g = astype(g, head.dtype);
  }
  heads_.emplace_back(entry_of(head.node()), std::move(g));
  return heads_.back().first;
}

void Pass::add_variable(const Array& variable, int number) {
  if (!history(variable))
    fail(ErrorKind::value, "grad: variable ", number, " of shape ", variable.shape,
         " has no gradient: call attach_grad() before recording");
  Entry& entry = entries_[static_cast<size_t>(entry_of(variable.node()))];
  found_.emplace_back();
  if (entry.variable < 0) entry.variable = number;
  same_.push_back(entry.variable);
}

void Pass::explore(bool leaves) {
  for (size_t at = 0; at < entries_.size(); at++) {
    Node* node = entries_[at].node.get();
    for (const Ref<Node>& input : node->inputs())
      if (input) entry_of(input.get());
  }
  order_.resize(entries_.size());
  for (size_t i = 0; i < order_.size(); i++) order_[i] = static_cast<int>(i);
  std::stable_sort(order_.begin(), order_.end(), [this](int a, int b) {
    return entries_[static_cast<size_t>(a)].node->sequence < entries_[static_cast<size_t>(b)].node->sequence;
  });
  for (int number : order_) {
    Entry& entry = entries_[static_cast<size_t>(number)];
    bool behind = false, cut = false;
    entry.look_behind(entry);
    for (const Ref<Node>& input : entry.node->inputs()) {
      if (!input) continue;
      const Entry& from = entries_[static_cast<size_t>(numbers_.at(input.get()))];
      entry.look_behind(from);
      behind |= from.needed;
      cut |= from.cut;
    }
    entry.needed = leaves ? entry.node->is_leaf() || entry.node->attached : entry.variable >= 0;
    entry.needed |= behind && !entry.constant_from;
    if (cut && entry.needed) fail_freed(*entry.freed);
    entry.cut = cut || (behind && entry.constant_from && !entry.node->forgotten);
  }
  check_heads();
  for (Entry& entry : entries_)
    if (entry.needed && !entry.constant_from)
      for (const Ref<Node>& input : entry.node->inputs())
        if (input) entries_[static_cast<size_t>(numbers_.at(input.get()))].uses++;
}

void Pass::check_heads() const {
  for (const auto& [number, g] : heads_) {
    const Entry& head = entries_[static_cast<size_t>(number)];
    if (head.freed && (head.constant_from || !head.needed)) fail_freed(*head.freed);
  }
}

void Pass::accumulate(Array& sum, Array&& g, bool& own) {
  if (!sum) {
    sum = std::move(g);
    own = false;
    return;
  }
  sum = elementwise(Row::add, {Arg(sum), Arg(g)});
  own = true;
}

void Pass::add_part(int input, int part, Array g) {
  Entry* to = input_entry(input);
  if (!to || !to->needed) return;
  while (to->gradients.size() <= part) to->gradients.emplace_back();
  accumulate(to->gradients[part], std::move(g), to->own);
}

// Many selections of one array (the steps of a sequence) share one array of zeros.
void Pass::add_selection(int input, const Array& g, const View& inner, const Shape& shape) {
  Entry* to = input_entry(input);
  if (!to || !to->needed) return;
  if (create_ || to->gradients.size() > 1) return add_part(input, 0, put(g, inner, shape));
  if (to->gradients.empty()) to->gradients.emplace_back();
  Array& sum = to->gradients[0];
  if (!sum) {
    sum = put(g, inner, shape);
    to->own = true;
    return;
  }
  if (!to->own || !sum.contiguous()) sum = copy(sum);
  to->own = true;
  Array target = pick(sum, inner);
  ElementwiseOptions options;
  options.out = &target;
  elementwise(Row::add, {Arg(target), Arg(g)}, options);
}

void Pass::add_product(int input, const Array& left, const Array& g) {
  Entry* to = input_entry(input);
  if (!to || !to->needed) return;
  to->lefts.push_back(left);
  to->rights.push_back(g);
}

// The sum of many products is one product of what they are made of, one below the other.
void Pass::add_products(Entry& entry) {
  if (entry.lefts.empty()) return;
  auto joined = [](const std::vector<Array>& parts) { return parts.size() == 1 ? parts[0] : concatenate(parts, 0); };
  Array product = matmul(transpose(joined(entry.lefts)), joined(entry.rights));
  entry.lefts.clear();
  entry.rights.clear();
  if (entry.gradients.empty()) entry.gradients.emplace_back();
  accumulate(entry.gradients[0], std::move(product), entry.own);
}

void Pass::finish(Entry& entry, bool leaves) {
  add_products(entry);
  Array g = entry.gradients.empty() ? Array() : std::move(entry.gradients[0]);
  entry.gradients.clear();
  if (leaves)
    static_cast<Leaf&>(*entry.node).receive(std::move(g));
  else
    found_[static_cast<size_t>(entry.variable)] = std::move(g);
}

void Pass::step(Entry& entry, bool leaves) {
  Node& node = *entry.node;
  current_ = &entry;
  bool any = false, wanted = false;
  for (const Array& g : entry.gradients) any |= static_cast<bool>(g);
  std::vector<Entry*> inputs;
  for (const Ref<Node>& input : node.inputs()) {
    if (!input || entry.constant_from) continue;
    inputs.push_back(&entries_[static_cast<size_t>(numbers_.at(input.get()))]);
    wanted |= inputs.back()->needed;
  }
  if (any && wanted) {
    while (entry.gradients.size() < node.results()) entry.gradients.emplace_back();
    Running before = std::exchange(running, Running{&node, this});
    try {
      node.differentiate(*this);
    } catch (...) {
      running = before;
      throw;
    }
    running = before;
  }
  entry.gradients.clear();
  if (!retain_) {
    node.forget();
    node.forgotten = !node.stays;
    if (node.forgotten && !create_) node.sequence = next_number();
  }
  for (Entry* input : inputs)
    if (--input->uses == 0 && leaves && input->node->is_leaf()) finish(*input, true);
}

void Pass::run(bool leaves) {
  for (auto& [number, g] : heads_) {
    Entry& entry = entries_[static_cast<size_t>(number)];
    if (entry.gradients.empty()) entry.gradients.emplace_back();
    accumulate(entry.gradients[0], std::move(g), entry.own);
    if (leaves && entry.node->is_leaf() && entry.uses == 0) finish(entry, true);
  }
  heads_.clear();
  for (size_t i = order_.size(); i-- > 0;) {
    Entry& entry = entries_[static_cast<size_t>(order_[i])];
    if (!entry.needed || entry.node->is_leaf()) {
      if (entry.variable >= 0) finish(entry, false);
      continue;
    }
    add_products(entry);
    if (entry.variable >= 0 && !entry.gradients.empty())
      found_[static_cast<size_t>(entry.variable)] = entry.gradients[0];
    if (leaves && entry.node->attached)
      static_cast<Leaf&>(*entry.node->attached).receive(entry.gradients.empty() ? Array() : entry.gradients[0]);
    step(entry, leaves);
    if (!create_) entry.node.reset();
  }
  if (!create_ || retain_) return;
  uint64_t freed_at = next_number();  // what this pass recorded is no later than what it freed
  for (Entry& entry : entries_)
    if (entry.node && entry.node->forgotten) entry.node->sequence = freed_at;
}

// A gradient that does not depend on the variables: it can be differentiated all the same, and gives zeros.
Array constant(const Array& g, std::span<const Array> variables) {
  Array made = g.view(g);
  note("grad", made, variables, [](const Array&) { return std::vector<Array>(); });
  return made;
}

Array gradient_at(std::span<const Array> gradients, size_t i) { return i < gradients.size() ? gradients[i] : Array(); }

}  // namespace

void backward(std::span<const Array> heads, std::span<const Array> head_gradients, bool retain) {
  Recording off(false);
  Pass pass(retain, false);
  for (size_t i = 0; i < heads.size(); i++) pass.add_head(heads[i], gradient_at(head_gradients, i));
  pass.explore(true);
  pass.run(true);
}

std::vector<Array> grad(std::span<const Array> heads, std::span<const Array> head_gradients,
                        std::span<const Array> variables, bool retain, bool create) {
  Recording on(create);
  Pass pass(retain, create);
  for (size_t i = 0; i < heads.size(); i++) pass.add_head(heads[i], gradient_at(head_gradients, i));
  for (size_t i = 0; i < variables.size(); i++) pass.add_variable(variables[i], static_cast<int>(i));
  pass.explore(false);
  pass.run(false);
  std::vector<Array> found = pass.take();
  for (size_t i = 0; i < found.size(); i++) {
    if (!found[i])
      found[i] = full(variables[i].shape, Scalar::of(int64_t{0}), variables[i].dtype, variables[i].device());
    if (create && !history(found[i])) found[i] = constant(found[i], variables);
  }
  return found;
}

}  // namespace slipstream::tape
