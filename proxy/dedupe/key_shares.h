// SPDX-License-Identifier: Apache-2.0
// Who takes how much of a table of keys, who may hold more, and who gives way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/block_cache.h"
#include "base/intrusive_list.h"

namespace levee {

struct DedupeEntry;

// To whom a key belongs: hashes of who has sent the call, and of the values by which this sender
// tells its own callers apart. Equal ones share.
struct KeyOwner {
  uint64_t sender = 0;
  uint64_t scope = 0;
};

struct KeySender;

// It holds what one owner has of the table.
struct KeyShare : InBlocks {
  uint64_t number = 0;
  bool rest = false;  // of all that have no share of their own
  KeySender* sender = nullptr;
  size_t bytes = 0;
  size_t held = 0;                  // of these, what does not give way
  IntrusiveList<DedupeEntry> idle;  // what does, longest not asked for first
};

// It says what one entry has of its owner's share.
struct KeyStake {
  KeyShare* share = nullptr;
  size_t bytes = 0;
  bool held = false;
};

// The room of a table is shared first among senders, and what a sender has among its scopes, so
// that none gets more by what it claims to be. At most kOwn senders, and kOwn scopes of each, have
// a share of their own; all others share one. Shares are there while they have something. The
// memory of a share itself counts as held. Not thread-safe.
class KeyShares {
 public:
  static constexpr size_t kOwn = 64;

  KeyShares();
  ~KeyShares();

  // Returns the share of an owner, which goes when the last stake in it is given up. So the caller
  // stakes at once.
  KeyShare& Get(const KeyOwner& owner);

  // An entry takes so much from now on. `stake.share` is set; with 0 bytes the stake is given up.
  void Set(KeyStake& stake, size_t bytes, bool held);

  // Whether the stake may be held beside what is held already, in a table of `room` bytes. An owner
  // may hold a quarter of the room, and less if its sender holds more for other scopes; all
  // together half of it. The other half is kept so that each sender can hold its part of that,
  // whatever others hold.
  bool MayHold(const KeyStake& stake, size_t room) const;

  // Returns whose oldest idle entry gives way in a table of `room` bytes, which is too small for
  // what is there: the largest share of the largest sender that have any. It is never one within
  // its fair share, which is the room divided by the senders, and by the scopes of its sender.
  // nullptr: none gives way.
  KeyShare* GivesWay(size_t room) const;

  size_t bytes() const { return bytes_; }

 private:
  void Change(KeySender& sender, size_t bytes, size_t held);
  void Change(KeyShare& share, size_t bytes, size_t held);

  std::vector<std::unique_ptr<KeySender>> senders_;
  size_t bytes_ = 0;
  size_t held_ = 0;
};

}  // namespace levee
