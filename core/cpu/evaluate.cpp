// Evaluation of programs block by block.
#include "evaluate.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdlib>

namespace slipstream::cpu {

namespace {

struct Wide {
  uint64_t a, b;
};

template <class F>
decltype(auto) with_size(int size, F&& f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Wide{});
  }
}

size_t padded(size_t bytes) { return (bytes + 127) & ~size_t{63}; }

// Visits elements [at index, n of them) as runs along the innermost axis: run(address, length).
template <class Run>
void walk(const Space& space, const int64_t* strides, char* base, const int64_t* start, int64_t n, Run run) {
  int last = space.ndim() - 1;
  const int64_t* dims = space.dims();
  int64_t index[kMaxDims];
  char* at = base;
  for (int i = 0; i <= last; i++) {
    index[i] = start[i];
    at += start[i] * strides[i];
  }
  for (;;) {
    int64_t length = std::min(n, dims[last] - index[last]);
    run(at, length);
    n -= length;
    if (n == 0) return;
    at -= index[last] * strides[last];
    index[last] = 0;
    if (last == 0) return;
    for (int64_t left = dims[last - 1] - index[last - 1] - 1; left > 0 && n > dims[last]; left--) {  // whole rows
      at += strides[last - 1];
      index[last - 1]++;
      run(at, dims[last]);
      n -= dims[last];
    }
    for (int i = last - 1; i >= 0; i--) {
      at += strides[i];
      if (++index[i] < dims[i]) break;
      at -= dims[i] * strides[i];
      index[i] = 0;
    }
  }
}

}  // namespace

Place place(const Operand& operand) {
  if (operand.is_scalar()) return {};
  return {operand.data(), &operand.strides, operand.dtype, nullptr, operand.storage()->data()};
}

// ---- Space ----------------------------------------------------------------------------------------------------------

Space::Space(const Shape& shape, std::span<Place> inputs, std::span<Place> outputs, bool sorted) {
  int operands = static_cast<int>(inputs.size() + outputs.size());
  for (int64_t d : shape) {
    count_ *= d;
    kept_ += d != 1;
  }
  ndim_ = kept_;
  kept_ = std::max(kept_, 1);
  for (int i = 0; i < (operands + 1) * kept_; i++) table_.push_back(0);
  if (ndim_ == 0) row(0)[0] = 1;
  auto strides_of = [&](int k) {
    auto i = static_cast<size_t>(k);
    return i < inputs.size() ? inputs[i].strides : outputs[i - inputs.size()].strides;
  };
  for (int axis = 0, to = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 1) continue;
    row(0)[to] = shape[axis];
    for (int k = 0; k < operands; k++)
      if (const Strides* strides = strides_of(k)) row(k + 1)[to] = (*strides)[axis];
    to++;
  }
  if (count_ == 0) ndim_ = 0;
  if (ndim_ > 1 && sorted) sort_axes(static_cast<int>(inputs.size()), operands);
  if (sorted && !outputs.empty()) {  // along an axis that is written backwards, go backwards
    for (int axis = 0; axis < ndim_; axis++) {
      if (row(static_cast<int>(inputs.size()) + 1)[axis] >= 0) continue;
      for (int k = 0; k < operands; k++) {
        Place& p = static_cast<size_t>(k) < inputs.size() ? inputs[static_cast<size_t>(k)]
                                                          : outputs[static_cast<size_t>(k) - inputs.size()];
        p.data += (row(0)[axis] - 1) * row(k + 1)[axis];
        row(k + 1)[axis] = -row(k + 1)[axis];
      }
    }
  }
  if (ndim_ > 1) merge_axes(operands);
  if (ndim_ == 0) ndim_ = 1;
}

void Space::sort_axes(int first_output, int operands) {
  auto before = [&](int a, int b) {  // must axis b be inside axis a?
    for (int k = first_output; k < operands; k++) {
      int64_t x = std::abs(row(k + 1)[a]), y = std::abs(row(k + 1)[b]);
      if (x != y) return x > y;
    }
    return true;
  };
  for (int i = 1; i < ndim_; i++)
    for (int j = i; j > 0 && !before(j - 1, j); j--)
      for (int k = 0; k <= operands; k++) std::swap(row(k)[j - 1], row(k)[j]);
}

void Space::merge_axes(int operands) {
  int to = 0;
  for (int axis = 1; axis < ndim_; axis++) {
    bool fits = true;
    for (int k = 1; k <= operands && fits; k++) fits = row(k)[to] == row(k)[axis] * row(0)[axis];
    if (fits) {
      row(0)[to] *= row(0)[axis];
    } else {
      row(0)[++to] = row(0)[axis];
    }
    for (int k = 1; k <= operands; k++) row(k)[to] = row(k)[axis];
  }
  ndim_ = to + 1;
}

// ---- Plan -----------------------------------------------------------------------------------------------------------

Plan::Plan(const Program& program, const Shape& shape, std::span<Place> in, std::span<Place> out, bool sorted)
    : program(program), space(shape, in, out, sorted) {
  int operand = 0;
  for (const Place& p : in) bind(p, operand++, false);
  for (const Place& p : out) bind(p, operand++, true);
  find_steps();
  choose_bands(sorted);
  find_direct();
  lay_out(sorted ? 256 : 512);  // reductions fold 512 elements at once
}

void Plan::bind(const Place& p, int operand, bool is_output) {
  auto size = static_cast<int64_t>(itemsize(p.type));
  Bound bound{p, Mode::rows, static_cast<uint8_t>(size), space.strides(operand)};
  bool flat = true, fixed = true, cyclic = space.inner() <= 512;
  int64_t step = size;
  for (int i = space.ndim() - 1; i >= 0; i--) {
    flat &= bound.strides[i] == step || space.dims()[i] == 1;
    fixed &= bound.strides[i] == 0;
    cyclic &= bound.strides[i] == 0 || i == space.ndim() - 1;
    step *= space.dims()[i];
  }
  if (cyclic && !is_output) bound.mode = Mode::cyclic;
  if (flat) bound.mode = Mode::flat;
  if (!is_output && (fixed || p.scalar)) bound.mode = Mode::fixed;
  bound.stored = !is_output && is_result(operand);
  needs_index |= bound.mode == Mode::rows;
  (is_output ? outputs : inputs).push_back(bound);
}

bool Plan::is_result(int reg) const {
  return std::find(program.results.begin(), program.results.end(), reg) != program.results.end();
}

constexpr int64_t kBandRows = 16, kBandColumns = 512;

// Operands that lie across the rows are read in bands of a cache line's width, otherwise each element costs a line.
void Plan::choose_bands(bool sorted) {
  int n = space.ndim();
  if (n < 2 || space.count() < 4096) return;
  int64_t columns = space.inner(), rows = space.dims()[n - 2];
  if (columns < 16 || rows < 4) return;
  for (Bound& in : inputs) {
    if (in.mode != Mode::rows) continue;
    int64_t across = in.strides[n - 1], along = in.strides[n - 2];
    if (along == 0 || std::abs(along) >= std::abs(across) || std::abs(along) > 32) continue;
    int64_t band = std::min<int64_t>(rows, std::max<int64_t>(kBandRows, 64 / in.size));
    int64_t width = sorted ? std::min<int64_t>(columns, kBandColumns) : columns;
    if (band * width * in.size > 1024 * 1024) continue;
    in.mode = Mode::staged;
    has_staged = true;
    band_rows = std::max(band_rows, band);
    band_columns = width;
    pitch = width + 16;  // rows a power of two apart would fall onto few lines of the cache
  }
}

void Plan::find_steps() {
  const Loops& table = cpu::loops();
  uint16_t value = program.first_value();
  for (const Instr& instr : program.code) {
    cost += row_cost(instr.row, instr.type);
    if (!pair_with_last(instr, value)) {
      auto type = static_cast<int>(instr.type);
      Step& step = steps.emplace_back();
      step.loop = instr.row == Row::cast ? table.cast[type][static_cast<int>(instr.result)]
                                         : table.map[static_cast<int>(instr.row)][type];
      std::copy(instr.args, instr.args + instr.arity, step.args);
      step.arity = instr.arity;
      step.slot = instr.slot;
      step.value = value;
    }
    value++;
  }
}

namespace {

int paired_index(Row row) {
  auto at = std::find(kPaired.begin(), kPaired.end(), row);
  return at == kPaired.end() ? -1 : static_cast<int>(at - kPaired.begin());
}

bool is_paired_type(const Instr& instr) {
  return instr.result == instr.type && (instr.type == DType::f32 || instr.type == DType::f64);
}

}  // namespace

// The instruction runs in one loop with the one before it, if that computes something for it alone.
bool Plan::pair_with_last(const Instr& instr, uint16_t value) {
  uint16_t before = value - 1;
  if (before < program.first_value() || steps[steps.size() - 1].pair) return false;
  const Instr& last = program.code[before - program.first_value()];
  if (!is_paired_type(instr) || !is_paired_type(last) || instr.type != last.type) return false;
  bool left = instr.args[0] == before, right = instr.arity == 2 && instr.args[1] == before;
  Row row = left && right && instr.row == Row::multiply ? Row::square : instr.row;
  if (left && right) {
    if (row != Row::square) return false;
    right = false;
  }
  int first = paired_index(last.row), second = paired_index(row);
  if (!(left || right) || first < 0 || second < 0) return false;
  MapLoop loop = cpu::loops().pair[instr.type == DType::f64][first][second][right];
  if (!loop) return false;
  for (uint16_t result : program.results)
    if (result == before) return false;
  for (size_t i = value - program.first_value() + 1u; i < program.code.size(); i++)
    for (int a = 0; a < program.code[i].arity; a++)
      if (program.code[i].args[a] == before) return false;
  Step& step = steps[steps.size() - 1];
  step.loop = loop;
  if (instr.arity == 2 && row == instr.row) step.args[step.arity++] = instr.args[left ? 1 : 0];
  step.slot = instr.slot;
  step.value = value;
  step.pair = true;
  return true;
}

// A step may write its result in place, unless a later one still reads an input that lies there.
void Plan::find_direct() {
  for (int o = 0; o < std::min<int>(outputs.size(), kMostDirect); o++) {
    uint16_t reg = program.results[static_cast<size_t>(o)];
    auto shares = [&](uint16_t input) {
      return input < program.inputs.size() && inputs[input].place.buffer == outputs[o].place.buffer;
    };
    Step* from = nullptr;
    bool safe = true;
    for (Step& step : steps) {
      if (from && std::any_of(step.args, step.args + step.arity, shares)) safe = false;
      if (step.value == reg) from = &step;
    }
    // An input that is itself a result is stored last.
    if (std::any_of(program.results.begin(), program.results.end(), shares)) safe = false;
    if (from && safe && from->direct < 0) from->direct = static_cast<int8_t>(o);
  }
}

void Plan::lay_out(int64_t least_block) {
  size_t width = 0;
  for (uint8_t size : program.slots) width += size;
  for (const Bound& in : inputs)
    if (in.mode != Mode::fixed) width += in.size;
  for (const Bound& out : outputs) width += out.size;
  // All that a block touches takes half of the first cache.
  block =
      std::clamp<int64_t>(static_cast<int64_t>(16384 / std::max<size_t>(width, 1)) & ~int64_t{63}, least_block, 2048);
  block = std::min(block, (space.count() + 63) & ~int64_t{63});
  auto n = static_cast<size_t>(std::max<int64_t>(block, kRepeated));
  auto take = [&](size_t bytes) {
    size_t at = scratch;
    scratch += padded(bytes);
    return at;
  };
  for (Bound& in : inputs) {
    size_t more = in.mode == Mode::cyclic ? static_cast<size_t>(space.inner()) : 0;
    if (in.mode != Mode::flat) in.buffer = take((n + more) * in.size);
    if (in.mode == Mode::staged) in.stage = take(static_cast<size_t>(band_rows * pitch) * in.size);
  }
  for (uint8_t size : program.slots) slots.push_back(take(n * size));
  for (const Program::Constant& c : program.constants) {
    bool stored = is_result(inputs.size() + constants.size());
    constants.push_back(take((stored ? n : static_cast<size_t>(kRepeated)) * itemsize(c.type)));
  }
}

void Plan::shift(std::span<const int64_t> bytes) {
  size_t i = 0;
  for (Bound& in : inputs) in.place.data += bytes[i++];
  for (Bound& out : outputs) out.place.data += bytes[i++];
}

// ---- Evaluator ------------------------------------------------------------------------------------------------------

Evaluator::Evaluator(const Plan& plan, int64_t elements, size_t extra)
    : plan_(plan), room_(plan.scratch + extra), scratch_(room_.data()) {
  for (size_t i = 0; i < plan.program.registers(); i++) {
    values_.push_back(nullptr);
    repeated_.push_back(false);
  }
  if (plan.has_staged)
    for (int i = 0; i < plan.inputs.size(); i++) staged_.push_back(-1);
  fill_constants(std::min(elements, plan.block));
}

namespace {

auto gather_loop(int size) { return cpu::loops().gather[std::countr_zero(static_cast<unsigned>(size))]; }

void fill(char* to, const void* value, int size, int64_t n) {
  gather_loop(size)(to, static_cast<const char*>(value), 0, n);
}

}  // namespace

void Evaluator::fill_constants(int64_t n) {
  int reg = 0;
  int64_t few = std::min(n, kRepeated);
  for (const Plan::Bound& in : plan_.inputs) {
    if (in.mode == Plan::Mode::fixed) {
      alignas(16) char value[16];
      if (in.place.scalar) in.place.scalar->store(in.place.type, value);
      fill(scratch_ + in.buffer, in.place.scalar ? value : in.place.data, in.size, in.stored ? n : few);
      set(reg, {scratch_ + in.buffer, !in.stored});
    } else if (in.mode == Plan::Mode::cyclic) {
      fill_cycle(in, n);
    }
    reg++;
  }
  for (int i = 0; i < plan_.constants.size(); i++) {
    const Program::Constant& c = plan_.program.constants[static_cast<size_t>(i)];
    alignas(16) char value[16];
    c.value.store(c.type, value);
    char* at = scratch_ + plan_.constants[i];
    bool stored = plan_.is_result(reg + i);
    fill(at, value, static_cast<int>(itemsize(c.type)), stored ? n : few);
    set(reg + i, {at, !stored});
  }
}

// One row after another, until a block that begins anywhere in a row is covered.
void Evaluator::fill_cycle(const Plan::Bound& operand, int64_t n) {
  char* to = scratch_ + operand.buffer;
  int64_t inner = plan_.space.inner(), step = operand.strides[plan_.space.ndim() - 1];
  for (int64_t i = 0; i < inner; i++) std::memcpy(to + i * operand.size, operand.place.data + i * step, operand.size);
  auto have = static_cast<size_t>(inner) * operand.size, all = static_cast<size_t>(inner + n) * operand.size;
  for (; have < all; have *= 2) std::memcpy(to + have, to, std::min(have, all - have));
}

void Evaluator::set(int reg, Argument value) {
  values_[reg] = value.data;
  repeated_[reg] = value.repeated;
}

void Evaluator::find_index(int64_t p) {
  index_of_ = p;
  for (int i = plan_.space.ndim() - 1; i > 0; i--) {
    int64_t d = plan_.space.dims()[i];
    index_[i] = p % d;
    p /= d;
  }
  index_[0] = p;
}

// Blocks mostly come one after another, each within a row or up to its end.
void Evaluator::advance_index(int64_t n) {
  int axis = plan_.space.ndim() - 1;
  if (index_[axis] + n > plan_.space.inner()) {
    index_of_ = -1;
    return;
  }
  index_of_ += n;
  index_[axis] += n;
  for (; axis > 0 && index_[axis] == plan_.space.dims()[axis]; axis--) {
    index_[axis] = 0;
    index_[axis - 1]++;
  }
}

const char* Evaluator::address(const Plan::Bound& operand) const {
  const char* at = operand.place.data;
  for (int i = 0; i < plan_.space.ndim(); i++) at += index_[i] * operand.strides[i];
  return at;
}

Argument Evaluator::load(const Plan::Bound& operand, int64_t p, int64_t n) {
  if (operand.mode == Plan::Mode::flat) return {operand.place.data + p * operand.size, false};
  if (operand.mode == Plan::Mode::cyclic)
    return {scratch_ + operand.buffer + p % plan_.space.inner() * operand.size, false};
  if (operand.mode == Plan::Mode::staged) return {load_staged(operand, p, n), false};
  int last = plan_.space.ndim() - 1;
  int64_t step = operand.strides[last];
  bool in_one_row = index_[last] + n <= plan_.space.inner();
  if (in_one_row && step == operand.size) return {address(operand), false};
  if (in_one_row && step == 0 && !operand.stored) {
    fill(scratch_ + operand.buffer, address(operand), operand.size, std::min(n, kRepeated));
    return {scratch_ + operand.buffer, true};
  }
  return {gather(operand, n), false};
}

const void* Evaluator::gather(const Plan::Bound& operand, int64_t n) {
  int64_t step = operand.strides[plan_.space.ndim() - 1];
  char* to = scratch_ + operand.buffer;
  char* out = to;
  auto gather = gather_loop(operand.size);
  walk(plan_.space, operand.strides, operand.place.data, index_, n, [&](const char* from, int64_t length) {
    if (step == operand.size) {
      std::memcpy(out, from, static_cast<size_t>(length) * operand.size);
    } else {
      gather(out, from, step, length);
    }
    out += length * operand.size;
  });
  return to;
}

// Rows [r, r + band_rows) of columns [c, c + band_columns) are transposed together and serve the blocks within.
const void* Evaluator::load_staged(const Plan::Bound& operand, int64_t p, int64_t n) {
  const Space& space = plan_.space;
  int last = space.ndim() - 1;
  int64_t columns = space.inner(), rows = space.dims()[last - 1];
  char* band = scratch_ + operand.stage;
  char* copy = scratch_ + operand.buffer;
  for (int64_t done = 0; done < n;) {
    int64_t at = p + done, c = at % columns, row = at / columns, r = row % rows;
    int64_t r0 = r - r % plan_.band_rows, c0 = c - c % plan_.band_columns;
    int64_t height = std::min(plan_.band_rows, rows - r0), width = std::min(plan_.band_columns, columns - c0);
    int64_t origin = (row - r + r0) * columns + c0;
    auto& held = staged_[static_cast<int>(&operand - plan_.inputs.begin())];
    if (held != origin) {
      find_index(origin);
      cpu::loops().transpose[std::countr_zero(static_cast<unsigned>(operand.size))](
          band, plan_.pitch, address(operand), height, width, operand.strides[last - 1], operand.strides[last]);
      held = origin;
      find_index(p);
    }
    const char* from = band + ((r - r0) * plan_.pitch + (c - c0)) * operand.size;
    int64_t here = width - (c - c0);
    if (done == 0 && here >= n) return from;
    int64_t m = std::min(here, n - done);
    std::memcpy(copy + done * operand.size, from, static_cast<size_t>(m * operand.size));
    done += m;
  }
  return copy;
}

void* Evaluator::store_address(const Plan::Bound& operand, int64_t p, int64_t n) const {
  if (operand.mode == Plan::Mode::flat) return operand.place.data + p * operand.size;
  int last = plan_.space.ndim() - 1;
  if (operand.strides[last] == operand.size && index_[last] + n <= plan_.space.inner())
    return const_cast<char*>(address(operand));
  return nullptr;
}

void Evaluator::store(const Plan::Bound& operand, const void* from, int64_t p, int64_t n) {
  if (void* to = store_address(operand, p, n)) {
    if (to != from) std::memmove(to, from, static_cast<size_t>(n) * operand.size);
    return;
  }
  int64_t step = operand.strides[plan_.space.ndim() - 1];
  with_size(operand.size, [&](auto zero) {
    using T = decltype(zero);
    auto* in = static_cast<const T*>(from);
    walk(plan_.space, operand.strides, operand.place.data, index_, n, [&](char* to, int64_t length) {
      for (int64_t i = 0; i < length; i++) *reinterpret_cast<T*>(to + i * step) = in[i];
      in += length;
    });
  });
}

void Evaluator::run(int64_t p, int64_t n) {
  if (plan_.needs_index && p != index_of_) find_index(p);
  int reg = 0;
  for (const Plan::Bound& in : plan_.inputs) {
    if (in.mode != Plan::Mode::fixed) set(reg, load(in, p, n));
    reg++;
  }
  std::bitset<Plan::kMostDirect> stored;  // outputs
  for (const Plan::Step& step : plan_.steps) {
    void* to = nullptr;
    if (step.direct >= 0) to = store_address(plan_.outputs[step.direct], p, n);
    if (to)
      stored.set(static_cast<size_t>(step.direct));
    else
      to = scratch_ + plan_.slots[step.slot];
    Argument args[4];
    for (int i = 0; i < step.arity; i++) args[i] = {values_[step.args[i]], repeated_[step.args[i]]};
    step.loop(to, args, n);
    values_[step.value] = to;
  }
  for (int i = 0; i < plan_.outputs.size(); i++)
    if (i >= Plan::kMostDirect || !stored[static_cast<size_t>(i)]) store(plan_.outputs[i], result(i), p, n);
  if (plan_.needs_index) advance_index(n);
}

}  // namespace slipstream::cpu
