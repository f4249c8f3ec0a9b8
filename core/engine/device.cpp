// The registry of backends.
#include "device.h"

#include <memory>
#include <vector>

#include "../cpu/backend.h"

namespace slipstream::engine {

namespace {

// Filled once, before the first array exists, and by backends that are added at start; never destroyed.
std::vector<std::unique_ptr<Backend>>& registry() {
  static auto* backends = [] {
    auto* made = new std::vector<std::unique_ptr<Backend>>();
    made->push_back(cpu::make_cpu_backend());
    return made;
  }();
  return *backends;
}

}  // namespace

uint8_t add_backend(std::unique_ptr<Backend> backend) {
  registry().push_back(std::move(backend));
  return static_cast<uint8_t>(registry().size() - 1);
}

Backend& backend(Device device) { return *registry()[device.kind]; }

int device_count(const std::string& kind) {
  for (auto& backend : registry())
    if (backend->kind == kind) return backend->count();
  return 0;
}

Device device(const std::string& kind, int id) {
  for (size_t i = 0; i < registry().size(); i++) {
    if (registry()[i]->kind != kind) continue;
    if (id < 0 || id >= registry()[i]->count())
      fail(ErrorKind::value, kind, "(", id, "): this machine has ", registry()[i]->count(), " ", kind, " devices");
    return {static_cast<uint8_t>(i), static_cast<uint16_t>(id)};
  }
  fail(ErrorKind::runtime, kind, "(", id, "): this machine has no ", kind, " that Slipstream can use");
}

const std::string& kind_name(Device device) { return registry()[device.kind]->kind; }

}  // namespace slipstream::engine
