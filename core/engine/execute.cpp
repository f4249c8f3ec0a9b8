// Running calls: failures are inherited, memory is found, the kernel is made. The same for both engines.
#include "execute.h"

#include <cxxabi.h>

#include <algorithm>
#include <new>

#include "../program.h"
#include "device.h"
#include "fuse.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

// What the call fails with because something it works on has failed; null if nothing has. A call that copies what an
// equal one computes shares the failures of their inputs; where the computation itself failed, it fails as it would
// have by itself, with an error of its own.
FailurePtr inherited(Runtime& runtime, const Record& call) {
  bool copies = call.op == &kEqual;
  for (int i = copies; i < call.inputs.size(); i++)
    if (!call.inputs[i].is_scalar() && call.inputs[i].storage()->failed()) return call.inputs[i].storage()->failure();
  for (const Operand& output : call.outputs)
    if (output.storage()->failed()) return output.storage()->failure();
  if (!copies || !call.inputs[0].storage()->failed()) return nullptr;
  return to_failure(runtime, call, std::make_exception_ptr(FailedResult(call.inputs[0].storage()->failure())));
}

// A result may use the buffer of an input that nobody can read afterwards: no handle, and no other recorded use.
void take_over_dying_input(Record& call) {
  if (call.in_place || call.outputs.size() != 1 || !is_elementwise(*call.op)) return;
  Operand& output = call.outputs[0];
  for (Operand& input : call.inputs) {
    if (input.is_scalar()) continue;
    Storage& dying = *input.storage();
    if (dying.uses() == 1 && !dying.has_handles() && input.offset == 0 &&
        itemsize(input.dtype) == itemsize(output.dtype) && input.shape == output.shape && input.contiguous() &&
        output.contiguous() && output.storage()->take_over(dying))
      return;
  }
}

bool is_merged(const Record& call) { return call.op == &kMap && call.outputs.size() > 1; }

// Memory for the results. One without memory fails, and of a merged call those that depend on it; the rest goes on.
// `failures` are those of the results so far, empty if there are none. What spreads is only what failed before the call
// or has no memory: a result that fails in the middle of the call had a value until then.
void allocate_outputs(Runtime& runtime, Record& call, std::vector<FailurePtr>& failures) {
  std::vector<FailurePtr> without_memory;
  for (int i = 0; i < call.outputs.size(); i++) {
    if (!failures.empty() && failures[static_cast<size_t>(i)]) continue;
    try {
      call.outputs[i].storage()->allocate();
    } catch (...) {
      without_memory.resize(static_cast<size_t>(call.outputs.size()));
      without_memory[static_cast<size_t>(i)] = to_failure(runtime, call, std::current_exception(), i);
      failures = is_merged(call) ? spread_failures(call, without_memory) : without_memory;
    }
  }
}

}  // namespace

Prepared prepare(Runtime& runtime, Record& call) {
  bool merged = is_merged(call);
  FailurePtr failure = call.op->flags & kAfterFailure ? nullptr : inherited(runtime, call);
  if (failure && !merged) return {nullptr, failure};
  std::vector<FailurePtr> failures;
  if (failure) failures = spread_failures(call, std::vector<FailurePtr>(static_cast<size_t>(call.outputs.size())));
  take_over_dying_input(call);
  allocate_outputs(runtime, call, failures);
  if (!failures.empty() && !(merged && drop_failed_results(call, failures)))
    return {nullptr, *std::find_if(failures.begin(), failures.end(), [](const FailurePtr& f) { return bool(f); })};
  try {
    Device device = device_of(call);
    MakeKernel make = backend(device).find(*call.op);
    if (!make) fail(ErrorKind::runtime, call.op->name, " is not available on ", device);
    return {make(call), nullptr};
  } catch (...) {
    return {nullptr, to_failure(runtime, call, std::current_exception())};
  }
}

FailurePtr to_failure(Runtime& runtime, const Record& call, std::exception_ptr error, int output) {
  auto failure = std::make_shared<Failure>();
  Program::Origin origin = origin_of(call, output);
  failure->op = origin.op->name;
  failure->source = origin.source;
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    failure->kind = e.kind;
    failure->message = e.what();
    std::string prefix = failure->op + ": ";  // the operation is named apart
    if (failure->message.starts_with(prefix)) failure->message.erase(0, prefix.size());
  } catch (const FailedResult& e) {  // an error of the front end, carried through a host function; an equal call's
    failure->kind = e.failure->kind;
    failure->message = e.failure->message;
    failure->payload = e.failure->payload;
  } catch (const std::bad_alloc&) {
    failure->kind = ErrorKind::memory;
    failure->message = "out of memory";
  } catch (const std::exception& e) {
    failure->message = e.what();
  } catch (...) {
    failure->message = "unknown error";
  }
  runtime.failures.add(failure);
  return failure;
}

void conclude(Runtime& runtime, Record& call, const FailurePtr& failure) {
  for (Operand& output : call.outputs) {
    Storage& storage = *output.storage();
    if (failure) storage.set_failure(failure);
    storage.pending_writes.fetch_sub(1, std::memory_order_acq_rel);
  }
  runtime.retire(call);
}

FailurePtr run_kernel(Runtime& runtime, const Record& call, Kernel& kernel) {
  runtime.counters.executed.fetch_add(call.calls, std::memory_order_relaxed);
  try {
    for (int phase = 0, phases = kernel.phases(); phase < phases; phase++)
      for (int64_t chunk = 0, n = kernel.chunks(phase); chunk < n; chunk++) kernel.run(phase, chunk);
    return nullptr;
  } catch (abi::__forced_unwind&) {  // the interpreter ends this thread
    throw;
  } catch (...) {
    return to_failure(runtime, call, std::current_exception());
  }
}

bool run_whole(Runtime& runtime, Record& call) {
  Prepared prepared = prepare(runtime, call);
  if (prepared.kernel) prepared.failure = run_kernel(runtime, call, *prepared.kernel);
  prepared.kernel.reset();
  conclude(runtime, call, prepared.failure);
  return prepared.failure != nullptr;
}

}  // namespace slipstream::engine
