// Room for the work of a chunk: memory of the calling thread that is kept from chunk to chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipstream::engine {

class ThreadBytes {
 public:
// The address sanitizer sees what goes past the end of a room only if that is a block of its own.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kShareBlock = false;
#else
  static constexpr bool kShareBlock = true;
#endif

  explicit ThreadBytes(size_t nbytes);
  ~ThreadBytes();
  ThreadBytes(const ThreadBytes&) = delete;
  ThreadBytes& operator=(const ThreadBytes&) = delete;
  char* data() const { return data_; }

 private:
  size_t nbytes_;
  bool own_;  // a block of its own
  char* data_;
};

// Room for `n` values, aligned to 64 bytes, not initialised. A thread gives its rooms up in the reverse of the order in
// which it took them.
template <class T>
class ThreadRoom {
 public:
  explicit ThreadRoom(int64_t n) : bytes_(static_cast<size_t>(n) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  ThreadBytes bytes_;
};

}  // namespace slipstream::engine
