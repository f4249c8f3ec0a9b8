// Mappings of the system, cut to begin where a huge page does.
#include "pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace slipstream::engine {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

void* map(size_t nbytes) { return mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

}  // namespace

void* map_small_pages(size_t nbytes) {
  void* got = map(nbytes);
  if (got == MAP_FAILED) throw std::bad_alloc();
  return got;
}

void* map_pages(size_t nbytes) {
  size_t room = nbytes + kHugePage;
  void* got = map(room);
  if (got == MAP_FAILED) return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(got), page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t start = (begin + kHugePage - 1) / kHugePage * kHugePage;
  uintptr_t end = (start + nbytes + page - 1) / page * page;
  if (start > begin) munmap(got, start - begin);
  if (begin + room > end) munmap(reinterpret_cast<void*>(end), begin + room - end);
  madvise(reinterpret_cast<void*>(start), nbytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(start);
}

void unmap_pages(void* memory, size_t nbytes) { munmap(memory, nbytes); }

}  // namespace slipstream::engine
