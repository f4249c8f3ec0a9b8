// Storage, the view an array takes of it, and the two ways of holding one: Array (a handle: somebody may still read
// it) and Operand (a recorded call needs it, but nobody else might).
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "dtype.h"
#include "engine/use.h"
#include "graph/node.h"
#include "memory.h"
#include "shape.h"

namespace slipstream {

// Where an array lives. Kinds are registered by backends (engine/device.h); "cpu" is always there.
struct Device {
  uint8_t kind = 0;
  uint16_t id = 0;
  bool operator==(const Device&) const = default;
};
std::ostream& operator<<(std::ostream& out, Device device);  // cpu(0)

struct View;

// A block of bytes of one device. Memory comes when the first operation that writes it runs, and goes back when the
// last handle and the last recorded use are gone.
class Storage {
 public:
  // Memory comes later, from the device.
  Storage(Device device, size_t nbytes);
  // Memory is borrowed or was filled by the front end; `release` is called when it is no longer used.
  Storage(Device device, size_t nbytes, void* data, std::function<void()> release);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  static void* operator new(size_t size);
  static void operator delete(void* block);

  const Device device;
  const size_t nbytes;

  char* data() const { return data_; }
  void allocate();                     // called by the engine before the first write; may raise Error(memory)
  bool take_over(Storage& dying);      // use the dying storage's buffer; false if it does not fit

  // Handles are the Arrays that can still be read or recorded from; with none, nobody can name this storage any more.
  // They are the front end's. Uses are the Operands of calls that are recorded and not done. That there are handles is
  // kept in one number with the uses, so that whoever takes the last of either is known.
  void add_handle() { handles_.add(); }
  void drop_handle() {
    if (handles_.drop()) drop_handles();
  }
  uint32_t handles() const { return handles_.count(); }  // for the front end
  bool has_one_handle() const { return handles() == 1; }
  bool has_handles() const { return holders_.load(std::memory_order_acquire) >= kHandles; }
  void add_use() { holders_.fetch_add(1, std::memory_order_relaxed); }
  // While only the thread that made it knows the storage.
  void add_first_use() { holders_.store(holders_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void add_first_write() {
    pending_writes.store(pending_writes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void drop_use() {
    uint64_t seen = holders_.load(std::memory_order_acquire);
    if (seen == 1) return delete this;
    do {
      if (uses(seen) == 1 && in_flight.load(std::memory_order_relaxed)) leave_flight();
    } while (!holders_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (seen == 1) delete this;
  }
  uint32_t uses() const { return uses(holders_.load(std::memory_order_acquire)); }

  // How many others see the memory (buffer protocol, DLPack). A call that writes what they read, or reads what they may
  // write, is done before it returns.
  std::atomic<uint32_t> lent{0}, lent_writable{0};
  bool read_only = false;  // borrowed from an owner who lets nobody write it

  // Writes into what existed before, and the line that recorded the last one: the tape asks whether a value that it
  // saved is still there.
  std::atomic<uint32_t> version{0};
  std::atomic<SourceId> last_writer{0};
  void note_write(SourceId source, const View& where);
  // Where values with a history were written into it: that history (graph/writes.cpp). The front end's, and gone with
  // the last handle.
  Ref<tape::Node> content;
  std::atomic<uint32_t> saved{0};  // handles that belong to values saved by the tape

  // Owned by the engine.
  std::atomic<uint32_t> pending_writes{0};  // recorded and not finished; 0 means ready
  std::atomic<bool> in_flight{false};  // counted among the bytes that recorded calls bring into being
  std::atomic<uint32_t> generation{0};  // of the engine that last wrote it (a forked child has a new one)
  FailurePtr failure() const {  // set before pending_writes falls; stays for good
    const FailurePtr* box = failure_.load(std::memory_order_acquire);
    return box ? *box : nullptr;
  }
  bool failed() const { return failure_.load(std::memory_order_acquire) != nullptr; }
  void set_failure(const FailurePtr& failure);
  engine::StorageUse use;  // who writes and reads it; guarded by the planner's lock

 private:
  static constexpr uint64_t kHandles = 1ull << 32;
  static uint32_t uses(uint64_t holders) { return static_cast<uint32_t>(holders); }
  ~Storage();
  void leave_flight();
  void drop_handles() {
    Ref<tape::Node> ended;
    if (content) ended.swap(content);
    bool only = holders_.load(std::memory_order_acquire) == kHandles;  // then nobody else can add a use
    if (only || holders_.fetch_sub(kHandles, std::memory_order_acq_rel) == kHandles) delete this;
  }

  std::atomic<const FailurePtr*> failure_{nullptr};
  std::atomic<uint64_t> holders_{kHandles};  // uses in the lower half, in the upper one whether there are handles
  Holders handles_;
  char* data_ = nullptr;
  bool owned_ = false;  // memory comes from the device's allocator and goes back there
  std::function<void()> release_borrowed_;
};

// How an array reads its storage.
struct View {
  View() {}
  View(DType dtype, int64_t offset, const Shape& shape, const Strides& strides)
      : dtype(dtype), offset(offset), shape(shape), strides(strides) {}
  View(DType dtype, const Shape& shape)  // row-major, from the start of the storage
      : dtype(dtype), shape(shape), strides(row_major(shape, itemsize(dtype))) {}

  DType dtype = DType::f32;
  int64_t offset = 0;  // bytes from the start of the storage
  Shape shape;
  Strides strides;  // bytes, any sign, 0 where an element repeats

  int ndim() const { return shape.size(); }
  int64_t size() const { return count(shape); }
  size_t nbytes() const { return static_cast<size_t>(size()) * itemsize(dtype); }
  bool contiguous() const {  // row-major without gaps
    auto step = static_cast<int64_t>(itemsize(dtype));
    const int64_t *lengths = shape.data(), *steps = strides.data();
    for (int i = ndim() - 1; i >= 0; i--) {
      if (lengths[i] == 0) return true;
      if (lengths[i] != 1 && steps[i] != step) return false;
      step *= lengths[i];
    }
    return true;
  }
};

class Array : public View {
 public:
  Array() {}
  // A new array whose storage has no memory yet; some recorded operation will write it.
  Array(const Shape& shape, DType dtype, Device device);
  // Takes over one handle of the storage.
  Array(Storage* storage, View view) : View(std::move(view)), storage_(storage) {}
  Array(const Array& o) : View(o), storage_(o.storage_), node_(o.node_) {
    if (storage_) storage_->add_handle();
  }
  Array(Array&& o) noexcept
      : View(std::move(o)), storage_(std::exchange(o.storage_, nullptr)), node_(std::move(o.node_)) {}
  Array& operator=(Array o) noexcept {
    static_cast<View&>(*this) = std::move(static_cast<View&>(o));
    std::swap(storage_, o.storage_);
    node_.swap(o.node_);
    return *this;
  }
  struct Detached {};
  Array(const Array& o, Detached) : View(o), storage_(o.storage_) {
    if (storage_) storage_->add_handle();
  }
  ~Array() {
    if (storage_) storage_->drop_handle();
  }

  explicit operator bool() const { return storage_ != nullptr; }
  Storage* storage() const { return storage_; }
  Device device() const { return storage_->device; }
  // How it was computed, where a program recorded that (graph/tape.h); most arrays have none. It is no part of the
  // value: setting it does not change the array.
  tape::Node* node() const { return node_.get(); }
  void set_node(Ref<tape::Node> node) const { node_.swap(node); }
  // The same array without a history.
  Array detached() const { return Array(*this, Detached()); }
  // Another array over the same storage, without a history.
  Array view(View v) const {
    storage_->add_handle();
    return Array(storage_, std::move(v));
  }
  Array broadcast_to(const Shape& target) const {  // the caller has checked that it fits
    return view(View(dtype, offset, target, broadcast_strides(shape, strides, target)));
  }

 private:
  Storage* storage_ = nullptr;
  mutable Ref<tape::Node> node_;
};

// An argument of a recorded call. Without storage it stands for one of the call's scalars.
class Operand : public View {
 public:
  Operand() {}
  explicit Operand(const Array& a) : View(a), storage_(a.storage()) { storage_->add_use(); }
  struct Fresh {};  // a new array, which only this thread knows
  Operand(const Array& a, Fresh) : View(a), storage_(a.storage()) { storage_->add_first_use(); }
  Operand(const Array& a, View v) : View(std::move(v)), storage_(a.storage()) { storage_->add_use(); }
  Operand(const Operand& o, View v) : View(std::move(v)), storage_(o.storage_) { storage_->add_use(); }
  Operand(const Operand& o) : View(o), storage_(o.storage_) {
    if (storage_) storage_->add_use();
  }
  Operand(Operand&& o) noexcept : View(std::move(o)), storage_(std::exchange(o.storage_, nullptr)) {}
  Operand& operator=(Operand o) noexcept {
    static_cast<View&>(*this) = std::move(static_cast<View&>(o));
    std::swap(storage_, o.storage_);
    return *this;
  }
  ~Operand() {
    if (storage_) storage_->drop_use();
  }
  bool is_scalar() const { return storage_ == nullptr; }
  Storage* storage() const { return storage_; }
  char* data() const { return storage_->data() + offset; }  // only while the call runs

 private:
  Storage* storage_ = nullptr;
};
template <>
inline constexpr bool is_relocatable<Operand> = true;

}  // namespace slipstream
