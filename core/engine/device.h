// Backends: a kind of device brings memory and kernels. Adding one touches no operation.
#pragma once

#include <string>
#include <unordered_map>

#include "../op.h"

namespace slipstream::engine {

class Backend {
 public:
  explicit Backend(std::string kind) : kind(std::move(kind)) {}
  virtual ~Backend() = default;

  virtual int count() const = 0;  // devices of this kind; an id at or above it is refused
  virtual void* allocate(size_t nbytes) = 0;  // nullptr: none left
  virtual void free(void* p, size_t nbytes) = 0;

  void provide(const Op& op, MakeKernel make) { kernels_[&op] = make; }
  MakeKernel find(const Op& op) const {
    auto it = kernels_.find(&op);
    return it == kernels_.end() ? nullptr : it->second;
  }

  const std::string kind;

 private:
  std::unordered_map<const Op*, MakeKernel> kernels_;
};

// Kinds are numbered in the order they are added; 0 is "cpu".
uint8_t add_backend(std::unique_ptr<Backend> backend);
Backend& backend(Device device);
// The device of a kind by name; raises "gpu(0): this machine has no gpu" where there is none.
Device device(const std::string& kind, int id);
// Number of devices of a kind; 0 for kinds that are not there.
int device_count(const std::string& kind);
const std::string& kind_name(Device device);

}  // namespace slipstream::engine
