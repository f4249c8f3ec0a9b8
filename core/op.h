// What is recorded: an operation, its operands, its parameters. And what runs: a kernel, in chunks.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "array.h"
#include "memory_rows.h"
#include "rows.h"

namespace slipstream {

enum OpFlags : uint8_t {
  kPure = 0,
  kObservable = 1,    // has an effect besides its outputs: never skipped
  kMayFail = 2,       // may fail on the values it meets: never skipped, so that no error is lost
  kHost = 4,          // calls back into the front end, for as long as that takes
  kAfterFailure = 8,  // runs although an input failed (done callbacks)
  kLong = 16,         // one chunk may take long: not run by a thread that must answer signals
  kTiled = 32,        // its kernel may be a TiledKernel
};

// A kind of operation: one static object each, compared by address.
struct Op {
  const char* name;
  uint8_t flags = kPure;
  Row row = Row::none;  // for elementwise operations and reductions: their row of ops.def
};

// Parameters of a structural operation; each op derives its own.
struct OpParams {
  virtual ~OpParams() = default;
  // Does a call with these compute the same as one of the same operation with the others? No, where nobody says so.
  virtual bool same(const OpParams& /*others*/) const { return false; }
  bool operator==(const OpParams&) const = default;
};

// Parameters that are the same if they are equal, member by member: `bool operator==(const P&) const = default;`.
template <class P>
struct ComparedParams : OpParams {
  bool same(const OpParams& others) const final {
    return static_cast<const P&>(*this) == static_cast<const P&>(others);
  }
  bool operator==(const ComparedParams&) const = default;
};

// One call. Everything is checked before it is recorded: shapes fit, views lie within their storages, and inputs of
// elementwise operations are already broadcast to the shape of the output.
struct Record {
  const Op* op = nullptr;
  DType compute = DType::f32;  // rows only: the type the inputs are converted to before the operation
  SourceId source = 0;
  bool in_place = false;       // some output's storage existed before this call, so it is ordered after earlier uses
  uint64_t sequence = 0;       // set by the engine, like the rest of these numbers
  uint64_t recorded_in = 0;    // number of the host call that recorded it; 0: the program itself
  uint32_t calls = 1;          // how many calls of the program it stands for
  int64_t recorded_ns = 0;     // while tracing
  SmallVec<Operand, 3> inputs;
  SmallVec<Operand, 1> outputs;
  std::array<Scalar, 2> scalars;  // values of inputs without storage, in their order
  std::shared_ptr<const OpParams> params;

  template <class P>
  const P& as() const {
    return static_cast<const P&>(*params);
  }
};

// Where the call runs. One without operands (a host call for its effect alone) runs on the first device.
inline Device device_of(const Record& call) {
  if (!call.outputs.empty()) return call.outputs[0].storage()->device;
  for (const Operand& input : call.inputs)
    if (!input.is_scalar()) return input.storage()->device;
  return {};
}

// Bytes of the results that it brings into being.
inline int64_t new_bytes(const Record& call) {
  int64_t bytes = 0;
  if (!call.in_place)
    for (const Operand& output : call.outputs) bytes += static_cast<int64_t>(output.storage()->nbytes);
  return bytes;
}

// A call bound to memory. Work is cut into phases, a phase into chunks; the chunks of a phase run in any order on any
// threads, phases one after another. The cut depends on shapes and dtypes alone, so that results never depend on the
// number of threads. A chunk should take between 0.1 and 5 ms.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int phases() const { return 1; }
  virtual int64_t chunks(int /*phase*/) const { return 1; }
  virtual void run(int phase, int64_t chunk) = 0;
};

// A kernel each chunk of whose last phase computes one box of the only result; earlier phases do not touch it. The
// result is seen as matrices one after another: all axes but the last two are one.
class TiledKernel : public Kernel {
 public:
  struct Box {
    std::array<int64_t, 3> begin, size;  // matrices, rows, columns
  };
  virtual Box box(int64_t chunk) const = 0;
  // Writes the chunk's box row-major to `to` instead of to its place, with the same bits. What is needed next, at the
  // places of the box and as wide as it is, may be brought into the cache meanwhile.
  virtual void run_to(int64_t chunk, char* to, std::span<const MemoryRows> needed_next) = 0;
};

// Makes the kernel of one op on one kind of device. The record outlives the kernel; its outputs have memory.
using MakeKernel = std::unique_ptr<Kernel> (*)(const Record&);

// A kernel of one chunk from a function.
template <class F>
std::unique_ptr<Kernel> single_kernel(F f) {
  struct Single final : Kernel {
    explicit Single(F f) : f(std::move(f)) {}
    void run(int, int64_t) override { f(); }
    F f;
  };
  return std::make_unique<Single>(std::move(f));
}

// A kernel of `n` equal chunks from a function of the chunk number.
template <class F>
std::unique_ptr<Kernel> chunked_kernel(int64_t n, F f) {
  struct Chunked final : Kernel {
    Chunked(int64_t n, F f) : n(n), f(std::move(f)) {}
    int64_t chunks(int) const override { return n; }
    void run(int, int64_t chunk) override { f(chunk); }
    int64_t n;
    F f;
  };
  return std::make_unique<Chunked>(n, std::move(f));
}

}  // namespace slipstream
