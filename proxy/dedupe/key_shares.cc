// SPDX-License-Identifier: Apache-2.0
#include "dedupe/key_shares.h"

#include <algorithm>

#include "dedupe/dedupe_entry.h"

namespace levee {

struct KeySender : InBlocks {
  uint64_t number = 0;
  bool rest = false;
  size_t bytes = 0;
  size_t held = 0;
  std::vector<std::unique_ptr<KeyShare>> shares;
};

namespace {

// These return what they take themselves, with their pointers in a vector that may be half empty.
size_t OwnBytes(const KeyShare& share) { return BlockBytes(sizeof share) + 2 * sizeof(void*); }
size_t OwnBytes(const KeySender& sender) { return BlockBytes(sizeof sender) + 2 * sizeof(void*); }

// Returns the member with this number, or the one of the rest; a new one has no sender yet.
template <typename T>
T& FindOrAdd(std::vector<std::unique_ptr<T>>& all, uint64_t number) {
  T* rest = nullptr;
  for (const auto& one : all) {
    if (one->rest) {
      rest = one.get();
    } else if (one->number == number) {
      return *one;
    }
  }
  const bool full = all.size() - (rest == nullptr ? 0 : 1) >= KeyShares::kOwn;
  if (full && rest != nullptr) return *rest;
  T& added = *all.emplace_back(std::make_unique<T>());
  added.number = number;
  added.rest = full;
  return added;
}

template <typename T>
void RemoveFrom(std::vector<std::unique_ptr<T>>& all, const T& one) {
  std::erase_if(all, [&](const std::unique_ptr<T>& other) { return other.get() == &one; });
}

// The largest share of a sender that can give way; nullptr if there is none. `fair`: the sender's.
KeyShare* LargestOf(const KeySender& sender, size_t fair) {
  fair -= std::min(OwnBytes(sender), fair);
  KeyShare* largest = nullptr;
  for (const auto& share : sender.shares) {
    if (share->idle.empty() || share->bytes * sender.shares.size() <= fair) continue;
    if (largest == nullptr || share->bytes > largest->bytes) largest = share.get();
  }
  return largest;
}

}  // namespace

KeyShares::KeyShares() = default;
KeyShares::~KeyShares() = default;

KeyShare& KeyShares::Get(const KeyOwner& owner) {
  KeySender& sender = FindOrAdd(senders_, owner.sender);
  if (sender.shares.empty()) Change(sender, OwnBytes(sender), OwnBytes(sender));
  // Owners that share one sender's room are still told apart.
  KeyShare& share =
      FindOrAdd(sender.shares, sender.rest ? owner.scope ^ owner.sender : owner.scope);
  if (share.sender == nullptr) {
    share.sender = &sender;
    Change(share, OwnBytes(share), OwnBytes(share));
  }
  return share;
}

void KeyShares::Change(KeySender& sender, size_t bytes, size_t held) {
  sender.bytes += bytes;
  sender.held += held;
  bytes_ += bytes;
  held_ += held;
}

// Numbers that are less than zero wrap, and come out right.
void KeyShares::Change(KeyShare& share, size_t bytes, size_t held) {
  share.bytes += bytes;
  share.held += held;
  Change(*share.sender, bytes, held);
}

void KeyShares::Set(KeyStake& stake, size_t bytes, bool held) {
  KeyShare& share = *stake.share;
  Change(share, bytes - stake.bytes, (held ? bytes : 0) - (stake.held ? stake.bytes : 0));
  stake.bytes = bytes;
  stake.held = held;
  if (bytes > 0) return;
  stake.share = nullptr;
  if (share.bytes > OwnBytes(share)) return;
  KeySender& sender = *share.sender;
  Change(share, -OwnBytes(share), -OwnBytes(share));
  RemoveFrom(sender.shares, share);
  if (!sender.shares.empty()) return;
  Change(sender, -OwnBytes(sender), -OwnBytes(sender));
  RemoveFrom(senders_, sender);
}

bool KeyShares::MayHold(const KeyStake& stake, size_t room) const {
  if (stake.held) return true;
  const size_t of_share = stake.share->held + stake.bytes;
  const size_t of_sender = stake.share->sender->held + stake.bytes;
  const size_t half = room / 2;
  if (of_sender <= half / (kOwn + 1)) return true;
  return of_share + of_sender <= half && held_ + stake.bytes <= half;
}

KeyShare* KeyShares::GivesWay(size_t room) const {
  KeyShare* gives = nullptr;
  for (const auto& sender : senders_) {
    if (sender->bytes == sender->held || sender->bytes * senders_.size() <= room) continue;
    if (gives != nullptr && sender->bytes <= gives->sender->bytes) continue;
    KeyShare* const largest = LargestOf(*sender, room / senders_.size());
    if (largest != nullptr) gives = largest;
  }
  return gives;
}

}  // namespace levee
