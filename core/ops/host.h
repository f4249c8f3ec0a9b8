// Operations that meet the front end or another device: host calls, done callbacks, copies.
#pragma once

#include "../op.h"
#include "structural.h"

namespace slipstream {

extern const Op kHostCall;  // HostCallParams
extern const Op kWhenDone;  // WhenDoneParams
extern const Op kToHost;    // ToHostParams
extern const Op kToDevice;  // the input lives on another device than the output

struct HostCallParams final : OpParams {
  HostFunction fn;
};

struct WhenDoneParams final : OpParams {
  std::function<void(FailurePtr)> fn;
};

struct ToHostParams final : OpParams {
  void* to = nullptr;
};

}  // namespace slipstream
