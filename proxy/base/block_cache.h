// SPDX-License-Identifier: Apache-2.0
// Small memory blocks for the call path, from free lists of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace levee {

// Returns a block of at least `bytes` bytes, aligned to 16 bytes. Calls, their header blocks and
// body pieces, and HTTP/2's own bookkeeping come and go in bursts of a few sizes, and malloc's
// per-thread cache keeps fewer blocks than that. So blocks up to 64 KiB come from free lists of the
// calling thread, which are bounded in bytes per size; larger ones come from malloc. Any thread may
// free a block. Under AddressSanitizer every block comes from malloc, so that the sanitizer sees
// all uses.
void* AllocateBlock(size_t bytes);

// Frees `block`, which is from AllocateBlock or ResizeBlock, or nullptr.
void FreeBlock(void* block);

// Resizes a block as realloc does.
void* ResizeBlock(void* block, size_t bytes);

// Returns what such a block takes of the process's memory, malloc's own part included.
size_t BlockBytes(size_t bytes);

// The same of bytes that are from malloc, or from new.
constexpr size_t MallocBytes(size_t bytes) {
  constexpr size_t kOwn = sizeof(size_t), kStep = 16, kLeast = 32;
  const size_t taken = (bytes + kOwn + kStep - 1) / kStep * kStep;
  return taken < kLeast ? kLeast : taken;
}

// Returns how many bytes all threads have from malloc for blocks, those in free lists included. Any
// thread.
int64_t AllocatedBlockBytes();

// Returns how many bytes of blocks all threads have given back to malloc so far. It grows with each
// block, also with one whose memory is used again. Any thread.
int64_t FreedBlockBytes();

// Gives the free blocks of the calling thread back to malloc.
void ReleaseFreeBlocks();

namespace internal {
extern constinit thread_local int64_t blocks_allowed;
}

// Bounds what the calling thread has from malloc for blocks until this is called again, which is
// unbounded at first. Nothing is refused beyond it: whoever makes much of few bytes asks
// BlocksUsedUp, and goes on later. Blocks from free lists are had already.
inline void AllowBlocks(int64_t bytes) { internal::blocks_allowed = bytes; }

// Whether the calling thread has had as much as it was allowed.
inline bool BlocksUsedUp() { return internal::blocks_allowed <= 0; }

// The functions above as an allocator for containers.
template <typename T>
struct BlockAllocator {
  using value_type = T;

  BlockAllocator() = default;
  template <typename U>
  BlockAllocator(const BlockAllocator<U>&) {}  // NOLINT: containers rebind implicitly.

  T* allocate(size_t n) { return static_cast<T*>(AllocateBlock(n * sizeof(T))); }
  void deallocate(T* block, size_t) { FreeBlock(block); }

  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

// Base of classes whose objects are allocated as blocks.
struct InBlocks {
  static void* operator new(size_t bytes) { return AllocateBlock(bytes); }
  static void operator delete(void* block) { FreeBlock(block); }
};

}  // namespace levee
