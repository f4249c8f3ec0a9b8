// Writes in place under recording: the history of a storage's content, of which every view has its part.
#include "../elementwise.h"
#include "../ops/structural.h"
#include "tape.h"

namespace slipstream::tape {

namespace {

bool same_place(const View& a, const View& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

// No element is written twice, so as many bytes as there are are all of them.
bool covers(const View& where, const Storage& storage) { return where.nbytes() == storage.nbytes; }

// A storage seen as one row of elements, after a write: what was there before, but for the part that was written.
class Content final : public Node {
 public:
  Content(Ref<Node> before, Ref<Node> value, View where, Shape row)
      : inputs_{std::move(before), std::move(value)}, where_(std::move(where)), row_(std::move(row)) {}
  const char* name() const override { return "assign"; }
  std::span<const Ref<Node>> inputs() const override { return {inputs_, 2}; }
  void differentiate(Spread& to) override {
    const Array& g = to.gradient();
    Array part = pick(g, where_);
    if (inputs_[1] && to.wants(1)) to.add(1, part);
    if (inputs_[0] && to.wants(0)) to.add(0, elementwise(Row::subtract, {Arg(g), Arg(put(part, where_, row_))}));
  }
  void forget() override {
    for (Ref<Node>& input : inputs_) input.reset();
  }

  const Ref<Node>& before() const { return inputs_[0]; }
  const Ref<Node>& value() const { return inputs_[1]; }
  const View& where() const { return where_; }
  const Shape& row() const { return row_; }

  int holders = 0;  // views of this content that have a gradient attached

 private:
  Ref<Node> inputs_[2];
  View where_;
  Shape row_;
};

Content* content_of(const Storage& storage) { return static_cast<Content*>(storage.content.get()); }

// A view of a storage with content.
class Read final : public Node {
 public:
  Read(Ref<Node> from, View where, Shape row, bool whole)
      : from_(std::move(from)), where_(std::move(where)), row_(std::move(row)), whole_(whole) {}
  ~Read() override { let_go(); }
  const char* name() const override { return "assign"; }
  std::span<const Ref<Node>> inputs() const override { return {&from_, 1}; }
  void differentiate(Spread& to) override {
    if (whole_) return to.add(0, to.gradient());
    View once = where_;  // what a broadcast view repeats is summed
    for (int i = 0; i < once.ndim(); i++)
      if (once.strides[i] == 0) once.shape[i] = std::min<int64_t>(once.shape[i], 1);
    to.add_selection(0, back_to(to.gradient(), once.shape, once.dtype), once, row_);
  }
  void forget() override { from_.reset(); }

  void hold(Ref<Node> content) {
    let_go();
    held_ = std::move(content);
    static_cast<Content*>(held_.get())->holders++;
  }
  void let_go() {
    if (held_) static_cast<Content*>(held_.get())->holders--;
    held_.reset();
  }

 private:
  Ref<Node> from_;
  View where_;
  Shape row_;
  bool whole_;  // from_ is the node of what was written exactly here
  Ref<Node> held_;  // the content, while a gradient is attached
};

// Was it freed by a backward pass, or was what it copies?
bool used_up(const Node& node) {
  bool used = node.forgotten;
  for (const Ref<Node>& input : node.inputs()) used |= input && input->forgotten;
  return used;
}

// What was written last and can no longer be differentiated is constant from now on.
void drop_used_up(Ref<Node>& content) {
  while (content) {
    auto* last = static_cast<Content*>(content.get());
    if (!last->forgotten && !(last->value() && used_up(*last->value()))) return;
    content = Ref<Node>(last->before());
  }
}

void put_content(Storage& storage, Ref<Node> value, const View& where) {
  drop_used_up(storage.content);
  Ref<Node> before = covers(where, storage) ? Ref<Node>() : storage.content;
  while (before && same_place(static_cast<Content*>(before.get())->where(), where))  // written over
    before = Ref<Node>(static_cast<Content*>(before.get())->before());
  if (!before && !value) return storage.content.reset();
  Shape row{static_cast<int64_t>(storage.nbytes / itemsize(where.dtype))};
  Array owner;
  enter(owner, new Content(std::move(before), std::move(value), where, std::move(row)), here());
  storage.content = Ref<Node>(owner.node());
}

}  // namespace

void hold_content(const Array& x) {
  if (x.storage()->content) static_cast<Read*>(x.node())->hold(x.storage()->content);
}
void release_content(const Array& x) { static_cast<Read*>(x.node())->let_go(); }

void check_write(const char* op, const Array& target) {
  if (!recording()) return;
  Ref<Node>& content = target.storage()->content;
  drop_used_up(content);
  Node* node = target.node();
  bool held = content && content_of(*target.storage())->holders > 0;
  if (!held && (!node || (node->derived && !node->attached))) return;
  if (held || leaf_of(target))
    fail(ErrorKind::runtime, op, ": an array with a gradient attached cannot be written in place while recording; ",
         "write outside record(), or under autograd.pause()");
  fail(ErrorKind::runtime, op, ": the result of ", node->name(), ", recorded at ", place(node->source),
       ", cannot be written in place here at ", place(here()), " while recording; make a new array instead");
}

void overwrite(Storage& storage, const View& where) {
  for (int i = 0; i < where.ndim(); i++)
    if (where.strides[i] == 0 && where.shape[i] > 1) return;  // a scatter: only its indices tell what it writes
  if (where.dtype == content_of(storage)->where().dtype || covers(where, storage)) put_content(storage, {}, where);
}

void store(const Array& target, const Array& value) {
  Storage& storage = *target.storage();
  if (storage.content && content_of(storage)->where().dtype != target.dtype && !covers(target, storage))
    fail(ErrorKind::runtime, "assign: parts of one array were written as ", content_of(storage)->where().dtype, " and ",
         target.dtype, " while recording, which cannot be differentiated");
  target.set_node({});
  put_content(storage, ref_of(value), target);
}

void end_content(Storage& storage) {
  // Both belong to the front end, as the content does: nobody saves or drops a value between the two looks.
  uint32_t saved = storage.saved.load(std::memory_order_acquire);
  if (saved > 0 && storage.handles() == saved + 1) Ref<Node>().swap(storage.content);
}

Node* derive(const Array& x) {
  Storage& storage = *x.storage();
  uint32_t version = storage.version.load(std::memory_order_relaxed);
  if (x.node() && !x.node()->forgotten && x.node()->derived_version == version) return x.node();
  Ref<Node> leaf = x.node() ? x.node()->attached : Ref<Node>();  // it stays, whatever was written
  x.set_node({});
  drop_used_up(storage.content);
  Content* content = content_of(storage);
  if (!content || kind(x.dtype) < Kind::real) {
    x.set_node(std::move(leaf));
    return x.node();
  }
  if (content->where().dtype != x.dtype)
    fail(ErrorKind::runtime, "an array was written as ", content->where().dtype, " while recording and is read as ",
         x.dtype, ", which cannot be differentiated");
  bool whole = content->value() && same_place(content->where(), x);
  auto* node = new Read(whole ? content->value() : storage.content, x, content->row(), whole);
  node->derived = true;
  node->derived_version = version;
  if (leaf) node->hold(storage.content);
  node->attached = std::move(leaf);
  enter(x, node, content->source);
  return node;
}

}  // namespace slipstream::tape
