// Ref: an intrusive reference. SmallVec: a vector whose first few elements need no allocation. Blocks: memory of one
// size, kept for the next of its kind. Holders: how many the front end's threads hold something by.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace slipstream {

// Base of objects held by Ref. A new object has one reference, taken over by Ref::adopt.
template <class T>
class RefCounted {
 public:
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    bool only = refs_.load(std::memory_order_acquire) == 1;  // then nobody else can add one
    if (only || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete static_cast<const T*>(this);
  }
  uint32_t refs() const { return refs_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<uint32_t> refs_{1};
};

// What only threads of the front end hold (handles, nodes) needs no atomic additions where the front end lets one of
// them run at a time, as Python's GIL does. It says so once, before anything is held.
inline constinit bool one_at_a_time = false;

inline void add_alone(std::atomic<uint32_t>& count, uint32_t n) {
  if (one_at_a_time)
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  else
    count.fetch_add(n, std::memory_order_relaxed);
}

class Holders {
 public:
  void add() { add_alone(count_, 1); }
  // Was it the last one?
  bool drop() {
    uint32_t seen = count_.load(std::memory_order_acquire);
    if (seen == 1) return true;  // then nobody else can add one
    if (!one_at_a_time) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_.store(seen - 1, std::memory_order_release);
    return false;
  }
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> count_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }
  void reset() { Ref().swap(*this); }
  void swap(Ref& o) noexcept { std::swap(p_, o.p_); }

 private:
  T* p_ = nullptr;
};

// May its bytes be taken elsewhere, and the place they leave be forgotten?
template <class T>
inline constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;
template <class T>
inline constexpr bool is_relocatable<Ref<T>> = true;

// Where a SmallVec has its elements once they are too many.
template <class T>
struct OnHeap {
  static T* take(int n) {
    return static_cast<T*>(::operator new(sizeof(T) * static_cast<size_t>(n), std::align_val_t{alignof(T)}));
  }
  static void give(T* memory, int /*n*/) { ::operator delete(memory, std::align_val_t{alignof(T)}); }
};

template <class T, int N, class Elsewhere = OnHeap<T>>
class SmallVec {
 public:
  using value_type = T;
  SmallVec() = default;
  SmallVec(SmallVec&& o) noexcept { take(o); }
  SmallVec(const SmallVec& o) {
    for (const T& v : o) push_back(v);
  }
  SmallVec& operator=(SmallVec o) noexcept {
    clear();
    take(o);
    return *this;
  }
  ~SmallVec() {
    for (T& v : *this) v.~T();
    if (heap_) Elsewhere::give(heap_, capacity_);
  }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow();
    T* at = new (begin() + size_) T(std::forward<Args>(args)...);
    size_++;
    return *at;
  }
  void push_back(T v) { emplace_back(std::move(v)); }
  void erase(T* at) {
    for (T* next = at + 1; next != end(); at = next++) *at = std::move(*next);
    at->~T();
    size_--;
  }
  void clear() {
    for (T& v : *this) v.~T();
    if (heap_) Elsewhere::give(heap_, capacity_);
    heap_ = nullptr;
    size_ = 0;
    capacity_ = N;
  }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return heap_ ? heap_ : reinterpret_cast<T*>(inline_); }
  T* end() { return begin() + size_; }
  const T* begin() const { return heap_ ? heap_ : reinterpret_cast<const T*>(inline_); }
  const T* end() const { return begin() + size_; }
  T& operator[](int i) { return begin()[i]; }
  const T& operator[](int i) const { return begin()[i]; }

 private:
  void grow() {
    int bigger = (capacity_ < N ? N : capacity_) * 2;
    T* to = Elsewhere::take(bigger);
    for (int i = 0; i < size_; i++) new (to + i) T(std::move(begin()[i]));
    int n = size_;
    clear();
    heap_ = to;
    size_ = n;
    capacity_ = bigger;
  }
  void take(SmallVec& o) {
    if (o.heap_) {
      heap_ = std::exchange(o.heap_, nullptr);
      size_ = std::exchange(o.size_, 0);
      capacity_ = std::exchange(o.capacity_, N);
    } else if constexpr (is_relocatable<T>) {
      size_ = std::exchange(o.size_, 0);
      if (size_ > 0) std::memcpy(inline_, o.inline_, sizeof(T));  // mostly all, and of known size
      if constexpr (N > 1)
        if (size_ > 1)
          std::memcpy(inline_ + sizeof(T), o.inline_ + sizeof(T), sizeof(T) * static_cast<size_t>(size_ - 1));
    } else {
      for (T& v : o) emplace_back(std::move(v));
      o.clear();
    }
  }

  alignas(T) unsigned char inline_[sizeof(T) * N];
  T* heap_ = nullptr;
  int size_ = 0;
  int capacity_ = N;
};

// The memory of ended objects of one size, at most `kMost`, for the next ones of this thread: a list whose links lie in
// the blocks themselves. A variable of a thread; it needs no end, which would make it slower to get at.
template <int kMost>
class Blocks {
 public:
  constexpr Blocks() = default;
  void* take(size_t size) {
    if (!first_) return ::operator new(size);
    room_++;
    return std::exchange(first_, *static_cast<void**>(first_));
  }
  void give(void* block) {
    if (room_ == 0) return give_without_room(block);
    room_--;
    *static_cast<void**>(block) = std::exchange(first_, block);
  }

 private:
  // Ends the blocks of a thread with it; objects that end later give theirs back at once.
  struct AtEnd {
    Blocks* all = nullptr;
    ~AtEnd() {
      over_ = true;
      for (; all; all = all->next_) {
        while (all->first_) ::operator delete(std::exchange(all->first_, *static_cast<void**>(all->first_)));
        all->room_ = 0;
      }
    }
  };
  [[gnu::noinline]] void give_without_room(void* block) {
    if (known_ || over_) return ::operator delete(block);
    static thread_local AtEnd at_end;
    known_ = true;
    next_ = std::exchange(at_end.all, this);
    room_ = kMost;
    give(block);
  }

  inline static thread_local constinit bool over_ = false;
  void* first_ = nullptr;
  int room_ = 0;
  bool known_ = false;  // to the end of the thread
  Blocks* next_ = nullptr;
};

}  // namespace slipstream
