// The engine: record, wait, wait_all, observe. Everything else in this folder is behind these.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

// ---- record -------------------------------------------------------------------------------------------------------

// Appends one call to the stream and returns. Waits only if the stream holds as much as it may (see Limits).
// An output is new (only its record names its storage) or, with record.in_place, an existing storage to write into.
// Gives the line that recorded it.
SourceId record(Record&& call);

// ---- wait ---------------------------------------------------------------------------------------------------------

// Until every write to the array's storage recorded so far is done. Raises FailedResult if one failed.
void wait(const Array& array);
// Until everything recorded so far is done. Raises nothing: see take_failures.
void wait_all();
bool is_ready(const Array& array);
// The number of the last recorded call, and a wait for every call up to a number (the fence behind engine.pace).
uint64_t sequence();
void wait_until(uint64_t sequence);
// Failures that no wait or read has raised yet; marks them observed.
std::vector<FailurePtr> take_failures();

// What the front end lends the engine: how to let other front-end threads run while one blocks, and how to find out
// whether the user wants to stop. `poll` may throw; the wait then ends with that exception.
struct FrontEnd {
  void* (*enter_blocking)() = nullptr;         // e.g. release the GIL
  void (*leave_blocking)(void*) = nullptr;
  void (*poll)() = nullptr;                    // called on waiting threads, inside a blocking section, every 20 ms
  bool (*must_poll)() = nullptr;               // is this the thread that answers signals?
  SourceId (*source)() = nullptr;              // the line of the user's program that is being executed
};
void set_front_end(const FrontEnd& front_end);
SourceId source();  // the line of the user's program that is being executed

// ---- settings -----------------------------------------------------------------------------------------------------

enum class EngineKind { async, sync };
EngineKind engine_kind();
void set_engine_kind(EngineKind kind);  // before the first record, or after wait_all

int workers();
void set_workers(int n);  // waits for running work to end; n >= 1

struct Limits {
  int64_t ops = 4'096;      // recorded and not finished
  int64_t bytes = 0;        // of results recorded and not finished; set from the machine's memory at start
  int64_t memory = 0;       // all memory in use on a device; allocations beyond it fail
  int64_t cache = 0;        // freed memory kept for reuse
};
Limits limits();
void set_limits(const Limits& limits);

// Switches of the planner, for measuring, debugging and tests.
struct Planning {
  int batch = 256;     // records planned together at most (1: one by one)
  int bulk = 64;       // tiny calls run as one task at most (1: each has a task of its own, none runs without one)
  bool fuse = true;
  bool skip = true;
};
Planning planning();
void set_planning(const Planning& planning);

// Every n-th allocation fails (0: none). For tests of what comes after.
void fail_allocations(int64_t every);

// ---- observe ------------------------------------------------------------------------------------------------------

struct Stats {
  int64_t recorded, executed, fused, skipped;
  int64_t in_flight_ops, in_flight_bytes, peak_ops, peak_bytes;
  int64_t stalls;
  double stalled_seconds;
};
Stats stats();
void reset_peaks();

struct MemoryStats {
  int64_t in_use, cached, peak;
};
MemoryStats memory();
void empty_cache();

// One thing that happened, while tracing. Times are nanoseconds of the monotonic clock.
struct Event {
  enum Type : uint8_t { record, run, wait } type;
  int lane;                  // 0..: workers; -1 - k: the k-th front-end thread
  std::string name;          // operation, or what the wait was for
  std::string shapes;        // "(2, 3) float32, (3,) float32 -> (2, 3) float32"
  SourceId source;
  uint64_t sequence;         // number of the call, links its record and run events
  std::vector<uint64_t> calls;  // run: all calls that ran as one
  std::vector<uint64_t> after;  // run: the calls it depended on
  int64_t recorded_ns, ready_ns, start_ns, end_ns;  // 0: before the trace began
  int64_t chunks;
  bool failed;
};
void start_trace();
std::vector<Event> stop_trace();
bool tracing();

// What the last planned batch came to, one line a task (for engine.explain()).
std::string explain();

// ---- life and death -----------------------------------------------------------------------------------------------

// At exit of the front end: drops work nobody can observe, finishes observable work for at most `seconds`.
void shutdown(double seconds);
// Number of this process' engine: a forked child has a fresh one.
uint32_t generation();
// Around fork(): wait until nothing runs (returns false if the calling thread is itself inside a host call).
bool quiesce();
// Is the calling thread running a task?
bool inside_task();
// Is the array an input of a call that the calling thread is running? Then it keeps its value until that call ends,
// and reading it waits for nothing: not for later writes, which wait for the call.
bool holds(const Array& array);

}  // namespace slipstream::engine
