// SPDX-License-Identifier: Apache-2.0
#include "base/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace levee {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif

// Sizes are multiples of a small step up to 4 KiB, and of a large one up to 64 KiB.
constexpr size_t kStep = 64;
constexpr size_t kMostSmall = 4 << 10;
constexpr size_t kSmallClasses = kMostSmall / kStep;
constexpr size_t kLargeStep = 2 << 10;
constexpr size_t kMostLarge = 64 << 10;
constexpr size_t kClasses = kSmallClasses + (kMostLarge - kMostSmall) / kLargeStep;
constexpr size_t kKeptBytes = 512 << 10;  // per size and thread

// Precedes every block, and keeps the block aligned.
struct alignas(16) Header {
  size_t bytes;
};

struct FreeBlockLink {
  FreeBlockLink* next;
};

// Both only grow, where malloc and free are called, which is seldom.
std::atomic<int64_t> obtained_bytes = 0;
std::atomic<int64_t> freed_bytes = 0;

void* Obtain(size_t bytes) {
  auto* header = static_cast<Header*>(std::malloc(sizeof(Header) + bytes));
  LEVEE_CHECK(header != nullptr);  // as with operator new, whose exception nobody catches
  header->bytes = bytes;
  internal::blocks_allowed -= static_cast<int64_t>(sizeof(Header) + bytes);
  obtained_bytes.fetch_add(static_cast<int64_t>(sizeof(Header) + bytes), std::memory_order_relaxed);
  return header + 1;
}

void Release(Header* header) {
  freed_bytes.fetch_add(static_cast<int64_t>(sizeof(Header) + header->bytes),
                        std::memory_order_relaxed);
  std::free(header);
}

// The lists of one thread. Their blocks go back to malloc when the thread ends.
struct Lists {
  struct List {
    FreeBlockLink* first = nullptr;
    size_t count = 0;
  };
  std::array<List, kClasses> lists;

  ~Lists() { Empty(); }

  void Empty() {
    for (List& list : lists) {
      while (list.first != nullptr) {
        FreeBlockLink* block = list.first;
        list.first = block->next;
        Release(reinterpret_cast<Header*>(block) - 1);
      }
      list.count = 0;
    }
  }
};

thread_local Lists thread_lists;

constexpr size_t RoundUp(size_t bytes) {
  const size_t step = bytes <= kMostSmall ? kStep : kLargeStep;
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

Lists::List* ListOf(size_t rounded) {
  if (!kCaching || rounded > kMostLarge) return nullptr;
  const size_t at = rounded <= kMostSmall ? rounded / kStep - 1
                                          : kSmallClasses + (rounded - kMostSmall) / kLargeStep - 1;
  return &thread_lists.lists[at];
}

}  // namespace

constinit thread_local int64_t internal::blocks_allowed = INT64_MAX;

void* AllocateBlock(size_t bytes) {
  // Under the sanitizer the size stays exact, so that it sees an access one byte too far.
  const size_t rounded = kCaching ? RoundUp(bytes) : bytes;
  Lists::List* list = ListOf(rounded);
  if (list != nullptr && list->first != nullptr) {
    FreeBlockLink* block = list->first;
    list->first = block->next;
    --list->count;
    return block;
  }
  return Obtain(rounded);
}

void FreeBlock(void* block) {
  if (block == nullptr) return;
  Header* header = static_cast<Header*>(block) - 1;
  Lists::List* list = ListOf(header->bytes);
  if (list == nullptr || list->count * header->bytes >= kKeptBytes) {
    Release(header);
    return;
  }
  auto* link = static_cast<FreeBlockLink*>(block);
  link->next = list->first;
  list->first = link;
  ++list->count;
}

void* ResizeBlock(void* block, size_t bytes) {
  if (block == nullptr) return AllocateBlock(bytes);
  const size_t old = (static_cast<Header*>(block) - 1)->bytes;
  if (kCaching && bytes <= old) return block;
  void* larger = AllocateBlock(bytes);
  std::memcpy(larger, block, std::min(old, bytes));
  FreeBlock(block);
  return larger;
}

size_t BlockBytes(size_t bytes) {
  return MallocBytes(sizeof(Header) + (kCaching ? RoundUp(bytes) : bytes));
}

// A block that is obtained and freed between the two readings makes it less for a moment.
int64_t AllocatedBlockBytes() {
  return obtained_bytes.load(std::memory_order_relaxed) - FreedBlockBytes();
}

int64_t FreedBlockBytes() { return freed_bytes.load(std::memory_order_relaxed); }

void ReleaseFreeBlocks() { thread_lists.Empty(); }

}  // namespace levee
