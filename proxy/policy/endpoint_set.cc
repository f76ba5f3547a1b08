// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_set.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace levee {
namespace {

// An id is the member's place, in the low bits, and the number of earlier uses of that place.
constexpr int kPlaceBits = 32;

size_t PlaceOf(int64_t id) { return static_cast<size_t>(id & ((int64_t{1} << kPlaceBits) - 1)); }

}  // namespace

EndpointSet::Member* EndpointSet::Find(int64_t id) {
  if (id < 0 || PlaceOf(id) >= members_.size()) return nullptr;
  Member& member = members_[PlaceOf(id)];
  return member.present && member.id == id ? &member : nullptr;
}

const EndpointSet::Member* EndpointSet::Find(int64_t id) const {
  return const_cast<EndpointSet*>(this)->Find(id);
}

absl::Duration EndpointSet::Latency(int64_t id, Instant now) const {
  const Member* member = Find(id);
  return member == nullptr ? absl::ZeroDuration()
                           : absl::Nanoseconds(member->load.Cost(/*active=*/0, now));
}

int64_t EndpointSet::Add(Instant now) {
  int64_t id;
  if (free_.empty()) {
    id = static_cast<int64_t>(members_.size());
    members_.emplace_back();
  } else {
    id = members_[free_.back()].id + (int64_t{1} << kPlaceBits);
    free_.pop_back();
  }
  Member& member = members_[PlaceOf(id)];
  member = Member();
  member.id = id;
  member.present = true;
  member.outlier.Return(now);
  // The first endpoints share the calls at once: there is no other endpoint that could spare them.
  member.restarts = AnyOpen();
  ++size_;
  return id;
}

void EndpointSet::Remove(int64_t id) {
  Member* member = Find(id);
  if (member == nullptr) return;
  Update(id, EndpointCondition(), Instant());
  if (member->outlier.ejected()) --ejections_;
  member->present = false;
  free_.push_back(PlaceOf(id));
  --size_;
}

bool EndpointSet::Update(int64_t id, const EndpointCondition& condition, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return false;
  const int change = (condition.usable ? 1 : 0) - (member->condition.usable ? 1 : 0);
  usable_ += change;
  if (member->outlier.ejected()) ejected_ += change;
  if (change < 0) member->restarts = true;
  member->condition = condition;
  UpdateOpen(*member, now);
  return change != 0;
}

// Puts the member into open_ or takes it out, as its condition says.
void EndpointSet::UpdateOpen(Member& member, Instant now) {
  const bool open = member.condition.open && !member.outlier.ejected();
  if (open && std::exchange(member.restarts, false)) member.load.Restart(now);
  if (open == (member.place != kNowhere)) return;
  if (open) {
    member.place = open_.size();
    open_.push_back(PlaceOf(member.id));
  } else {
    Swap(member.place, open_.size() - 1);
    open_.pop_back();
    member.place = kNowhere;
  }
}

void EndpointSet::Swap(size_t a, size_t b) {
  std::swap(open_[a], open_[b]);
  members_[open_[a]].place = a;
  members_[open_[b]].place = b;
}

// Moves those endpoints of `ids` that are among the first `candidates` of open_ behind them.
// Returns how many candidates are left.
size_t EndpointSet::SetAside(std::span<const int64_t> ids, size_t candidates) {
  for (const int64_t id : ids) {
    const Member* member = Find(id);
    if (member != nullptr && member->place < candidates) Swap(member->place, --candidates);
  }
  return candidates;
}

std::optional<int64_t> EndpointSet::Choose(std::span<const int64_t> avoid,
                                           std::span<const int64_t> forbidden, Instant now,
                                           Random& random) {
  const size_t allowed = SetAside(forbidden, open_.size());
  const size_t preferred = SetAside(avoid, allowed);
  const size_t candidates = preferred > 0 ? preferred : allowed;
  if (candidates == 0) return std::nullopt;
  return members_[open_[PickOfTwo(candidates, now, random)]].id;
}

size_t EndpointSet::PickOfTwo(size_t candidates, Instant now, Random& random) const {
  if (candidates == 1) return 0;
  const size_t first = random.Below(candidates);
  size_t second = random.Below(candidates - 1);
  if (second >= first) ++second;
  const Member& a = members_[open_[first]];
  const Member& b = members_[open_[second]];
  // An endpoint in its slow start yields by lot. A higher cost would not do: of two endpoints
  // without calls the dearer one is never taken, however small the difference.
  const auto admitted = [&](const Member& member) {
    const double share = member.load.Share(now);
    return share >= 1 || random.Uniform() < share;
  };
  const bool a_admitted = admitted(a);
  const bool b_admitted = admitted(b);
  if (a_admitted != b_admitted) return a_admitted ? first : second;
  return Cheaper(b, a, now) ? second : first;
}

bool EndpointSet::Cheaper(const Member& a, const Member& b, Instant now) const {
  // An endpoint whose latency is unknown is taken to be as fast as the other.
  if (!a.load.known() || !b.load.known()) return a.condition.active < b.condition.active;
  return a.load.Cost(a.condition.active, now) < b.load.Cost(b.condition.active, now);
}

bool EndpointSet::Counts(const Member& member) const {
  return member.condition.usable && !member.outlier.ejected();
}

int EndpointSet::CountUsable(std::span<const int64_t> without) const {
  int count = usable_ - ejected_;
  for (const int64_t id : without) {
    const Member* member = Find(id);
    if (member != nullptr && Counts(*member)) --count;
  }
  return count;
}

bool EndpointSet::AnyUsable(std::span<const int64_t> forbidden) const {
  return CountUsable(forbidden) > 0;
}

bool EndpointSet::HasOther(int64_t id, std::span<const int64_t> forbidden) const {
  const Member* member = Find(id);
  const bool counted = member != nullptr && Counts(*member) &&
                       std::find(forbidden.begin(), forbidden.end(), id) == forbidden.end();
  return CountUsable(forbidden) > (counted ? 1 : 0);
}

void EndpointSet::RecordAnswer(int64_t id, absl::Duration latency, Instant now) {
  if (Member* member = Find(id)) member->load.RecordAnswer(latency, now);
}

void EndpointSet::RecordGivenUp(int64_t id, absl::Duration waited, Instant now) {
  if (Member* member = Find(id)) member->load.RecordGivenUp(waited, now);
}

void EndpointSet::Yield(int64_t id, absl::Duration wait, Instant now) {
  if (Member* member = Find(id)) member->load.Yield(wait, now);
}

bool EndpointSet::RecordEnd(int64_t id, bool success, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return false;
  Outlier& outlier = member->outlier;
  if (outlier.Record(success, now)) all_.Record(success, now);
  const bool allowed = ejection_ && member->condition.usable && 2 * (ejected_ + 1) <= usable_;
  if (success || outlier.ejected() || !allowed) return false;
  if (!outlier.ShouldEject(*ejection_, all_, now)) return false;
  outlier.Eject(*ejection_, now);
  member->ejected_at = now;
  ++ejected_;
  ++ejections_;
  UpdateOpen(*member, now);
  return true;
}

EndpointSet::Member* EndpointSet::OldestEjected() {
  Member* oldest = nullptr;
  for (Member& member : members_) {
    if (!member.present || !member.outlier.ejected() || !member.condition.usable) continue;
    if (oldest == nullptr || member.ejected_at < oldest->ejected_at) oldest = &member;
  }
  return oldest;
}

absl::InlinedVector<int64_t, 2> EndpointSet::EndEjections(Instant now) {
  absl::InlinedVector<int64_t, 2> ended;
  if (ejections_ == 0) return ended;
  const auto end = [&](Member& member) {
    if (member.condition.usable) --ejected_;
    --ejections_;
    member.outlier.Return(now);
    member.restarts = true;
    UpdateOpen(member, now);
    ended.push_back(member.id);
  };
  for (Member& member : members_) {
    const bool over = member.present && member.outlier.ejected() && now >= member.outlier.until();
    if (over) end(member);
  }
  while (2 * ejected_ > usable_) {
    Member* const oldest = OldestEjected();
    LEVEE_CHECK(oldest != nullptr);  // One of ejected_.
    end(*oldest);
  }
  return ended;
}

Instant EndpointSet::NextReturn() const {
  Instant next = Instant::Infinite();
  if (ejections_ == 0) return next;
  for (const Member& member : members_) {
    if (member.present && member.outlier.ejected()) next = std::min(next, member.outlier.until());
  }
  return next;
}

}  // namespace levee
