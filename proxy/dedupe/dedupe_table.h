// SPDX-License-Identifier: Apache-2.0
// The idempotency store of one sidecar: which calls with a key run, and how those that ran were
// answered (after draft-ietf-httpapi-idempotency-key-header). Others may share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "base/random.h"
#include "base/sha256.h"
#include "dedupe/key_claim.h"
#include "dedupe/key_shares.h"
#include "dedupe/key_store.h"
#include "dedupe/request_digest.h"
#include "dedupe/stored_answer.h"
#include "policy/dedupe_policy.h"

namespace levee {

// The answer for a call whose key another call has, or had.
struct DedupeAnswer {
  enum class Kind {
    kReplay,     // `stored`
    kEnded,      // a refusal that says how the first call ended: the status of `stored`
    kInFlight,   // a refusal: the first call runs, and the policy lets none wait
    kMismatch,   // a refusal: the first call was another request
    kLost,       // a refusal: nobody knows whether the first call ran
    kStoreAway,  // the shared store does not answer: see runs_without_key
  };
  Kind kind = Kind::kReplay;
  StoredAnswerPtr stored;
  bool runs_without_key = false;
};

// How a call that had a key ends.
enum class DedupeEnding {
  kKept,      // the application's answer is kept
  kReleased,  // the call has surely not run, or the application says: try again
  kUnknown,   // it may have run, and nobody knows its answer
};

// Gets the answer of a call that waits. It inverts a dependency: calls know the store.
class DedupeClient {
 public:
  // The call has the key.
  virtual void OnKey(Instant now) = 0;
  // The call is to ask again: the outcome of the first call will not be known soon, or its request
  // is to be compared.
  virtual void OnKeyUnknown(Instant now) = 0;
  virtual void OnKeyAnswer(const DedupeAnswer& answer, Instant now) = 0;

 protected:
  ~DedupeClient() = default;
};

// It counts what a full table has lost since the start. Any thread.
struct KeyLosses {
  std::atomic<uint64_t> forgotten = 0;  // outcomes that made room before their time
  std::atomic<uint64_t> refused = 0;    // keys that found no room
};

class DedupeTable;
struct DedupeEntry;
struct KeyAge;  // tells the list of entries by age from that of their owner

// Where a call with a key stands. It is not destroyed while it waits (Withdraw) or has the key
// (End).
class DedupePlace final : private ListLink<DedupePlace> {
 public:
  // `key`: of DedupeTable::KeyOf. `owner`: gives the room for the key, if this call is the first.
  DedupePlace(DedupeClient& client, int worker, const Sha256& key, const KeyOwner& owner = {})
      : client_(client), worker_(worker), key_(key), owner_(owner) {}

  const KeyOwner& owner() const { return owner_; }

 private:
  friend class DedupeTable;
  friend class IntrusiveList<DedupePlace>;
  enum class State { kIdle, kWaits, kHasKey, kGiven, kAsksAgain, kAnswered };

  DedupeClient& client_;
  const int worker_;
  const Sha256 key_;
  const KeyOwner owner_;
  State state_ = State::kIdle;
  DedupeEntry* entry_ = nullptr;  // of kGiven and kHasKey: meanwhile it stays
  std::optional<Sha256> digest_;
  DedupeAnswer answer_;  // of kAnswered
};

// Shared by all workers; any thread, but a place only in the thread of its worker. Takes one lock,
// for a moment, since only calls with a key come here. Has no clock: workers tell it the time.
//
// An entry is one key. It holds the first call while that runs, its outcome for `ttl` after that,
// and for as long the fact that the call was lost. Bounded by DedupePolicy::max_bytes, which are
// shared among the owners of keys as KeyShares says: of the owner that has most, the outcome that
// was not asked for longest makes room, never an entry whose call runs or may run.
//
// With a KeyStore the first call of this sidecar asks the store for the key, and the others wait
// here for what it gets: a call of another sidecar costs the store one look at a time, however many
// calls wait for it. Outcomes are kept here too, since they do not change. Above 30 functions:
// everything in it is under one lock, so it is one thing.
class DedupeTable : public std::enable_shared_from_this<DedupeTable> {
 public:
  // A store that other sidecars share.
  struct Shared {
    KeyStore* store = nullptr;  // outlives the table; nullptr: keys are those of this sidecar alone
    std::string name;           // of what the keys belong to; the same in all sidecars
    uint64_t seed = 0;          // of tokens; differs in each sidecar
  };

  // `wake(worker)`: an answer for a call of that worker may be there (Answer). Called in any
  // thread, without the lock; not again while answers that it was called for wait. `workers`: at
  // least 1. With a shared store it is owned by a shared_ptr. `losses`: tables can have
  // one together. nullptr: the table has its own.
  DedupeTable(const DedupePolicy& policy, int workers, std::function<void(int)> wake, Shared shared,
              std::shared_ptr<KeyLosses> losses = nullptr);
  DedupeTable(const DedupePolicy& policy, int workers, std::function<void(int)> wake)
      : DedupeTable(policy, workers, std::move(wake), Shared()) {}
  ~DedupeTable();
  DedupeTable(const DedupeTable&) = delete;
  DedupeTable& operator=(const DedupeTable&) = delete;

  // Returns the key of calls with this text, which has the scope in it. Shared::name is part of the
  // key, so that policies can share a store.
  Sha256 KeyOf(std::string_view text) const;

  // A call asks for its key. `digest`: of its request, once that is complete.
  struct Step {
    enum class Kind {
      kFirst,         // the call has the key, and runs; it must End
      kNeedsRequest,  // another call has or had the key: it is to ask again with its digest
      kWaits,         // the client is told, or asks again at `look_at`
      kAnswered,      // `answer`
      kFull,          // the key cannot be stored: see runs_without_key
    };
    Kind kind = Kind::kFirst;
    DedupeAnswer answer;
    Instant look_at = Instant::Infinite();
    bool asks_store = false;  // of kWaits: for the store, and maybe for no other call
    bool runs_without_key = false;
  };
  Step Ask(DedupePlace& place, const std::optional<Sha256>& digest, Instant now);

  // The request of the call that has the key is complete. Calls that wait with another request are
  // told so.
  void SetDigest(DedupePlace& place, const Sha256& digest);

  // The call that has the key has ended. `answer`: of kKept.
  void End(DedupePlace& place, DedupeEnding ending, StoredAnswerPtr answer, Instant now);

  // The call waits no more. A key that was on its way to it goes to the next one.
  void Withdraw(DedupePlace& place, Instant now);

  // Tells the clients of `worker` what was decided.
  void Answer(int worker, Instant now);

  // For the KeyStore, in its thread. A kAsk has this reply, or has failed.
  void OnReply(const KeyCommand& asked, const absl::StatusOr<KeyReply>& reply, Instant now);
  // A kLook is due: asks for the key if a call still waits for it.
  void Look(const Sha256& key);
  // Renews the claims that are a third over.
  void Renew(Instant now);

  // Forgets what is over, somewhat at a time. Calls do so, too; this is for a table without calls.
  // To be called a few times a second.
  void ForgetOld(Instant now);

  // Goes by other values from now on.
  void SetPolicy(const DedupePolicy& policy);

  struct View {
    size_t keys = 0;
    size_t bytes = 0;
    size_t in_flight = 0;  // keys that a call of this sidecar has
  };
  View GetView() const;
  const KeyLosses& losses() const { return *losses_; }

 private:
  using Entry = DedupeEntry;
  using WorkerSet = absl::InlinedVector<int, 4>;  // each once
  struct ByKey {
    using is_transparent = void;
    size_t operator()(const Sha256& key) const;
    size_t operator()(const std::unique_ptr<Entry>& entry) const;
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(const std::unique_ptr<Entry>& a, const std::unique_ptr<Entry>& b) const;
    bool operator()(const std::unique_ptr<Entry>& a, const Sha256& b) const;
  };

  size_t SlotBytes() const;
  size_t Room() const;
  size_t BytesOf(const Entry& entry) const;
  Entry* Find(const Sha256& key);
  Entry* AddEntry(const DedupePlace& place, Instant now);
  bool MayHold(const Entry& entry) const;
  bool MakeRoom(size_t added, Instant now);
  bool Expired(const Entry& entry, Instant now) const;
  void LookAtOldest(int most, Instant now);
  void Erase(Entry& entry);
  void Hold(Entry& entry);
  void Rest(Entry& entry);
  void Age(Entry& entry, IntrusiveList<Entry, KeyAge>* list);
  Step Full();
  Step AskEntry(Entry& entry, DedupePlace& place, const std::optional<Sha256>& digest, Instant now);
  void Take(Entry& entry, DedupePlace& place, Instant now);
  DedupeAnswer OutcomeOf(const Entry& entry) const;
  void Tell(DedupePlace& place, DedupePlace::State state, WorkerSet& wake);
  void Refuse(DedupePlace& place, DedupeAnswer answer, WorkerSet& wake);
  void RefuseOthers(Entry& entry, WorkerSet& wake);
  void Fit(Entry& entry, Instant now);
  void Keep(Entry& entry, StoredAnswerPtr answer, Instant now, WorkerSet& wake);
  void Release(Entry& entry, Instant now, WorkerSet& wake);
  void Forsake(Entry& entry, Instant now, WorkerSet& wake);
  void Wake(const WorkerSet& wake);

  // With a shared store.
  KeyCommand CommandFor(const Entry& entry, KeyCommand::Kind kind) const;
  void AskStore(Entry& entry);
  void Post(const Entry& entry, KeyCommand::Kind kind, Instant now);
  void LookLater(Entry& entry);
  void Give(Entry& entry, Instant now, WorkerSet& wake);
  void Learn(Entry& entry, const KeyClaim& claim, Instant now, WorkerSet& wake);
  void Settle(const Entry& entry, DedupePlace& place, Instant now, WorkerSet& wake);
  void OnStoreAway(Entry& entry, bool may_have_claimed, Instant now, WorkerSet& wake);

  const std::function<void(int)> wake_;
  const Shared shared_;
  const std::shared_ptr<KeyLosses> losses_;

  mutable std::mutex mutex_;  // of all that follows
  DedupePolicy policy_;
  KeyShares shares_;  // with the entries that may make room
  // Entries of which it is not known whether their calls still run in the application, and those
  // that have an outcome or may be asked for anew; about in the order in which that ends.
  IntrusiveList<Entry, KeyAge> unknown_, ended_;
  absl::flat_hash_set<std::unique_ptr<Entry>, ByKey, SameKey> entries_;
  // With a shared store: those that a call of this sidecar has, longest not renewed first.
  IntrusiveList<Entry> running_;
  Random random_;
  size_t in_flight_ = 0;                             // entries of Here::kRuns
  std::vector<IntrusiveList<DedupePlace>> answers_;  // by worker
};

}  // namespace levee
