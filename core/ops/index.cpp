// Gather and scatter: what they check and record. Which indices are in range is only known when they run, so that an
// index out of range fails the result.
#include "index.h"

#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"

namespace slipstream {

const Op kIndex{"index", kMayFail}, kTakeAlong{"take_along_axis", kMayFail};
const Op kIndexUpdate{"index_update", kMayFail}, kIndexAdd{"index_add", kMayFail};

namespace {

// An array as its positions see it.
struct Positions {
  Array x;                     // over the positions' shape
  std::vector<Array> indices;  // over the positions' shape
  std::vector<IndexParams::Axis> axes;
};

// Integers as they are; floats, as MXNet's programs use them, are cut to integers.
Array as_indices(const char* op, const Array& x, const Array& index) {
  same_device(op, x, index);
  if (is_complex(index.dtype)) fail(ErrorKind::index, op, ": an array of ", index.dtype, " holds no indices");
  return is_float(index.dtype) ? astype(index.detached(), DType::i64) : index;
}

void add_axis(const char* op, Positions& positions, Array&& index, const IndexParams::Axis& axis) {
  if (axis.size == 0 && index.size() > 0)
    fail(ErrorKind::index, op, ": no index is in range for axis ", axis.number, " with size 0");
  positions.indices.push_back(std::move(index));
  positions.axes.push_back(axis);
}

Shape common_shape(const char* op, std::span<const Shape> shapes) {
  try {
    Shape common;
    for (const Shape& s : shapes) common = broadcast(common, s, op);
    return common;
  } catch (const Error&) {
    std::ostringstream all;
    for (const Shape& s : shapes) all << ' ' << s;
    fail(ErrorKind::index, op, ": index arrays of the shapes", all.str(), " cannot be broadcast together");
  }
}

// x over the positions: the axes that stay, with the common shape of the indices among them.
View seen_from(const View& x, const Choice& choice, const Shape& common) {
  View view{x.dtype, x.offset, {}, {}};
  auto add = [&](int64_t n, int64_t stride) {
    view.shape.push_back(n);
    view.strides.push_back(stride);
  };
  uint64_t indexed = 0;
  for (const AxisIndex& i : choice.indices) indexed |= uint64_t{1} << i.axis;
  int kept = 0;
  for (int a = 0; a <= x.ndim(); a++) {
    if (kept == choice.place && !(a < x.ndim() && indexed >> a & 1)) {
      for (int64_t n : common) add(n, 0);
      kept++;
    }
    if (a == x.ndim() || indexed >> a & 1) continue;
    kept++;
    add(x.shape[a], x.strides[a]);
  }
  return view;
}

Positions choose(const char* op, const Array& x, const Choice& choice) {
  std::vector<Array> given;
  std::vector<Shape> shapes = choice.shapes;
  for (const AxisIndex& i : choice.indices) {
    given.push_back(as_indices(op, x, i.index));
    shapes.push_back(given.back().shape);
  }
  Shape common = common_shape(op, shapes);
  View view = seen_from(x, choice, common);
  if (view.shape.size() > kMaxDims)
    fail(ErrorKind::index, op, ": the result has ", view.shape.size(), " dimensions, at most ", kMaxDims, " can be");
  count(view.shape);
  Positions positions;
  int after = view.shape.size() - choice.place - common.size();
  for (size_t k = 0; k < given.size(); k++) {
    const Array& index = given[k];
    View v{index.dtype, index.offset, view.shape, Strides(choice.place, 0)};
    for (int64_t s : broadcast_strides(index.shape, index.strides, common)) v.strides.push_back(s);
    v.strides.resize(v.strides.size() + after, 0);
    const AxisIndex& i = choice.indices[k];
    add_axis(op, positions, index.view(std::move(v)), {x.shape[i.axis], x.strides[i.axis], i.number});
  }
  positions.x = x.view(std::move(view));
  return positions;
}

Positions choose_along(const char* op, const Array& x, const AxisIndex& given) {
  int at = given.axis;
  if (given.index.ndim() != x.ndim())
    fail(ErrorKind::value, op, ": the indices have ", given.index.ndim(), " dimensions, the array has ", x.ndim());
  Shape without = x.shape;
  without[at] = 1;
  Shape shape = common_shape(op, std::array{without, given.index.shape});
  View view{x.dtype, x.offset, shape, Strides(x.ndim(), 0)};
  for (int a = 0; a < x.ndim(); a++)
    if (a != at && x.shape[a] == shape[a]) view.strides[a] = x.strides[a];
  Positions positions;
  Array index = as_indices(op, x, given.index);
  add_axis(op, positions, index.broadcast_to(shape), {x.shape[at], x.strides[at], given.number});
  positions.x = x.view(std::move(view));
  return positions;
}

Positions positions_of(const char* op, const Array& x, const Choice& choice) {
  return choice.along ? choose_along(op, x, choice.indices[0]) : choose(op, x, choice);
}

std::shared_ptr<IndexParams> params_of(const Positions& positions, const Choice& choice) {
  auto params = std::make_shared<IndexParams>();
  params->axes = positions.axes;
  params->mode = choice.mode;
  params->unique = choice.unique;
  return params;
}

// The values of a scatter in the type and on the device of the array; with no more dimensions than the positions.
Array values_for(const Op& op, const Array& x, const Shape& shape, const Arg& value) {
  Array from = value.array();
  if (value.is_scalar()) {
    from = Array(Shape{}, x.dtype, x.device());
    assign(from, value);
  }
  if (!(from.device() == x.device())) from = copy_to_device(from, x.device());
  if (from.dtype != x.dtype) from = astype(from, x.dtype);
  while (from.ndim() > shape.size() && from.shape[0] == 1) from = select(from, 0, 0);
  bool fits = from.ndim() <= shape.size();
  for (int i = 0, skip = shape.size() - from.ndim(); fits && i < from.ndim(); i++)
    fits = from.shape[i] == 1 || from.shape[i] == shape[skip + i];
  if (!fits)
    fail(ErrorKind::value, op.name, ": values of shape ", value.array().shape, " cannot be broadcast to the ",
         "indexed elements' shape ", shape);
  return from;
}

// ---- gradients

// A choice that a gradient keeps.
class SavedChoice {
 public:
  explicit SavedChoice(const Choice& choice) : choice_(choice) {
    for (AxisIndex& i : choice_.indices) {
      saved_.emplace_back(i.index.detached());
      i.index = {};
    }
  }
  Choice get() const {
    Choice choice = choice_;
    for (size_t k = 0; k < saved_.size(); k++) choice.indices[k].index = saved_[k].get();
    return choice;
  }

 private:
  Choice choice_;
  std::vector<tape::Saved> saved_;
};

Array zeros(const Shape& shape, DType dtype, Device device) {
  return full(shape, Scalar::of(int64_t{0}), dtype, device);
}

// What of a gradient the values of a scatter get: of equal indices, only the last was written.
Array gradient_of_values(const Array& g, const Choice& choice, bool add) {
  Array found = gather(kIndex, g, choice);
  if (add || choice.unique) return found;
  tape::Pause pause;
  Array numbers = reshape(arange(Scalar::of(int64_t{0}), Scalar::of(int64_t{1}), found.size(), DType::i64, g.device()),
                          found.shape);
  Array written = scattered(kIndexUpdate, zeros(g.shape, DType::i64, g.device()), choice, Arg(numbers));
  Array last = elementwise(Row::equal, {Arg(gather(kIndex, written, choice)), Arg(numbers)});
  tape::Recording again(found.node() != nullptr);
  return elementwise(Row::where, {Arg(last), Arg(found), Arg(zeros(Shape{}, g.dtype, g.device()))});
}

void write(const Op& op, const Array& x, Positions& positions, const Choice& choice, Array from) {
  if (from.storage() == x.storage()) from = copy(from.detached());
  auto params = params_of(positions, choice);
  params->add = &op == &kIndexAdd;
  Record call;
  call.op = &op;
  call.params = params;
  call.in_place = true;
  call.inputs.emplace_back(from.broadcast_to(positions.x.shape));
  for (const Array& index : positions.indices) {
    if (index.storage() == x.storage())
      call.inputs.emplace_back(copy(index));
    else
      call.inputs.emplace_back(index);
  }
  call.outputs.emplace_back(positions.x);
  engine::record(std::move(call));
}

}  // namespace

Array gather(const Op& op, const Array& x, const Choice& choice, const Array* out) {
  if (out && tape::follows(x)) return written_to(op.name, out, gather(op, x, choice));
  Positions positions = positions_of(op.name, x, choice);
  bool apart = true;
  for (const Array& index : positions.indices) apart &= !out || index.storage() != out->storage();
  Destination to = destination(op.name, positions.x.shape, x.dtype, x.device(), out, {&x}, apart);
  Record call;
  call.op = &op;
  call.params = params_of(positions, choice);
  call.inputs.emplace_back(positions.x);
  for (const Array& index : positions.indices) call.inputs.emplace_back(index);
  Array made = finish(std::move(call), to);
  if (tape::follows(x))
    tape::note(op.name, made, {&x}, [choice = SavedChoice(choice), shape = x.shape, dtype = x.dtype](const Array& g) {
      Array back = scattered(kIndexAdd, zeros(shape, g.dtype, g.device()), choice.get(), Arg(g));
      return std::vector<Array>{tape::back_to(back, shape, dtype)};
    });
  return made;
}

void scatter(const Op& op, const Array& x, const Choice& choice, const Arg& value) {
  tape::check_write(op.name, x);
  for (int i = 0; i < x.ndim(); i++)
    if (x.shape[i] > 1 && x.strides[i] == 0)
      fail(ErrorKind::value, op.name, ": the array repeats elements (it is a broadcast view) and cannot be written");
  if (tape::recording() && (tape::follows(x) || (!value.is_scalar() && tape::follows(value.array()))))
    return assign(x, scattered(op, x, choice, value));  // the result has a history, which goes with it
  Positions positions = positions_of(op.name, x, choice);
  write(op, x, positions, choice, values_for(op, x, positions.x.shape, value));
}

Array scattered(const Op& op, const Array& x, const Choice& choice, const Arg& value) {
  Array made = copy(x.detached());
  Positions positions = positions_of(op.name, made, choice);
  Array from = values_for(op, made, positions.x.shape, value);
  write(op, made, positions, choice, from);
  if (!tape::follows(x) && !tape::follows(from)) return made;
  bool add = &op == &kIndexAdd;
  auto gradient = [choice = SavedChoice(choice), shape = from.shape, dtype = from.dtype, add](const Array& g) {
    std::vector<Array> found(2);
    Choice where = choice.get();
    if (tape::wanted(0)) found[0] = add ? g : scattered(kIndexUpdate, g, where, Arg(Scalar::of(int64_t{0})));
    if (tape::wanted(1)) found[1] = tape::back_to(gradient_of_values(g, where, add), shape, dtype);
    return found;
  };
  tape::note(op.name, made, {&x, &from}, std::move(gradient));
  return made;
}

}  // namespace slipstream
