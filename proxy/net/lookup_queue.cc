// SPDX-License-Identifier: Apache-2.0
#include "net/lookup_queue.h"

#include <cstddef>
#include <utility>

namespace levee::net {

void LookupQueue::Add(Member& member) { turns_[member.asker_].waiting.PushBack(member); }

void LookupQueue::SetWanted(Member& member, bool wanted) {
  if (member.asker_ == kKnownName || std::exchange(member.wanted_, wanted) == wanted) return;
  if (member.running_) running_unwanted_ += wanted ? -1 : 1;
  if (member.running_ || !member.linked()) return;
  member.Unlink();
  if (wanted) {
    Add(member);
  } else {
    EraseUnused(turns_.find(member.asker_));
    unwanted_.PushBack(member);
  }
}

bool LookupQueue::MayRun(const Turn& turn, Asker asker) const {
  if (turn.waiting.empty()) return false;
  return asker == kKnownName || (MayRunNew() && turn.running < kMaxOfOneCaller);
}

LookupQueue::Member* LookupQueue::Next() {
  if (running_ >= kMaxRunning) return nullptr;
  const auto known = turns_.find(kKnownName);
  if (known != turns_.end() && MayRun(known->second, kKnownName)) {
    return Start(known->second.waiting.Front());
  }
  // Once around, beginning behind the one whose turn it was.
  auto at = turns_.upper_bound(last_);
  for (size_t i = 0; i < turns_.size(); ++i, ++at) {
    if (at == turns_.end()) at = turns_.begin();
    if (!MayRun(at->second, at->first)) continue;
    last_ = at->first;
    return Start(at->second.waiting.Front());
  }
  const bool one_more = MayRunNew() && running_unwanted_ < kMaxUnwanted;
  return one_more && !unwanted_.empty() ? Start(unwanted_.Front()) : nullptr;
}

LookupQueue::Member* LookupQueue::Start(Member& member) {
  member.Unlink();
  member.running_ = true;
  ++turns_[member.asker_].running;
  ++running_;
  if (member.asker_ != kKnownName) ++running_new_;
  if (!member.wanted_) ++running_unwanted_;
  return &member;
}

void LookupQueue::End(Member& member) {
  member.Unlink();
  const auto turn = turns_.find(member.asker_);
  if (turn == turns_.end()) return;
  if (std::exchange(member.running_, false)) {
    --turn->second.running;
    --running_;
    if (member.asker_ != kKnownName) --running_new_;
    if (!member.wanted_) --running_unwanted_;
  }
  EraseUnused(turn);
}

void LookupQueue::EraseUnused(Turns::iterator turn) {
  if (turn->second.running == 0 && turn->second.waiting.empty()) turns_.erase(turn);
}

}  // namespace levee::net
