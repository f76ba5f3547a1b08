// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_set.h"

#include <algorithm>
#include <utility>

namespace levee {
namespace {

// An id is the member's place, in the low bits, and the number of earlier uses of that place.
constexpr int kPlaceBits = 32;

// The pauses between looks at an endpoint that fails at once.
constexpr absl::Duration kLeastPause = absl::Seconds(1);
constexpr absl::Duration kMostPause = absl::Seconds(4);
// At most one call in twenty is a look that fails.
constexpr double kLooksPerCall = 0.05;

// So many are asked whether they are idle.
constexpr size_t kMostSought = 64;

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

int64_t EndpointSet::Add() {
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
  // The first endpoints share the calls at once: there is no other endpoint that could spare them.
  member.restarts = AnyOpen();
  ++size_;
  return id;
}

void EndpointSet::Remove(int64_t id, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return;
  Update(id, EndpointCondition(), now);
  member->present = false;
  free_.push_back(PlaceOf(id));
  --size_;
}

bool EndpointSet::Update(int64_t id, const EndpointCondition& condition, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return false;
  const EndpointCondition before = std::exchange(member->condition, condition);
  if (condition.active == 0 && before.active > 0) member->load.RecordIdle(now);
  if (size_ > 1) Above(*member, now);  // The floor learns of it.
  // Mostly a call has begun or ended, and nothing else has changed.
  const bool same = condition.usable == before.usable && condition.open == before.open &&
                    condition.silent == before.silent;
  return !same && UpdateState(*member, before, now);
}

// As Update, where more may have changed than the number of calls.
bool EndpointSet::UpdateState(Member& member, const EndpointCondition& before, Instant now) {
  const int change = (member.condition.usable ? 1 : 0) - (before.usable ? 1 : 0);
  usable_ += change;
  if (member.ejected) ejected_ += change;
  if (change < 0) member.restarts = true;
  UpdateOpen(member, now);
  if (before.silent && !member.condition.silent) RecordLife(member.id, now);
  if (change < 0) ReturnThoseLikeTheRest(now);
  return change != 0;
}

// Puts the member into the part of open_ where it belongs, or takes it out.
void EndpointSet::UpdateOpen(Member& member, Instant now) {
  const bool open = member.condition.open;
  if (open && std::exchange(member.restarts, false)) member.load.Restart(now);
  if (open && member.place == kNowhere) {
    member.place = open_.size();
    open_.push_back(PlaceOf(member.id));
  }
  if (member.place == kNowhere) return;
  const bool is_good = member.place < good_;
  const bool good = open && !member.ejected;
  if (good && !is_good) Swap(member.place, good_++);
  if (!good && is_good) Swap(member.place, --good_);
  if (!open) {
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

// Moves those endpoints of `ids` that are in open_ within [begin, end) to its end. Returns the end
// of the others.
size_t EndpointSet::SetAside(std::span<const int64_t> ids, size_t begin, size_t end) {
  for (const int64_t id : ids) {
    const Member* member = Find(id);
    if (member != nullptr && member->place >= begin && member->place < end) {
      Swap(member->place, --end);
    }
  }
  return end;
}

std::optional<int64_t> EndpointSet::Choose(std::span<const int64_t> avoid,
                                           std::span<const int64_t> forbidden, NextCall call,
                                           Instant now, Random& random) {
  // One that is alone needs no choice.
  if (open_.size() == 1 && forbidden.empty()) {
    Member& only = members_[open_.front()];
    if (!call.stream) only.load.RecordAttempt(now);
    return only.id;
  }
  Member* chosen = nullptr;
  look_credit_ = std::min(look_credit_ + kLooksPerCall, 1.0);
  if (avoid.empty() && now >= next_look_ && look_credit_ >= 1) {
    chosen = DueLook(forbidden, call.repeatable, now);
  }
  if (chosen != nullptr) {
    look_credit_ -= 1;
    // One that answers nothing has failed the look until it answers.
    if (chosen->silent) {
      chosen->looks.OnFailure(ejection_->base, ejection_->max, now);
    } else {
      chosen->looks.OnLook(now);
    }
  } else {
    chosen = ChooseAmong(/*ejected=*/false, avoid, forbidden, now, random);
    const bool any_ejected = good_ < open_.size();
    if (chosen == nullptr || (any_ejected && Spills(*chosen, now, random))) {
      Member* ejected = ChooseAmong(/*ejected=*/true, avoid, forbidden, now, random);
      // One that owes an answer takes no load off the others, and one at which this call has failed
      // would fail it again.
      const bool relieves = ejected != nullptr && !Overdue(*ejected, now) && !IsIn(avoid, *ejected);
      if (relieves || chosen == nullptr) chosen = ejected;
    }
  }
  if (chosen == nullptr) return std::nullopt;
  if (!call.stream) chosen->load.RecordAttempt(now);
  return chosen->id;
}

// Whether the call goes to an ejected endpoint, of which there are some: it belongs to their even
// share, and those that are not ejected have no room for it.
bool EndpointSet::Spills(Member& chosen, Instant now, Random& random) {
  const size_t ejected = open_.size() - good_;
  return random.Below(open_.size()) >= good_ && Above(chosen, now) > 0 &&
         random.Uniform() >= room_.For(good_, ejected);
}

// Returns an open endpoint of which a look is due, the one that has waited longest.
EndpointSet::Member* EndpointSet::DueLook(std::span<const int64_t> forbidden, bool repeatable,
                                          Instant now) {
  Member* due = nullptr;
  next_look_ = Instant::Infinite();
  for (const size_t place : open_) {
    Member& member = members_[place];
    if (!member.ejected && !member.load.successes().failing()) continue;
    if (member.condition.silent) continue;
    const Instant at = member.looks.At(repeatable);
    const bool earliest = due == nullptr || at < due->looks.At(repeatable);
    if (at <= now && earliest && !IsIn(forbidden, member)) due = &member;
    next_look_ = std::min(next_look_, member.looks.At(/*repeatable=*/true));
  }
  // A failure that was a silence is no quick one, and its looks come much later.
  if (due != nullptr && Overdue(*due, now) && EjectIfSilent(*due, now)) return nullptr;
  return due;
}

bool EndpointSet::IsIn(std::span<const int64_t> ids, const Member& member) const {
  return std::find(ids.begin(), ids.end(), member.id) != ids.end();
}

// Chooses among the ejected endpoints that are open, or among the others. nullptr: there is none.
EndpointSet::Member* EndpointSet::ChooseAmong(bool ejected, std::span<const int64_t> avoid,
                                              std::span<const int64_t> forbidden, Instant now,
                                              Random& random) {
  while (true) {
    const size_t begin = ejected ? good_ : 0;
    const size_t allowed = SetAside(forbidden, begin, ejected ? open_.size() : good_);
    const size_t preferred = SetAside(avoid, begin, allowed);
    const size_t end = preferred > begin ? preferred : allowed;
    if (end == begin) return nullptr;
    const auto [better, other] = DrawTwo(begin, end, now, random);
    const bool silent = (Overdue(better, now) && EjectIfSilent(better, now)) ||
                        (Overdue(other, now) && EjectIfSilent(other, now));
    if (!silent) return &better;
  }
}

inline EndpointSet::Drawn EndpointSet::DrawTwo(size_t begin, size_t end, Instant now,
                                               Random& random) {
  const size_t candidates = end - begin;
  if (candidates == 1) return {members_[open_[begin]], members_[open_[begin]]};
  const size_t first = random.Below(candidates);
  size_t second = random.Below(candidates - 1);
  if (second >= first) ++second;
  Member& a = members_[open_[begin + first]];
  Member& b = members_[open_[begin + second]];
  if (a.load.successes().failing() && b.load.successes().failing()) {
    if (Member* idle = IdleAndGood(begin, end, now, random)) return {*idle, a};
  }
  if (IsBetter(a, b, now, random)) return {a, b};
  return {b, a};
}

// Returns one whose last attempt succeeded and that has nothing to do; nullptr if none is found.
EndpointSet::Member* EndpointSet::IdleAndGood(size_t begin, size_t end, Instant now,
                                              Random& random) {
  const size_t candidates = end - begin;
  const size_t from = random.Below(candidates);
  for (size_t i = 0; i < std::min(candidates, kMostSought); ++i) {
    Member& member = members_[open_[begin + (from + i) % candidates]];
    if (!member.load.successes().failing() && Above(member, now) == 0) return &member;
  }
  return nullptr;
}

inline bool EndpointSet::IsBetter(Member& a, Member& b, Instant now, Random& random) {
  // One whose last attempt failed yields to one that has nothing to do.
  const bool a_failing = a.load.successes().failing();
  if (a_failing != b.load.successes().failing()) {
    if (Above(a_failing ? b : a, now) == 0) return !a_failing;
  }
  // An endpoint in its slow start yields by lot. A higher cost would not do: of two endpoints
  // without calls the dearer one is never taken, however small the difference.
  const bool a_admits = Admits(a, now, random);
  if (a_admits != Admits(b, now, random)) return a_admits;
  return !Cheaper(b, a, now);
}

inline bool EndpointSet::Admits(const Member& member, Instant now, Random& random) const {
  const double share = member.load.Share(now);
  return share >= 1 || random.Uniform() < share;
}

inline bool EndpointSet::Cheaper(Member& a, Member& b, Instant now) {
  const int active_a = Above(a, now);
  const int active_b = Above(b, now);
  // An endpoint whose latency is unknown is taken to be as fast as the other.
  if (!a.load.known() || !b.load.known()) {
    return a.load.CallsCost(active_a, now) < b.load.CallsCost(active_b, now);
  }
  return a.load.Cost(active_a, now) < b.load.Cost(active_b, now);
}

bool EndpointSet::AnyUsable(std::span<const int64_t> forbidden) const {
  return CountUsable(forbidden, /*ejected=*/true) > 0;
}

int EndpointSet::CountUsable(std::span<const int64_t> without, bool ejected) const {
  const auto counts = [&](const Member* member) {
    return member != nullptr && member->condition.usable && (ejected || !member->ejected);
  };
  return (ejected ? usable_ : usable_ - ejected_) -
         static_cast<int>(std::count_if(without.begin(), without.end(),
                                        [&](int64_t id) { return counts(Find(id)); }));
}

bool EndpointSet::HasOther(int64_t id, std::span<const int64_t> forbidden) const {
  // So many that one is left whichever these are.
  if (usable_ - ejected_ > 1 + static_cast<int>(forbidden.size())) return true;
  const Member* member = Find(id);
  const bool counted = member != nullptr && member->condition.usable && !member->ejected &&
                       !IsIn(forbidden, *member);
  return CountUsable(forbidden, /*ejected=*/false) > (counted ? 1 : 0);
}

void EndpointSet::RecordLatency(int64_t id, absl::Duration latency, Instant now) {
  if (Member* member = Find(id)) RecordLatency(*member, latency, now);
}

void EndpointSet::RecordLatency(Member& member, absl::Duration latency, Instant now) {
  member.load.RecordLatency(latency, now);
  if (!member.ejected && usable_ > 1) room_.Record(latency, ejected_ > 0, usable_, now);
}

void EndpointSet::RecordGivenUp(int64_t id, absl::Duration waited, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return;
  member->load.RecordGivenUp(waited, now);
  if (!member->ejected && ejected_ > 0) room_.Record(waited, true, usable_, now);
}

void EndpointSet::Yield(int64_t id, absl::Duration wait, Instant now) {
  if (Member* member = Find(id)) member->load.Yield(wait, now);
}

void EndpointSet::RecordLife(int64_t id, Instant now) {
  Member* member = Find(id);
  if (member == nullptr) return;
  member->load.RecordLife(now);
  if (member->silent) Return(*member, /*slowly=*/false, now);
}

void EndpointSet::RecordEnd(int64_t id, bool success, Instant now,
                            std::optional<absl::Duration> latency) {
  Member* member = Find(id);
  if (member == nullptr) return;
  if (latency.has_value()) RecordLatency(*member, *latency, now);
  const bool special = member->ejected || member->load.successes().failing();
  member->load.RecordEnd(success, now);
  if (!ejection_) return;
  if (!success) {
    OnFailure(*member, now);
  } else if (special) {
    OnLookSucceeded(*member, now);
  }
}

void EndpointSet::OnFailure(Member& member, Instant now) {
  if (!member.silent) {
    member.looks.OnFailure(kLeastPause, kMostPause, now);
    next_look_ = std::min(next_look_, member.looks.At(/*repeatable=*/true));
  }
  const SuccessShare& share = member.load.successes();
  const bool enough =
      ejection_->success > 0 && share.attempts() >= static_cast<double>(ejection_->attempts);
  const bool known = enough || share.failures() >= ejection_->failures;
  if (known && !member.ejected && IsFarBelow(member, BestShare(member))) {
    Eject(member, /*silent=*/false, now);
  }
  ReturnThoseLikeTheRest(now);
}

void EndpointSet::OnLookSucceeded(Member& member, Instant now) {
  look_credit_ = 1;
  const bool enough = member.looks.OnSuccess(now);
  next_look_ = now;
  if (!member.ejected) {
    member.looks = LookTimes();
  } else if (enough) {
    Return(member, /*slowly=*/true, now);
  }
}

bool EndpointSet::IsFarBelow(const Member& member, double best) const {
  const double part = ejection_->success > 0 ? ejection_->success : EjectionPolicy().success;
  return member.load.successes().AtBest() < part * best;
}

// Returns the best share of the others that are not ejected.
double EndpointSet::BestShare(const Member& but) const {
  double best = 0;
  for (const size_t place : open_) {
    const Member& member = members_[place];
    if (member.ejected || &member == &but) continue;
    best = std::max(best, member.load.successes().AtLeast());
  }
  return best;
}

// Ejects the endpoint, which is overdue, if others live.
bool EndpointSet::EjectIfSilent(Member& member, Instant now) {
  if (!ejection_ || member.ejected) return false;
  const Instant began = member.load.silence().began();
  const bool others_live =
      std::any_of(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(good_), [&](size_t place) {
        const Member& other = members_[place];
        return other.load.silence().last_life() > began && !Overdue(other, now);
      });
  if (!others_live) return false;
  Eject(member, /*silent=*/true, now);
  member.looks.OnFailure(ejection_->base, ejection_->max, now);
  next_look_ = std::min(next_look_, member.looks.At(/*repeatable=*/true));
  return true;
}

void EndpointSet::Eject(Member& member, bool silent, Instant now) {
  member.ejected = true;
  member.silent = silent;
  changes_.push_back({member.id, true});
  if (member.condition.usable) ++ejected_;
  UpdateOpen(member, now);
}

void EndpointSet::Return(Member& member, bool slowly, Instant now) {
  member.ejected = member.silent = false;
  member.looks = LookTimes();
  changes_.push_back({member.id, false});
  if (member.condition.usable) --ejected_;
  if (slowly) member.restarts = true;
  UpdateOpen(member, now);
}

// When those that are not ejected are no better than the ejected ones, or are gone, these return.
void EndpointSet::ReturnThoseLikeTheRest(Instant now) {
  if (ejected_ == 0) return;
  const double best = BestShare(Member());
  for (Member& member : members_) {
    if (!member.present || !member.ejected || !member.condition.usable) continue;
    if (!IsFarBelow(member, best) && !Overdue(member, now)) Return(member, /*slowly=*/false, now);
  }
}

}  // namespace levee
