// Keys as NumPy reads them: integers, slices and None make a view; arrays and masks choose among what is left of it.
#include "../graph/tape.h"
#include "check.h"
#include "index.h"

namespace slipstream {

namespace {

// A key over a view that has an axis for each of the array's that is left, and for each None.
class Reading {
 public:
  Reading(const View& x, std::span<const KeyItem> key) : x_(x) {
    view.dtype = x.dtype;
    view.offset = x.offset;
    int used = check(key);
    for (const KeyItem& item : key) {
      if (item.kind == KeyItem::ellipsis) {
        stay(0);  // parts what stands around it, though it may be for no axis
        keep(x.ndim() - used);
      }
      if (item.kind != KeyItem::ellipsis) add(item);
    }
    keep(x.ndim() - axis_);
    if (apart_) place = 0;
  }

  struct Mask {
    int axis;    // of base; number: of x
    int number;
    Array mask;  // without dimensions: a bool of its own
  };
  View view;  // `axis` of indices and masks is one of its axes
  std::vector<AxisIndex> indices;
  std::vector<Mask> masks;
  std::vector<Shape> flags;  // of bools that are known: (0,) or (1,)
  int place = -1;  // before which of the axes that stay the chosen ones stand

 private:
  // Raises what is wrong with the whole; gives the number of axes that are named.
  int check(std::span<const KeyItem> key) const {
    int used = 0, ellipses = 0;
    for (const KeyItem& item : key) {
      ellipses += item.kind == KeyItem::ellipsis;
      if (item.kind == KeyItem::mask)
        used += item.value.ndim();
      else
        used += item.kind == KeyItem::integer || item.kind == KeyItem::slice || item.kind == KeyItem::array;
    }
    if (ellipses > 1) fail(ErrorKind::index, "an index can only have a single ellipsis ('...')");
    if (used > x_.ndim())
      fail(ErrorKind::index, "too many indices for array: array is ", x_.ndim(), "-dimensional, but ", used,
           " were indexed");
    return used;
  }

  void push(int64_t size, int64_t stride) {
    view.shape.push_back(size);
    view.strides.push_back(stride);
  }
  void keep(int n) {
    if (n > 0) stay(n);
    for (; n > 0; n--, axis_++) push(x_.shape[axis_], x_.strides[axis_]);
  }
  // Axes that stay part advanced items, and integers beside them, from those before.
  void stay(int n) {
    kept_ += n;
    parted_ = place >= 0;
  }
  void advanced() {
    if (place < 0) place = kept_;
    apart_ |= parted_;
  }

  void add(const KeyItem& item) {
    switch (item.kind) {
      case KeyItem::newaxis:
        stay(1);
        push(1, 0);
        break;
      case KeyItem::slice: slice(item); break;
      case KeyItem::integer:
        advanced();
        pick(item.start);
        break;
      case KeyItem::flag:
        advanced();
        flags.push_back(Shape{item.start});
        break;
      case KeyItem::array:
        advanced();
        indices.push_back({view.ndim(), item.value, axis_});
        push(x_.shape[axis_], x_.strides[axis_]);
        axis_++;
        break;
      default: mask(item.value); break;
    }
  }

  // An axis of size 0 fits any: it chooses nothing, as in NumPy.
  void mask(const Array& m) {
    advanced();
    masks.push_back({view.ndim(), axis_, m});
    Shape fitting;
    for (int d = 0; d < m.ndim(); d++, axis_++) {
      fitting.push_back(x_.shape[axis_]);
      if (m.shape[d] != x_.shape[axis_] && m.shape[d] != 0)
        fail(ErrorKind::index, "a mask of shape ", m.shape, " does not fit an array of shape ", x_.shape, " at axis ",
             axis_ - d, ": ", m.shape[d], " != ", x_.shape[axis_]);
      push(x_.shape[axis_], x_.strides[axis_]);
    }
    if (!(fitting == m.shape)) masks.back().mask = full(fitting, Scalar::of(false), DType::b1, m.device());
  }

  void pick(int64_t index) {
    int64_t size = x_.shape[axis_];
    if (index < -size || index >= size)
      fail(ErrorKind::index, "index ", index, " is out of bounds for axis ", axis_, " with size ", size);
    view.offset += (index < 0 ? index + size : index) * x_.strides[axis_];
    axis_++;
  }

  void slice(const KeyItem& item) {  // start and stop are within the axis already
    int64_t start = item.start, stop = item.stop, step = item.step, n = 0;
    int64_t size = x_.shape[axis_];
    auto within = [&](int64_t at) {
      if (at < 0) at = at < -size ? -1 : at + size;
      return step < 0 ? std::clamp<int64_t>(at, -1, size - 1) : std::clamp<int64_t>(at, 0, size);
    };
    start = within(start);
    stop = within(stop);
    if (step > 0 && stop > start) n = (stop - start - 1) / step + 1;
    if (step < 0 && stop < start) n = (start - stop - 1) / -step + 1;
    if (n > 0) view.offset += start * x_.strides[axis_];
    stay(1);
    push(n, n > 1 ? x_.strides[axis_] * step : x_.strides[axis_]);
    axis_++;
  }

  const View& x_;
  int axis_ = 0, kept_ = 0;
  bool parted_ = false, apart_ = false;
};

// Masks as index arrays, found by waiting for them.
Choice choice_of(const Reading& reading, void (*before_wait)()) {
  if (!reading.masks.empty()) before_wait();
  Choice choice;
  choice.indices = reading.indices;
  choice.place = std::max(reading.place, 0);
  choice.shapes = reading.flags;
  choice.unique = reading.indices.empty() && reading.masks.size() <= 1;
  for (const Reading::Mask& m : reading.masks) {
    FoundMask found = find_mask(m.mask);
    Array places = nonzero(found);
    if (m.mask.ndim() == 0) choice.shapes.push_back(Shape{found.number()});
    for (int d = 0; d < m.mask.ndim(); d++) choice.indices.push_back({m.axis + d, select(places, 0, d), m.number + d});
  }
  return choice;
}

bool is_one_mask(const Reading& reading) {
  return reading.masks.size() == 1 && reading.indices.empty() && reading.flags.empty();
}

// The view with the masked axes moved to where the chosen ones stand.
View masked_view(const Reading& reading) {
  const Reading::Mask& m = reading.masks[0];
  std::vector<int> order;
  for (int a = 0; a < reading.view.ndim(); a++)
    if (a < m.axis || a >= m.axis + m.mask.ndim()) order.push_back(a);
  for (int d = 0; d < m.mask.ndim(); d++) order.insert(order.begin() + reading.place + d, m.axis + d);
  View moved{reading.view.dtype, reading.view.offset, {}, {}};
  for (int a : order) {
    moved.shape.push_back(reading.view.shape[a]);
    moved.strides.push_back(reading.view.strides[a]);
  }
  return moved;
}

// A value that is the same for every true element, shaped to stand beside the masked view; none if it is not.
std::optional<Array> beside_mask(const Reading& reading, const View& target, const Array& value) {
  const Array& mask = reading.masks[0].mask;
  int rest = target.ndim() - reading.place - mask.ndim();  // axes after the mask
  Array from = value;
  while (from.ndim() > reading.place + 1 + rest && from.shape[0] == 1) from = select(from, 0, 0);
  if (from.ndim() > rest) {
    int at = from.ndim() - rest - 1;
    if (at > reading.place || from.shape[at] != 1) return {};
    Shape shape = from.shape;
    shape.erase(at);
    for (int d = 0; d < mask.ndim(); d++) shape.insert(at, 1);
    from = reshape(from, shape);
  }
  for (int i = 0, skip = target.ndim() - from.ndim(); i < from.ndim(); i++)
    if (from.shape[i] != 1 && from.shape[i] != target.shape[skip + i])
      fail(ErrorKind::value, "index: values of shape ", value.shape,
           " cannot be broadcast to the elements of a mask of shape ", mask.shape, " in an array of shape ",
           reading.view.shape);
  return from;
}

// x[mask] = value where the value is the same for every true element: no wait, each element is chosen in place.
bool set_where(const Array& x, const Reading& reading, const Array& value) {
  Array target = x.view(masked_view(reading));
  std::optional<Array> from = beside_mask(reading, target, value);
  if (!from) return false;
  Array mask = reading.masks[0].mask.detached();
  Shape shape = mask.shape;
  shape.resize(target.ndim() - reading.place, 1);
  elementwise(Row::where, {Arg(reshape(mask, shape)), Arg(*from), Arg(target)},
              {.out = &target, .where = nullptr, .dtype = {}});
  return true;
}

}  // namespace

Array get_item(const Array& x, std::span<const KeyItem> key, void (*before_wait)()) {
  Reading reading(x, key);
  bool all = is_one_mask(reading) && reading.masks[0].mask.ndim() == reading.view.ndim() && reading.view.ndim() > 0;
  if (all && !tape::follows(x)) {
    before_wait();
    return compress(x.view(reading.view), find_mask(reading.masks[0].mask));
  }
  Array base = tape::selected("getitem", x, [&](const View& v) { return Reading(v, key).view; });
  return gather(kIndex, base, choice_of(reading, before_wait));
}

void set_item(const Array& x, std::span<const KeyItem> key, const Arg& value, void (*before_wait)()) {
  tape::check_write("assign", x);
  Reading reading(x, key);
  Array from = value.array();
  if (value.is_scalar()) {
    from = Array(Shape{}, x.dtype, x.device());
    assign(from, value);
  } else {
    if (!(from.device() == x.device())) from = copy_to_device(from, x.device());
    if (from.dtype != x.dtype) from = astype(from, x.dtype);
  }
  if (is_one_mask(reading) && set_where(x, reading, from)) return;
  Array base = x.view(reading.view);
  scatter(kIndexUpdate, base, choice_of(reading, before_wait), Arg(from));
}

}  // namespace slipstream
