// Keys as NumPy reads them: integers, slices and None make a view; arrays and masks choose among what is left of it.
#include "check.h"
#include "index.h"

namespace slipstream {

namespace {

// A key over a view that has an axis for each of the array's that is left, and for each None.
class Reading {
 public:
  Reading(const Array& x, const Key& key) : x_(x) {
    view_.dtype = x.dtype;
    view_.offset = x.offset;
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
    base = x.view(std::move(view_));
  }

  struct Mask {
    int axis;    // of base; number: of x
    int number;
    Array mask;  // without dimensions: a bool of its own
  };
  Array base;
  std::vector<AxisIndex> indices;
  std::vector<Mask> masks;
  std::vector<Shape> flags;  // of bools that are known: (0,) or (1,)
  int place = -1;  // before which of the axes that stay the chosen ones stand

 private:
  // Raises what is wrong with the whole; gives the number of axes that are named.
  int check(const Key& key) const {
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
    view_.shape.push_back(size);
    view_.strides.push_back(stride);
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
        indices.push_back({view_.ndim(), item.value, axis_});
        push(x_.shape[axis_], x_.strides[axis_]);
        axis_++;
        break;
      default: mask(item.value); break;
    }
  }

  void mask(const Array& m) {
    advanced();
    same_device("index", x_, m);
    masks.push_back({view_.ndim(), axis_, m});
    for (int d = 0; d < m.ndim(); d++, axis_++) {
      if (m.shape[d] != x_.shape[axis_])
        fail(ErrorKind::index, "a mask of shape ", m.shape, " does not fit an array of shape ", x_.shape, " at axis ",
             axis_ - d, ": ", m.shape[d], " != ", x_.shape[axis_]);
      push(x_.shape[axis_], x_.strides[axis_]);
    }
  }

  void pick(int64_t index) {
    int64_t size = x_.shape[axis_];
    if (index < -size || index >= size)
      fail(ErrorKind::index, "index ", index, " is out of bounds for axis ", axis_, " with size ", size);
    view_.offset += (index < 0 ? index + size : index) * x_.strides[axis_];
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
    if (n > 0) view_.offset += start * x_.strides[axis_];
    stay(1);
    push(n, n > 1 ? x_.strides[axis_] * step : x_.strides[axis_]);
    axis_++;
  }

  const Array& x_;
  View view_;
  int axis_ = 0, kept_ = 0;
  bool parted_ = false, apart_ = false;
};

// Masks as index arrays, found by waiting for them.
Chosen chosen_by(Reading& reading, void (*before_wait)()) {
  if (!reading.masks.empty()) before_wait();
  bool alone = reading.indices.empty() && reading.masks.size() <= 1;
  for (const Reading::Mask& m : reading.masks) {
    FoundMask found = find_mask(m.mask);
    Array places = nonzero(found);
    if (m.mask.ndim() == 0) reading.flags.push_back(Shape{found.number()});
    for (int d = 0; d < m.mask.ndim(); d++) reading.indices.push_back({m.axis + d, select(places, 0, d), m.number + d});
  }
  Chosen chosen =
      choose("index", reading.base, std::move(reading.indices), std::max(reading.place, 0), std::move(reading.flags));
  chosen.unique = alone;
  return chosen;
}

// The view with the masked axes moved to where the chosen ones stand.
Array masked_view(const Reading& reading) {
  const Reading::Mask& m = reading.masks[0];
  std::vector<int64_t> order;
  for (int a = 0; a < reading.base.ndim(); a++)
    if (a < m.axis || a >= m.axis + m.mask.ndim()) order.push_back(a);
  for (int d = 0; d < m.mask.ndim(); d++) order.insert(order.begin() + reading.place + d, m.axis + d);
  return transpose(reading.base, order);
}

bool is_one_mask(const Reading& reading) {
  return reading.masks.size() == 1 && reading.indices.empty() && reading.flags.empty();
}

// x[mask] = value where the value is the same for every true element: no wait, each element is chosen in place.
bool set_where(const Reading& reading, const Array& value) {
  const Array& mask = reading.masks[0].mask;
  Array target = masked_view(reading);
  int rest = target.ndim() - reading.place - mask.ndim();  // axes after the mask
  Array from = value;
  while (from.ndim() > reading.place + 1 + rest && from.shape[0] == 1) from = select(from, 0, 0);
  if (from.ndim() > rest) {
    if (from.ndim() > reading.place + 1 + rest || from.shape[from.ndim() - rest - 1] != 1) return false;
    View v = from;
    int at = from.ndim() - rest - 1;
    v.shape.erase(at);
    v.strides.erase(at);
    for (int d = 0; d < mask.ndim(); d++) {
      v.shape.insert(at, 1);
      v.strides.insert(at, 0);
    }
    from = from.view(std::move(v));
  }
  Shape fitting = target.shape;
  for (int i = 0, skip = target.ndim() - from.ndim(); i < from.ndim(); i++)
    if (from.shape[i] != 1 && from.shape[i] != fitting[skip + i])
      fail(ErrorKind::value, "index: values of shape ", value.shape,
           " cannot be broadcast to the elements of a mask of ", "shape ", mask.shape, " in an array of shape ",
           reading.base.shape);
  View m = mask;
  m.shape.resize(m.shape.size() + rest, 1);
  m.strides.resize(m.strides.size() + rest, 0);
  elementwise(Row::where, {mask.view(std::move(m)), from, target}, {.out = &target, .where = nullptr, .dtype = {}});
  return true;
}

}  // namespace

Array get_item(const Array& x, const Key& key, void (*before_wait)()) {
  Reading reading(x, key);
  bool all = is_one_mask(reading) && reading.masks[0].mask.ndim() == reading.base.ndim() && reading.base.ndim() > 0;
  if (!all) return gather(kIndex, chosen_by(reading, before_wait));
  before_wait();
  return compress(reading.base, find_mask(reading.masks[0].mask));
}

void set_item(const Array& x, const Key& key, const Arg& value, void (*before_wait)()) {
  Reading reading(x, key);
  Arg from = value;
  if (value.is_scalar()) {
    from = Arg(Array(Shape{}, x.dtype, x.device()));
    assign(from.array, value);
  } else {
    if (!(from.array.device() == x.device())) from.array = copy_to_device(from.array, x.device());
    if (from.array.dtype != x.dtype) from.array = astype(from.array, x.dtype);
  }
  if (is_one_mask(reading) && set_where(reading, from.array)) return;
  scatter(kIndexUpdate, chosen_by(reading, before_wait), from);
}

}  // namespace slipstream
