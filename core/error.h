// Errors: what is raised at the call, and what a failed operation leaves behind on its results.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace slipstream {

// Which exception class the front end shows. Core code throws Error with one of these and a finished sentence.
enum class ErrorKind : uint8_t { value, type, index, axis, memory, runtime, overflow, linalg };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind(kind) {}
  ErrorKind kind;
};

// fail(ErrorKind::value, "dot: shapes ", a.shape, " and ", b.shape, " do not align")
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(kind, text.str());
}

// Names a line of the front end's program; the front end knows how to turn it into file and line. 0: unknown.
using SourceId = uint32_t;

// Why an operation failed after its call had returned. Shared by all results that depend on it.
struct Failure {
  ErrorKind kind = ErrorKind::runtime;
  std::string op;                  // the operation that failed
  SourceId source = 0;             // where it was recorded
  std::string message;
  std::shared_ptr<void> payload;   // the front end's own exception object, for errors of host callbacks
  mutable std::atomic<bool> observed{false};
};
using FailurePtr = std::shared_ptr<const Failure>;

// Thrown by waits and reads on a failed result.
class FailedResult : public std::runtime_error {
 public:
  explicit FailedResult(FailurePtr failure) : std::runtime_error(failure->message), failure(std::move(failure)) {}
  FailurePtr failure;
};

}  // namespace slipstream
