// SPDX-License-Identifier: Apache-2.0
#include "dedupe/dedupe_table.h"

#include <utility>

#include "base/check.h"
#include "dedupe/dedupe_entry.h"

namespace levee {

DedupeTable::DedupeTable(const DedupePolicy& policy, int workers, std::function<void(int)> wake,
                         Shared shared)
    : wake_(std::move(wake)),
      shared_(std::move(shared)),
      policy_(policy),
      random_(shared_.seed),
      answers_(static_cast<size_t>(workers)) {}

DedupeTable::~DedupeTable() = default;

size_t DedupeTable::BytesOf(const Entry& entry) const {
  constexpr size_t kInTable = 48;  // about
  const size_t answer = entry.claim.answer == nullptr ? 0 : entry.claim.answer->bytes();
  return sizeof entry + kInTable + entry.key.size() + answer;
}

DedupeTable::Entry* DedupeTable::Find(std::string_view key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.get();
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
  DropExpired(now);
  Entry* entry = Find(place.key_);
  if (entry != nullptr && Expired(*entry, now)) {
    Erase(*entry);
    entry = nullptr;
  }
  if (entry != nullptr) return AskEntry(*entry, place, digest, now);
  entry = AddEntry(place.key_, now);
  if (entry == nullptr) {
    return {.kind = Step::Kind::kFull,
            .runs_without_key = policy_.on_store_failure == DedupePolicy::StoreFailure::kRun};
  }
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
DedupeTable::Entry* DedupeTable::AddEntry(std::string_view key, Instant now) {
  auto entry = std::make_unique<Entry>(key);
  const size_t bytes = BytesOf(*entry);
  if (!MakeRoom(bytes, now)) return nullptr;
  bytes_ += bytes;
  return entries_.emplace(entry->key, std::move(entry)).first->second.get();
}

// A call of this sidecar has the key from now on.
void DedupeTable::Take(Entry& entry, DedupePlace& place, Instant now) {
  static_cast<ListLink<Entry>&>(entry).Unlink();
  entry.here = Entry::Here::kRuns;
  ++in_flight_;
  entry.renewed = now;
  entry.claim = {.token = std::move(entry.claim.token),
                 .digest = place.digest_,
                 .answer = nullptr,
                 .until = Instant::Infinite(),
                 .expires = Instant::Infinite()};
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
      Idle(entry);
      return {.kind = Step::Kind::kAnswered, .answer = OutcomeOf(entry)};
    case KeyView::kFree:
    case KeyView::kLost:
      if (!MayTakeKey(view, policy_.on_lost)) {
        return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kLost}};
      }
      Take(entry, place, now);
      return {.kind = Step::Kind::kFirst};
    case KeyView::kRuns:
      break;
  }
  if (!elsewhere && policy_.in_flight == DedupePolicy::InFlight::kRefuse) {
    return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kInFlight}};
  }
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

// Whether the entry may make room for another.
bool DedupeTable::MayGo(const Entry& entry, Instant now) const {
  // The shared store can be asked again for what it knows.
  return entry.waiting.empty() &&
         (entry.claim.answer != nullptr || shared_.store != nullptr || now >= entry.claim.until);
}

bool DedupeTable::MakeRoom(size_t bytes, Instant now) {
  // Entries that may not go yet are young, and so mostly behind those that may.
  int others = 16;
  while (bytes_ + bytes > static_cast<size_t>(policy_.max_bytes)) {
    if (idle_.empty()) return false;
    Entry& oldest = idle_.Front();
    if (MayGo(oldest, now)) {
      Erase(oldest);
    } else {
      if (--others == 0) return false;
      Idle(oldest);
    }
  }
  return true;
}

void DedupeTable::DropExpired(Instant now) {
  // More than one comes with each call, so that they cannot pile up.
  for (int i = 0; i < 2 && !idle_.empty() && Expired(idle_.Front(), now); ++i) {
    Erase(idle_.Front());
  }
}

void DedupeTable::Erase(Entry& entry) {
  LEVEE_CHECK(entry.waiting.empty());
  bytes_ -= BytesOf(entry);
  entries_.erase(entries_.find(entry.key));
}

// The entry is the one that was asked for last.
void DedupeTable::Idle(Entry& entry) {
  static_cast<ListLink<Entry>&>(entry).Unlink();
  entry.here = Entry::Here::kNone;
  idle_.PushBack(entry);
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
  if (!MakeRoom(BytesOf(entry), now) && entry.claim.answer != nullptr) {
    entry.claim.answer = std::make_shared<const StoredAnswer>(entry.claim.answer->code());
  }
  bytes_ += BytesOf(entry);
}

void DedupeTable::Keep(Entry& entry, StoredAnswerPtr answer, Instant now, WorkerSet& wake) {
  --in_flight_;
  bytes_ -= BytesOf(entry);
  entry.claim.answer = std::move(answer);
  entry.claim.expires = now + policy_.ttl;
  if (shared_.store != nullptr) Post(entry, KeyCommand::Kind::kKeep, now);
  Fit(entry, now);
  entry.waiting.ForEach([&](DedupePlace& place) { Refuse(place, OutcomeOf(entry), wake); });
  Idle(entry);
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
  Idle(entry);
  entry.waiting.ForEach(
      [&](DedupePlace& waits) { Tell(waits, DedupePlace::State::kAsksAgain, wake); });
}

void DedupeTable::Withdraw(DedupePlace& place, Instant now) {
  WorkerSet wake;
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ != DedupePlace::State::kHasKey);
    static_cast<ListLink<DedupePlace>&>(place).Unlink();
    const auto state = std::exchange(place.state_, DedupePlace::State::kIdle);
    if (state == DedupePlace::State::kGiven) Release(*place.entry_, now, wake);
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
  return {.keys = entries_.size(), .bytes = bytes_, .in_flight = in_flight_};
}

}  // namespace levee
