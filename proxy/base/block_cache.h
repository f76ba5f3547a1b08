// Small memory blocks for the call path: free lists of the calling thread.
#pragma once

#include <cstddef>

namespace levee {

// Calls, their header blocks and body pieces, and HTTP/2's own bookkeeping come and go in bursts of
// a few sizes, more of them at once than malloc's per-thread cache keeps. These functions serve
// such blocks from free lists of the calling thread, bounded in bytes per size, and everything else
// from malloc. A block may be freed by another thread than the one that allocated it. Blocks are
// aligned to 16 bytes. Under AddressSanitizer every block goes to malloc, so that it sees all uses.
void* AllocateBlock(size_t bytes);

// `block` from AllocateBlock or ResizeBlock, or nullptr.
void FreeBlock(void* block);

// Like realloc.
void* ResizeBlock(void* block, size_t bytes);

// The same as an allocator for containers.
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
