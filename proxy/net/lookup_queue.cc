// SPDX-License-Identifier: Apache-2.0
#include "net/lookup_queue.h"

#include <cstddef>

namespace levee::net {

void LookupQueue::Add(Member& member) { turns_[member.asker_].waiting.PushBack(member); }

bool LookupQueue::MayRun(const Turn& turn, Asker asker) const {
  if (turn.waiting.empty()) return false;
  return asker == kKnownName || (running_new_ < kMaxOfNewNames && turn.running < kMaxOfOneCaller);
}

LookupQueue::Member* LookupQueue::Next() {
  if (running_ >= kMaxRunning || turns_.empty()) return nullptr;
  const auto known = turns_.find(kKnownName);
  if (known != turns_.end() && MayRun(known->second, kKnownName)) return Start(known->second);
  // Once around, beginning behind the one whose turn it was.
  auto at = turns_.upper_bound(last_);
  for (size_t i = 0; i < turns_.size(); ++i, ++at) {
    if (at == turns_.end()) at = turns_.begin();
    if (!MayRun(at->second, at->first)) continue;
    last_ = at->first;
    return Start(at->second);
  }
  return nullptr;
}

LookupQueue::Member* LookupQueue::Start(Turn& turn) {
  Member* member = turn.waiting.PopFront();
  member->running_ = true;
  ++turn.running;
  ++running_;
  if (member->asker_ != kKnownName) ++running_new_;
  return member;
}

void LookupQueue::End(Member& member) {
  const auto turn = turns_.find(member.asker_);
  if (turn == turns_.end()) return;
  member.Unlink();
  if (member.running_) {
    member.running_ = false;
    --turn->second.running;
    --running_;
    if (member.asker_ != kKnownName) --running_new_;
  }
  if (turn->second.running == 0 && turn->second.waiting.empty()) turns_.erase(turn);
}

}  // namespace levee::net
