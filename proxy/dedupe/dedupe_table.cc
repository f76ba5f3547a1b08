// SPDX-License-Identifier: Apache-2.0
#include "dedupe/dedupe_table.h"

#include <algorithm>
#include <utility>

#include "base/block_cache.h"
#include "base/check.h"
#include "dedupe/dedupe_entry.h"

namespace levee {
namespace {

// So much is forgotten beyond what comes, at most, while the table is larger than it may be.
constexpr size_t kMoreThanAdded = 64 << 10;

// So many entries that are over are forgotten with each call. More than one comes and goes with a
// call, so that they cannot pile up.
constexpr int kOldWithACall = 16;

// And so many where calls do not do it.
constexpr int kOldAtATime = 1000;

// A table of keys with no more places is not made smaller.
constexpr size_t kFewSlots = 64;

}  // namespace

DedupeTable::DedupeTable(const DedupePolicy& policy, int workers, std::function<void(int)> wake,
                         Shared shared, std::shared_ptr<KeyLosses> losses)
    : wake_(std::move(wake)),
      shared_(std::move(shared)),
      losses_(losses != nullptr ? std::move(losses) : std::make_shared<KeyLosses>()),
      policy_(policy),
      random_(shared_.seed),
      answers_(static_cast<size_t>(workers)) {}

DedupeTable::~DedupeTable() = default;

Sha256 DedupeTable::KeyOf(std::string_view text) const {
  Sha256Sum sum;
  sum.Add(shared_.name);
  sum.Add(text);
  return sum.End();
}

// Returns what the table of keys takes, empty places included.
size_t DedupeTable::SlotBytes() const {
  if (entries_.capacity() <= 1) return 0;  // One place is in the table itself.
  return MallocBytes(entries_.capacity() * (sizeof(std::unique_ptr<Entry>) + 1));
}

size_t DedupeTable::Room() const {
  const auto all = static_cast<size_t>(policy_.max_bytes);
  return all - std::min(SlotBytes(), all);
}

size_t DedupeTable::BytesOf(const Entry& entry) const {
  const size_t token = shared_.store == nullptr ? 0 : MallocBytes(KeyCommand::kTokenSize + 1);
  const size_t answer = entry.claim.answer == nullptr ? 0 : entry.claim.answer->bytes();
  return BlockBytes(sizeof entry) + token + answer;
}

DedupeTable::Entry* DedupeTable::Find(const Sha256& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->get();
}

DedupeTable::Step DedupeTable::Full() {
  losses_->refused.fetch_add(1, std::memory_order_relaxed);
  return {.kind = Step::Kind::kFull,
          .runs_without_key = policy_.on_store_failure == DedupePolicy::StoreFailure::kRun};
}

DedupeTable::Step DedupeTable::Ask(DedupePlace& place, const std::optional<Sha256>& digest,
                                   Instant now) {
  const std::lock_guard lock(mutex_);
  LEVEE_CHECK(place.state_ != DedupePlace::State::kHasKey);
  static_cast<ListLink<DedupePlace>&>(place).Unlink();
  // The answer may still be on its way.
  switch (std::exchange(place.state_, DedupePlace::State::kIdle)) {
    case DedupePlace::State::kGiven:
      place.state_ = DedupePlace::State::kHasKey;
      return {.kind = Step::Kind::kFirst};
    case DedupePlace::State::kAnswered:
      return {.kind = Step::Kind::kAnswered, .answer = std::move(place.answer_)};
    default:
      break;
  }
  LookAtOldest(kOldWithACall, now);
  Entry* entry = Find(place.key_);
  if (entry != nullptr && Expired(*entry, now)) {
    Erase(*entry);
    entry = nullptr;
  }
  if (entry != nullptr) {
    Step step = AskEntry(*entry, place, digest, now);
    if (entry->here == Entry::Here::kNone) Rest(*entry);
    return step;
  }
  entry = AddEntry(place, now);
  if (entry == nullptr) return Full();
  place.digest_ = digest;
  if (shared_.store == nullptr) {
    Take(*entry, place, now);
    return {.kind = Step::Kind::kFirst};
  }
  place.state_ = DedupePlace::State::kWaits;
  entry->waiting.PushBack(place);
  AskStore(*entry);
  return {.kind = Step::Kind::kWaits, .asks_store = true};
}

// Returns nullptr if there is no room.
DedupeTable::Entry* DedupeTable::AddEntry(const DedupePlace& place, Instant now) {
  auto added = std::make_unique<Entry>(place.key_);
  Entry& entry = *added;
  entry.stake.share = &shares_.Get(place.owner_);
  shares_.Set(entry.stake, BytesOf(entry), /*held=*/false);
  if (!MayHold(entry)) {
    shares_.Set(entry.stake, 0, /*held=*/false);
    return nullptr;
  }
  Hold(entry);
  entries_.insert(std::move(added));
  if (MakeRoom(entry.stake.bytes, now)) return &entry;
  Erase(entry);
  return nullptr;
}

bool DedupeTable::MayHold(const Entry& entry) const {
  return shares_.MayHold(entry.stake, static_cast<size_t>(policy_.max_bytes));
}

// A call of this sidecar has the key from now on.
void DedupeTable::Take(Entry& entry, DedupePlace& place, Instant now) {
  Age(entry, nullptr);
  entry.here = Entry::Here::kRuns;
  ++in_flight_;
  entry.renewed = now;
  entry.claim = {.token = std::move(entry.claim.token),
                 .digest = place.digest_,
                 .answer = nullptr,
                 .until = Instant::Infinite(),
                 .expires = Instant::Infinite()};
  Hold(entry);
  place.state_ = DedupePlace::State::kHasKey;
  place.entry_ = &entry;
}

DedupeTable::Step DedupeTable::AskEntry(Entry& entry, DedupePlace& place,
                                        const std::optional<Sha256>& digest, Instant now) {
  using Here = Entry::Here;
  place.digest_ = digest;
  const bool elsewhere =
      shared_.store != nullptr && entry.here != Here::kRuns && entry.claim.answer == nullptr;
  if (elsewhere && entry.seen && !digest.has_value()) return {.kind = Step::Kind::kNeedsRequest};
  // A claim of somebody else that was seen may be over.
  const KeyView view = elsewhere ? KeyView::kRuns : LookAtKey(&entry.claim, digest, now);
  switch (view) {
    case KeyView::kNeedsRequest:
      return {.kind = Step::Kind::kNeedsRequest};
    case KeyView::kMismatch:
      return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kMismatch}};
    case KeyView::kEnded:
      return {.kind = Step::Kind::kAnswered, .answer = OutcomeOf(entry)};
    case KeyView::kFree:
    case KeyView::kLost:
      if (!MayTakeKey(view, policy_.on_lost)) {
        return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kLost}};
      }
      if (!MayHold(entry)) return Full();
      Take(entry, place, now);
      return {.kind = Step::Kind::kFirst};
    case KeyView::kRuns:
      break;
  }
  if (!elsewhere && policy_.in_flight == DedupePolicy::InFlight::kRefuse) {
    return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kInFlight}};
  }
  // An entry that is waited for is held, too.
  if (!MayHold(entry)) return Full();
  place.state_ = DedupePlace::State::kWaits;
  const bool alone = entry.waiting.empty();
  entry.waiting.PushBack(place);
  if (!elsewhere) return {.kind = Step::Kind::kWaits, .look_at = entry.claim.until};
  // While others wait, the store is looked at.
  if (alone && entry.here == Here::kNone) {
    entry.look_after = absl::ZeroDuration();
    AskStore(entry);
  }
  return {.kind = Step::Kind::kWaits, .asks_store = !entry.seen};
}

bool DedupeTable::Expired(const Entry& entry, Instant now) const {
  return entry.here == Entry::Here::kNone && entry.waiting.empty() && now >= entry.claim.expires;
}

DedupeAnswer DedupeTable::OutcomeOf(const Entry& entry) const {
  const bool replay =
      policy_.duplicate == DedupePolicy::Duplicate::kReplay && entry.claim.answer->whole();
  return {.kind = replay ? DedupeAnswer::Kind::kReplay : DedupeAnswer::Kind::kEnded,
          .stored = entry.claim.answer};
}

// Forgets outcomes, by the rule of the shares, until what is there fits. `added`: what has come. A
// bound that was lowered is reached by and by: each call takes away somewhat more than it brings.
bool DedupeTable::MakeRoom(size_t added, Instant now) {
  size_t freed = 0;
  while (shares_.bytes() > Room()) {
    if (freed > added + kMoreThanAdded) return true;
    KeyShare* const gives = shares_.GivesWay(Room());
    if (gives == nullptr) return false;
    Entry& oldest = gives->idle.Front();
    freed += oldest.stake.bytes;
    // A shared store still knows it.
    if (shared_.store == nullptr && now < oldest.claim.expires) {
      losses_->forgotten.fetch_add(1, std::memory_order_relaxed);
    }
    Erase(oldest);
  }
  return true;
}

void DedupeTable::ForgetOld(Instant now) {
  const std::lock_guard lock(mutex_);
  LookAtOldest(kOldAtATime, now);
}

void DedupeTable::LookAtOldest(int most, Instant now) {
  for (int i = 0; i < most && !unknown_.empty(); ++i) {
    Entry& entry = unknown_.Front();
    if (now < entry.claim.until) break;
    Age(entry, &ended_);
    Rest(entry);
  }
  for (int i = 0; i < most && !ended_.empty() && Expired(ended_.Front(), now); ++i) {
    Erase(ended_.Front());
  }
}

void DedupeTable::Erase(Entry& entry) {
  LEVEE_CHECK(entry.waiting.empty());
  shares_.Set(entry.stake, 0, /*held=*/false);
  entries_.erase(entries_.find(entry.key));
  if (entries_.capacity() > kFewSlots && entries_.size() < entries_.capacity() / 8) {
    entries_.rehash(0);
  }
}

// The entry does not make room for others.
void DedupeTable::Hold(Entry& entry) {
  static_cast<ListLink<Entry>&>(entry).Unlink();
  shares_.Set(entry.stake, BytesOf(entry), /*held=*/true);
}

// No call of this sidecar has the key. It is the one of its owner that was asked for last.
void DedupeTable::Rest(Entry& entry) {
  Hold(entry);
  entry.here = Entry::Here::kNone;
  if (entry.unknown || !entry.waiting.empty()) return;
  shares_.Set(entry.stake, entry.stake.bytes, /*held=*/false);
  entry.stake.share->idle.PushBack(entry);
}

// `list`: where the entry is by its age; nullptr: its call runs.
void DedupeTable::Age(Entry& entry, IntrusiveList<Entry, KeyAge>* list) {
  static_cast<ListLink<KeyAge>&>(entry).Unlink();
  entry.unknown = list == &unknown_;
  if (list != nullptr) list->PushBack(entry);
}

void DedupeTable::SetDigest(DedupePlace& place, const Sha256& digest) {
  WorkerSet wake;
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ == DedupePlace::State::kHasKey);
    Entry& entry = *place.entry_;
    entry.claim.digest = digest;
    RefuseOthers(entry, wake);
  }
  Wake(wake);
}

// Tells the calls that wait with another request than the entry has.
void DedupeTable::RefuseOthers(Entry& entry, WorkerSet& wake) {
  if (!entry.claim.digest.has_value()) return;
  entry.waiting.ForEach([&](DedupePlace& place) {
    // One whose request is not complete is compared when it is.
    if (!place.digest_.has_value() || place.digest_ == entry.claim.digest) return;
    Refuse(place, {.kind = DedupeAnswer::Kind::kMismatch}, wake);
  });
}

void DedupeTable::Tell(DedupePlace& place, DedupePlace::State state, WorkerSet& wake) {
  static_cast<ListLink<DedupePlace>&>(place).Unlink();
  place.state_ = state;
  IntrusiveList<DedupePlace>& answers = answers_[static_cast<size_t>(place.worker_)];
  // If answers wait, the worker is already on its way to them.
  if (answers.empty()) wake.push_back(place.worker_);
  answers.PushBack(place);
}

void DedupeTable::Refuse(DedupePlace& place, DedupeAnswer answer, WorkerSet& wake) {
  place.answer_ = std::move(answer);
  Tell(place, DedupePlace::State::kAnswered, wake);
}

void DedupeTable::End(DedupePlace& place, DedupeEnding ending, StoredAnswerPtr answer,
                      Instant now) {
  WorkerSet wake;
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ == DedupePlace::State::kHasKey);
    place.state_ = DedupePlace::State::kIdle;
    Entry& entry = *place.entry_;
    switch (ending) {
      case DedupeEnding::kKept:
        Keep(entry, std::move(answer), now, wake);
        break;
      case DedupeEnding::kReleased:
        Release(entry, now, wake);
        break;
      case DedupeEnding::kUnknown:
        Forsake(entry, now, wake);
        break;
    }
  }
  Wake(wake);
}

// Counts an entry that has an outcome; of one for which there is no room the status stays.
void DedupeTable::Fit(Entry& entry, Instant now) {
  Hold(entry);
  if (MakeRoom(entry.stake.bytes, now) || entry.claim.answer == nullptr) return;
  entry.claim.answer = StoredAnswer::OfStatus(entry.claim.answer->code());
  Hold(entry);
}

void DedupeTable::Keep(Entry& entry, StoredAnswerPtr answer, Instant now, WorkerSet& wake) {
  --in_flight_;
  entry.claim.answer = std::move(answer);
  entry.claim.expires = now + policy_.ttl;
  if (shared_.store != nullptr) Post(entry, KeyCommand::Kind::kKeep, now);
  Fit(entry, now);
  entry.waiting.ForEach([&](DedupePlace& place) { Refuse(place, OutcomeOf(entry), wake); });
  Age(entry, &ended_);
  Rest(entry);
}

// The call that waits longest gets the key.
void DedupeTable::Release(Entry& entry, Instant now, WorkerSet& wake) {
  if (entry.waiting.empty()) {
    --in_flight_;
    if (shared_.store != nullptr) Post(entry, KeyCommand::Kind::kRelease, now);
    Erase(entry);
    return;
  }
  DedupePlace& next = entry.waiting.Front();
  if (shared_.store == nullptr) entry.renewed = now;
  entry.claim.digest = next.digest_;
  next.entry_ = &entry;
  Tell(next, DedupePlace::State::kGiven, wake);
  RefuseOthers(entry, wake);
}

// Nobody will know soon whether the call ran.
void DedupeTable::Forsake(Entry& entry, Instant now, WorkerSet& wake) {
  --in_flight_;
  if (shared_.store != nullptr) {
    entry.seen = true;
    entry.renewed = now;
    Post(entry, KeyCommand::Kind::kRenew, now);
  }
  entry.claim.until = entry.renewed + policy_.claim;
  entry.claim.expires = entry.claim.until + policy_.ttl;
  entry.waiting.ForEach(
      [&](DedupePlace& waits) { Tell(waits, DedupePlace::State::kAsksAgain, wake); });
  // The shared store can be asked for what becomes of it.
  Age(entry, shared_.store == nullptr ? &unknown_ : &ended_);
  Rest(entry);
}

void DedupeTable::Withdraw(DedupePlace& place, Instant now) {
  WorkerSet wake;
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ != DedupePlace::State::kHasKey);
    static_cast<ListLink<DedupePlace>&>(place).Unlink();
    const auto state = std::exchange(place.state_, DedupePlace::State::kIdle);
    if (state == DedupePlace::State::kGiven) Release(*place.entry_, now, wake);
    if (state == DedupePlace::State::kWaits) {
      Entry& entry = *Find(place.key_);
      if (entry.here == Entry::Here::kNone) Rest(entry);
    }
  }
  Wake(wake);
}

void DedupeTable::Answer(int worker, Instant now) {
  while (true) {
    DedupePlace* place;
    DedupePlace::State state;
    {
      const std::lock_guard lock(mutex_);
      place = answers_[static_cast<size_t>(worker)].PopFront();
      if (place == nullptr) return;
      const bool given = place->state_ == DedupePlace::State::kGiven;
      state = std::exchange(place->state_,
                            given ? DedupePlace::State::kHasKey : DedupePlace::State::kIdle);
    }
    DedupeClient& client = place->client_;
    if (state == DedupePlace::State::kGiven) {
      client.OnKey(now);
    } else if (state == DedupePlace::State::kAsksAgain) {
      client.OnKeyUnknown(now);
    } else {
      client.OnKeyAnswer(DedupeAnswer(std::move(place->answer_)), now);
    }
  }
}

void DedupeTable::Wake(const WorkerSet& wake) {
  for (const int worker : wake) wake_(worker);
}

void DedupeTable::SetPolicy(const DedupePolicy& policy) {
  const std::lock_guard lock(mutex_);
  policy_ = policy;
}

DedupeTable::View DedupeTable::GetView() const {
  const std::lock_guard lock(mutex_);
  return {.keys = entries_.size(), .bytes = shares_.bytes() + SlotBytes(), .in_flight = in_flight_};
}

}  // namespace levee
