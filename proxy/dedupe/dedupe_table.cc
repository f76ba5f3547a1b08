// SPDX-License-Identifier: Apache-2.0
#include "dedupe/dedupe_table.h"

#include <utility>

#include "base/check.h"

namespace levee {

struct DedupeTable::Entry : ListLink<Entry> {
  enum class State { kRuns, kUnknown, kEnded };

  explicit Entry(std::string name) : key(std::move(name)) {}

  const std::string key;
  State state = State::kRuns;
  Instant since;                 // it was claimed then, or has ended
  std::optional<Sha256> digest;  // of the first call, once its request is complete
  StoredAnswerPtr answer;        // of kEnded
  IntrusiveList<DedupePlace> waiting;
};

DedupeTable::DedupeTable(const DedupePolicy& policy, int workers, std::function<void(int)> wake)
    : workers_(static_cast<size_t>(workers)),
      wake_(std::move(wake)),
      policy_(policy),
      answers_(workers_) {}

DedupeTable::~DedupeTable() = default;

size_t DedupeTable::BytesOf(const Entry& entry) const {
  constexpr size_t kInTable = 48;  // about
  const size_t answer = entry.answer == nullptr ? 0 : entry.answer->bytes();
  return sizeof entry + kInTable + entry.key.size() + answer;
}

DedupeTable::Entry* DedupeTable::Find(const std::string& key) {
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
  if (entry != nullptr) {
    if (!digest.has_value()) return {.kind = Step::Kind::kNeedsRequest};
    return AskEntry(*entry, place, *digest, now);
  }
  if (AddEntry(place, digest, now)) return {.kind = Step::Kind::kFirst};
  return {.kind = Step::Kind::kFull,
          .runs_without_key = policy_.on_store_failure == DedupePolicy::StoreFailure::kRun};
}

// False if there is no room.
bool DedupeTable::AddEntry(DedupePlace& place, const std::optional<Sha256>& digest, Instant now) {
  auto entry = std::make_unique<Entry>(place.key_);
  entry->since = now;
  entry->digest = digest;
  const size_t bytes = BytesOf(*entry);
  if (!MakeRoom(bytes, now)) return false;
  bytes_ += bytes;
  place.state_ = DedupePlace::State::kHasKey;
  entries_.emplace(entry->key, std::move(entry));
  return true;
}

DedupeTable::Step DedupeTable::AskEntry(Entry& entry, DedupePlace& place, const Sha256& digest,
                                        Instant now) {
  place.digest_ = digest;
  if (entry.digest.has_value() && entry.digest != digest) {
    return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kMismatch}};
  }
  if (entry.state == Entry::State::kEnded) {
    static_cast<ListLink<Entry>&>(entry).Unlink();
    idle_.PushBack(entry);
    return {.kind = Step::Kind::kAnswered, .answer = OutcomeOf(entry)};
  }
  if (IsLost(entry, now)) {
    if (policy_.on_lost == DedupePolicy::Lost::kRefuse) {
      return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kLost}};
    }
    static_cast<ListLink<Entry>&>(entry).Unlink();
    entry.state = Entry::State::kRuns;
    entry.since = now;
    entry.digest = digest;
    place.state_ = DedupePlace::State::kHasKey;
    return {.kind = Step::Kind::kFirst};
  }
  if (policy_.in_flight == DedupePolicy::InFlight::kRefuse) {
    return {.kind = Step::Kind::kAnswered, .answer = {.kind = DedupeAnswer::Kind::kInFlight}};
  }
  Wait(entry, place);
  const bool runs = entry.state == Entry::State::kRuns;
  return {.kind = Step::Kind::kWaits,
          .look_at = runs ? Instant::Infinite() : entry.since + policy_.claim};
}

void DedupeTable::Wait(Entry& entry, DedupePlace& place) {
  place.state_ = DedupePlace::State::kWaits;
  entry.waiting.PushBack(place);
}

bool DedupeTable::IsLost(const Entry& entry, Instant now) const {
  return entry.state == Entry::State::kUnknown && now >= entry.since + policy_.claim;
}

bool DedupeTable::Expired(const Entry& entry, Instant now) const {
  return entry.state != Entry::State::kRuns && entry.waiting.empty() &&
         now >= entry.since + policy_.ttl;
}

DedupeAnswer DedupeTable::OutcomeOf(const Entry& entry) const {
  const bool replay = policy_.duplicate == DedupePolicy::Duplicate::kReplay && entry.answer->whole;
  return {.kind = replay ? DedupeAnswer::Kind::kReplay : DedupeAnswer::Kind::kEnded,
          .stored = entry.answer};
}

// Whether the entry may make room for another.
bool DedupeTable::MayGo(const Entry& entry, Instant now) const {
  return entry.waiting.empty() && (entry.state == Entry::State::kEnded || IsLost(entry, now));
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
      static_cast<ListLink<Entry>&>(oldest).Unlink();
      idle_.PushBack(oldest);
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

void DedupeTable::SetDigest(DedupePlace& place, const Sha256& digest) {
  WorkerSet wake(workers_);
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ == DedupePlace::State::kHasKey);
    Entry& entry = *Find(place.key_);
    entry.digest = digest;
    RefuseOthers(entry, wake);
  }
  Wake(wake);
}

// Tells the calls that wait with another request than the entry has.
void DedupeTable::RefuseOthers(Entry& entry, WorkerSet& wake) {
  if (!entry.digest.has_value()) return;
  entry.waiting.ForEach([&](DedupePlace& place) {
    if (place.digest_ == entry.digest) return;
    Refuse(place, {.kind = DedupeAnswer::Kind::kMismatch}, wake);
  });
}

void DedupeTable::Tell(DedupePlace& place, DedupePlace::State state, WorkerSet& wake) {
  static_cast<ListLink<DedupePlace>&>(place).Unlink();
  place.state_ = state;
  const size_t worker = static_cast<size_t>(place.worker_);
  answers_[worker].PushBack(place);
  wake[worker] = true;
}

void DedupeTable::Refuse(DedupePlace& place, DedupeAnswer answer, WorkerSet& wake) {
  place.answer_ = std::move(answer);
  Tell(place, DedupePlace::State::kAnswered, wake);
}

void DedupeTable::End(DedupePlace& place, DedupeEnding ending, StoredAnswerPtr answer,
                      Instant now) {
  WorkerSet wake(workers_);
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ == DedupePlace::State::kHasKey);
    place.state_ = DedupePlace::State::kIdle;
    Entry& entry = *Find(place.key_);
    switch (ending) {
      case DedupeEnding::kKept:
        Keep(entry, std::move(answer), now, wake);
        break;
      case DedupeEnding::kReleased:
        Release(entry, now, wake);
        break;
      case DedupeEnding::kUnknown:
        entry.state = Entry::State::kUnknown;
        idle_.PushBack(entry);
        entry.waiting.ForEach(
            [&](DedupePlace& waits) { Tell(waits, DedupePlace::State::kAsksAgain, wake); });
        break;
    }
  }
  Wake(wake);
}

void DedupeTable::Keep(Entry& entry, StoredAnswerPtr answer, Instant now, WorkerSet& wake) {
  entry.state = Entry::State::kEnded;
  entry.since = now;
  bytes_ -= BytesOf(entry);
  entry.answer = std::move(answer);
  if (!MakeRoom(BytesOf(entry), now)) {
    StoredAnswer status;
    status.code = entry.answer->code;
    entry.answer = std::make_shared<const StoredAnswer>(std::move(status));
  }
  bytes_ += BytesOf(entry);
  entry.waiting.ForEach([&](DedupePlace& place) { Refuse(place, OutcomeOf(entry), wake); });
  idle_.PushBack(entry);
}

// The call that waits longest gets the key.
void DedupeTable::Release(Entry& entry, Instant now, WorkerSet& wake) {
  if (entry.waiting.empty()) {
    Erase(entry);
    return;
  }
  DedupePlace& next = entry.waiting.Front();
  entry.since = now;
  entry.digest = next.digest_;
  Tell(next, DedupePlace::State::kGiven, wake);
  RefuseOthers(entry, wake);
}

void DedupeTable::Withdraw(DedupePlace& place, Instant now) {
  WorkerSet wake(workers_);
  {
    const std::lock_guard lock(mutex_);
    LEVEE_CHECK(place.state_ != DedupePlace::State::kHasKey);
    static_cast<ListLink<DedupePlace>&>(place).Unlink();
    const auto state = std::exchange(place.state_, DedupePlace::State::kIdle);
    if (state == DedupePlace::State::kGiven) Release(*Find(place.key_), now, wake);
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
  for (size_t worker = 0; worker < wake.size(); ++worker) {
    if (wake[worker]) wake_(static_cast<int>(worker));
  }
}

void DedupeTable::SetPolicy(const DedupePolicy& policy) {
  const std::lock_guard lock(mutex_);
  policy_ = policy;
}

DedupeTable::View DedupeTable::GetView() const {
  const std::lock_guard lock(mutex_);
  return {.keys = entries_.size(), .bytes = bytes_};
}

}  // namespace levee
