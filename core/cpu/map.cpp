// Kernels of elementwise records and programs. Work is cut by shape and cost alone.
#include "map.h"

#include <algorithm>

#include "../moving.h"
#include "evaluate.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kChunkCost = 1024 * 1024;  // additions in a chunk, about

int64_t chunk_elements(int cost) { return std::max<int64_t>(8192, kChunkCost / cost & ~int64_t{4095}); }

// Everything dense and of the type that the row computes in: one loop, straight over memory.
class FlatKernel final : public MovingKernel {
 public:
  FlatKernel(const Record& record, MapLoop loop, int64_t n) : loop_(loop), n_(n) {
    const Operand& out = record.outputs[0];
    out_ = out.data();
    out_size_ = static_cast<uint8_t>(itemsize(out.dtype));
    arity_ = static_cast<uint8_t>(record.inputs.size());
    chunk_ = chunk_elements(1 + row_cost(record.op->row, record.compute));
    int scalar = 0;
    for (int i = 0; i < arity_; i++) {
      const Operand& in = record.inputs[i];
      in_[i] = in.is_scalar() ? nullptr : in.data();
      DType type = in.is_scalar() ? scalar_type(record.op->row, record.compute, i) : in.dtype;
      in_size_[i] = static_cast<uint8_t>(itemsize(type));
      if (!in.is_scalar()) continue;
      record.scalars[static_cast<size_t>(scalar++)].store(type, scalar_[i]);
    }
  }

  int64_t chunks(int) const override { return (n_ + chunk_ - 1) / chunk_; }

  void run(int, int64_t chunk) override {
    int64_t begin = chunk * chunk_, n = std::min(chunk_, n_ - begin);
    alignas(64) char repeated[2][kRepeated * 16];
    Argument args[3];
    int scalars = 0;
    for (int i = 0; i < arity_; i++) {
      if (in_[i]) {
        args[i] = {in_[i] + begin * in_size_[i], false};
        continue;
      }
      repeat(repeated[scalars], scalar_[i], in_size_[i], std::min(kRepeated, n));
      args[i] = {repeated[scalars++], true};
    }
    loop_(out_ + begin * out_size_, args, n);
  }

  void shift(std::span<const int64_t> bytes) override {
    for (int i = 0; i < arity_; i++)
      if (in_[i]) in_[i] += bytes[static_cast<size_t>(i)];
    out_ += bytes.back();
  }

 private:
  static void repeat(char* to, const char* value, int size, int64_t n) {
    std::memcpy(to, value, static_cast<size_t>(size));
    size_t bytes = static_cast<size_t>(n) * static_cast<size_t>(size);
    for (size_t have = static_cast<size_t>(size); have < bytes; have *= 2)
      std::memcpy(to + have, to, std::min(have, bytes - have));
  }

  MapLoop loop_;
  char* out_;
  char* in_[3];
  int64_t n_, chunk_;
  uint8_t in_size_[3], out_size_, arity_;
  alignas(16) char scalar_[3][16];
};

class MapKernel final : public MovingKernel {
 public:
  MapKernel(std::shared_ptr<const Program> program, const Record& record, std::span<Place> in, std::span<Place> out)
      : program_(std::move(program)), plan_(*program_, record.outputs[0].shape, in, out, true) {
    int64_t target = chunk_elements(plan_.cost);
    if (plan_.has_staged) {
      tile_rows_ = plan_.band_rows;
      int64_t rows = plan_.space.dims()[plan_.space.ndim() - 2], columns = plan_.space.inner();
      segment_ = std::max(plan_.band_columns, target / tile_rows_ / plan_.band_columns * plan_.band_columns);
      segments_ = (columns + segment_ - 1) / segment_;
      bands_ = (rows + tile_rows_ - 1) / tile_rows_;
      units_ = plan_.space.count() / (rows * columns) * bands_ * segments_;
      chunk_ = std::max<int64_t>(1, target / (tile_rows_ * std::min(segment_, columns)));
    } else {
      units_ = plan_.space.count();
      chunk_ = target;
    }
  }

  int64_t chunks(int) const override { return std::max<int64_t>(1, (units_ + chunk_ - 1) / chunk_); }

  void shift(std::span<const int64_t> bytes) override { plan_.shift(bytes); }

  void run(int, int64_t chunk) override {
    int64_t begin = chunk * chunk_, end = std::min(units_, begin + chunk_);
    if (begin >= end) return;
    if (plan_.has_staged) {
      Evaluator evaluator(plan_, plan_.block);
      for (int64_t unit = begin; unit < end; unit++) run_band(evaluator, unit);
      return;
    }
    Evaluator evaluator(plan_, end - begin);
    int64_t inner = plan_.space.inner();
    bool by_rows = plan_.space.ndim() > 1 && inner >= 128;  // blocks that end with the row are used in place
    for (int64_t p = begin; p < end;) {
      int64_t n = std::min(plan_.block, end - p);
      if (by_rows) n = std::min(n, inner - p % inner);
      evaluator.run(p, n);
      p += n;
    }
  }

 private:
  // A band of rows, over one segment of the columns, square by square.
  void run_band(Evaluator& evaluator, int64_t unit) {
    int64_t rows = plan_.space.dims()[plan_.space.ndim() - 2], columns = plan_.space.inner();
    int64_t segment = unit % segments_, band = unit / segments_ % bands_, outer = unit / segments_ / bands_;
    int64_t r0 = band * tile_rows_, r1 = std::min(rows, r0 + tile_rows_),
            end = std::min(columns, (segment + 1) * segment_);
    for (int64_t c = segment * segment_; c < end; c += plan_.band_columns)
      for (int64_t r = r0; r < r1; r++)
        for (int64_t at = c, stop = std::min(end, c + plan_.band_columns); at < stop; at += plan_.block)
          evaluator.run((outer * rows + r) * columns + at, std::min(plan_.block, stop - at));
  }

  std::shared_ptr<const Program> program_;
  Plan plan_;
  int64_t units_, chunk_;
  int64_t tile_rows_ = 1, segment_ = 0, segments_ = 1, bands_ = 1;
};

// The loop of a record that needs no conversions and whose operands are all dense, or null.
MapLoop flat_loop(const Record& record) {
  const Operand& out = record.outputs[0];
  Row row = record.op->row;
  if (row == Row::cast) {
    const Operand& in = record.inputs[0];
    return !in.is_scalar() && in.contiguous() && out.contiguous()
               ? loops().cast[static_cast<int>(in.dtype)][static_cast<int>(out.dtype)]
               : nullptr;
  }
  Rule rule = row_rule(row);
  if (!computes(rule, record.compute) || given(rule, record.compute) != out.dtype || !out.contiguous()) return nullptr;
  bool condition = info(rule).condition_first;
  for (int i = 0; i < record.inputs.size(); i++) {
    const Operand& in = record.inputs[i];
    if (in.is_scalar()) continue;
    if (in.dtype != (condition && i == 0 ? DType::b1 : record.compute) || !in.contiguous()) return nullptr;
  }
  return loops().map[static_cast<int>(row)][static_cast<int>(record.compute)];
}

std::unique_ptr<Kernel> make_general(const std::shared_ptr<const Program>& program, const Record& record) {
  SmallVec<Place, 8> in, out;
  size_t scalar = 0;
  for (int i = 0; i < record.inputs.size(); i++) {
    Place& p = in.emplace_back(place(record.inputs[i]));
    if (!record.inputs[i].is_scalar()) continue;
    p.scalar = &record.scalars[scalar++];
    p.type = program->inputs[static_cast<size_t>(i)];
  }
  for (const Operand& o : record.outputs) out.push_back(place(o));
  return std::make_unique<MapKernel>(program, record, std::span(in.begin(), static_cast<size_t>(in.size())),
                                     std::span(out.begin(), static_cast<size_t>(out.size())));
}

// Looks at all exponents first, so that nothing is computed from a negative one.
class IntegerPowerKernel final : public Kernel {
 public:
  explicit IntegerPowerKernel(const Record& record) : exponents_(record.inputs[1]), power_(make_map(record)) {}
  int phases() const override { return 2; }
  int64_t chunks(int phase) const override { return phase == 0 ? 1 : power_->chunks(0); }
  void run(int phase, int64_t chunk) override { phase == 0 ? check() : power_->run(0, chunk); }

 private:
  void check() const {
    ProgramBuilder builder;
    ProgramBuilder::Reg y = builder.input(exponents_.dtype);
    ProgramBuilder::Reg args[] = {y, builder.constant(Scalar::of(int64_t{0}), y.type)};
    builder.result(builder.apply(Row::less, y.type, DType::b1, args));
    std::shared_ptr<const Program> program = builder.finish();
    Place in = place(exponents_);
    Plan plan(*program, exponents_.shape, std::span(&in, 1), {}, false);
    Evaluator evaluator(plan, plan.block);
    for (int64_t p = 0, n = plan.space.count(); p < n; p += plan.block) {
      int64_t m = std::min(plan.block, n - p);
      evaluator.run(p, m);
      if (std::memchr(evaluator.result(0), 1, static_cast<size_t>(m)))
        fail(ErrorKind::value,
             "pow: integers to negative integer powers are not allowed; convert to a float type first");
    }
  }

  const Operand& exponents_;
  std::unique_ptr<Kernel> power_;
};

std::unique_ptr<Kernel> make_integer_power(const Record& record) {
  return std::make_unique<IntegerPowerKernel>(record);
}

}  // namespace

std::unique_ptr<Kernel> make_map(const Record& record) {
  int64_t n = record.outputs[0].size();
  if (n > 0)
    if (MapLoop loop = flat_loop(record)) return std::make_unique<FlatKernel>(record, loop, n);
  return make_general(single_program(record), record);
}

std::unique_ptr<Kernel> make_program(const Record& record) {
  return make_general(std::static_pointer_cast<const Program>(record.params), record);
}

void register_map(engine::Backend& backend) {
  backend.provide(kMap, &make_program);
  backend.provide(kIntegerPower, &make_integer_power);
  for (int i = 0; i <= kRowCount; i++) {
    auto row = static_cast<Row>(i);
    if (!is_reduction(row)) backend.provide(row_op(row), &make_map);
  }
}

}  // namespace slipstream::cpu
