// Storage and arrays: where memory comes from and when it goes back.
#include "array.h"

#include <ostream>

#include "engine/allocator.h"
#include "engine/device.h"
#include "engine/task.h"
#include "graph/tape.h"

namespace slipstream {

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << engine::kind_name(device) << '(' << device.id << ')';
}

Storage::Storage(Device device, size_t nbytes) : device(device), nbytes(nbytes) {}

Storage::Storage(Device device, size_t nbytes, void* data, std::function<void()> release)
    : device(device), nbytes(nbytes), data_(static_cast<char*>(data)), release_borrowed_(std::move(release)) {}

namespace {
thread_local constinit Blocks<512> blocks;
}
void* Storage::operator new(size_t size) { return blocks.take(size); }
void Storage::operator delete(void* block) { blocks.give(block); }

Storage::~Storage() {
  if (in_flight.load(std::memory_order_relaxed)) engine::leave_flight(*this);
  if (owned_) engine::deallocate(device, data_, nbytes);
  if (release_borrowed_) release_borrowed_();
  delete failure_.load(std::memory_order_relaxed);
}

void Storage::leave_flight() {
  if (in_flight.exchange(false, std::memory_order_relaxed)) engine::leave_flight(*this);
}

void Storage::allocate() {
  if (data_) return;
  data_ = static_cast<char*>(engine::allocate(device, nbytes));
  owned_ = true;
}

bool Storage::take_over(Storage& dying) {
  if (data_ || !dying.owned_ || dying.nbytes != nbytes || !(dying.device == device)) return false;
  data_ = dying.data_;  // the dying storage keeps the pointer: its last reader is about to run
  owned_ = true;
  dying.owned_ = false;
  return true;
}

void Storage::set_failure(const FailurePtr& failure) {
  auto* box = new FailurePtr(failure);
  const FailurePtr* none = nullptr;
  if (!failure_.compare_exchange_strong(none, box, std::memory_order_acq_rel)) delete box;
}

void Storage::note_write(SourceId source, const View& where) {
  last_writer.store(source, std::memory_order_relaxed);
  version.fetch_add(1, std::memory_order_relaxed);
  if (content) tape::overwrite(*this, where);
}

Array::Array(const Shape& shape, DType dtype, Device device)
    : View(dtype, shape), storage_(new Storage(device, nbytes())) {}

}  // namespace slipstream
