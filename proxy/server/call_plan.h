// SPDX-License-Identifier: Apache-2.0
// What a worker has found out about calls with one PlanKey, so that each further one costs a single
// look-up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "base/text.h"
#include "call/call_books.h"
#include "call/planned_features.h"
#include "call/waiting_retries.h"
#include "conn/worker_io.h"
#include "guard/guard_line.h"
#include "guard/tie_table.h"
#include "policy/failed_calls.h"
#include "policy/latency_estimate.h"
#include "policy/retry_budget.h"
#include "policy/retry_distribution.h"
#include "policy/route_choice.h"
#include "policy/usual_answer.h"
#include "server/call_address.h"
#include "server/method_kinds.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"
#include "upstream/pool.h"
#include "upstream/upstream_connection.h"

namespace levee {

// A destination as one worker sees it: an upstream, or for `authority:` and `original:` an upstream
// and the address that is dialled (CallAddress).
struct Destination {
  // `room` outlives it.
  explicit Destination(FailedCallsRoom& room) : failed_calls(room) {}

  // Returns the line in which all its calls wait that `budget` pays for. `places`
  // and `io` are the worker's, and outlive it.
  std::shared_ptr<WaitingRetries> LineOf(const std::shared_ptr<RetryBudget>& budget, int worker,
                                         WaitingPlaces& places, WorkerIo& io);

  std::string upstream;
  std::string authority;                         // empty unless the upstream dials it
  std::shared_ptr<const ConnectPolicy> connect;  // that the pool goes by
  std::unique_ptr<Pool> pool;
  LatencyEstimate latency;
  FailedCalls failed_calls;
  RetryHistory retries;
  UpstreamSeries* series;
  std::vector<std::weak_ptr<WaitingRetries>> waiting;  // one per budget that calls are using
  Instant last_used;
  uint64_t sender = 0;  // who named it first (ConnectionOrigin::sender); 0: the configuration
  bool gone = false;    // the worker does not know it any more; calls may still run on it
};

// The worker's side of the guard that a plan's calls pass.
struct GuardSide {
  std::shared_ptr<GuardLine> line;  // nullptr: there is none
  int method = Guard::kMethods;     // its number, if it has one
  bool named = false;               // `method` stays
};

// The series of one worker that the features of policies write.
struct FeatureSeries {
  // They exist from then on. Thread of the worker.
  FeatureSeries(Metrics& metrics, int worker, const std::string& upstream,
                const RoutePolicies& policies);

  std::vector<RateLimitSeries*> limits;  // in the order of the policy
  GuardSeries* guard = nullptr;          // not null where there is a guard; likewise below
  DedupeSeries* dedupe = nullptr;
  ShadowSeries* shadow = nullptr;
};

// Never changed but for `method`, `labelled`, `parts`, the kind, the usual answer and the guard's
// method. Held by calls with a plain count, so one thread.
struct CallPlan {
  std::shared_ptr<const Snapshot> snapshot;  // owns the policies
  PlannedFeatures features;
  FeatureSeries series;
  PlannedKind kind;
  UsualAnswer usual_answer;
  std::shared_ptr<Destination> destination;
  std::shared_ptr<WaitingRetries> waiting;  // of the budget, on this worker
  bool inbound = false;                     // its calls came to a listener of that direction
  GuardSide guard;
  std::shared_ptr<TieTable> tie;  // nullptr: its calls are not tied to others
  bool traced = false;            // its calls may have spans
  std::string path;
  std::string routed_by;  // in the one spelling that rate limits know
  MethodSeries* method = nullptr;
  bool labelled = false;  // `method` is the method's own series, or it can get none
  // What its calls work with, of the above and of the worker; made with the first call.
  std::optional<CallPlanParts> parts;
};

// The facts that a call's plan depends on, besides the snapshot.
struct PlanKey {
  ListenerRef listener;
  CallAddress address;
  std::string_view path;
  std::string_view peer;  // the caller's identity; empty where all callers take the same routes

  // Where each call has to be looked at: the rules of the route that it takes
  // (RouteTable::RulesOf), and its upstream. kByFacts: they follow from the other facts.
  static constexpr int kByFacts = -1;
  int rules = kByFacts;
  int upstream = kByFacts;
};

// The cache. Bounded in bytes: when it is full it starts anew, since a caller that makes up paths
// would otherwise fill it with entries nobody asks for again. One thread.
class PlanCache {
 public:
  // nullptr if there is none yet.
  std::shared_ptr<CallPlan> Find(const PlanKey& key) const;

  // True if the bound was reached and the others were dropped.
  bool Insert(const PlanKey& key, std::shared_ptr<CallPlan> plan);

  // Returns the choice that the headers of calls with this key have; nullptr if none is known.
  // Valid until the next change.
  const RouteChoice* FindChoice(const PlanKey& key) const;

  // Keeps the choice among `candidates` (RouteTable::Candidates) for calls with this key, and
  // returns it, valid until the next change. Keys that leave the same choice share it. `table`
  // outlives it. `full`: as Insert returns it.
  const RouteChoice* InsertChoice(const PlanKey& key, const RouteTable& table,
                                  const std::vector<int>& candidates, bool& full);

  void Clear() {
    plans_.clear();
    choices_.clear();
    shared_choices_.clear();
    bytes_ = 0;
  }

  // Drops the plans of the destinations for which the condition holds.
  void EraseThose(absl::FunctionRef<bool(const Destination&)> condition) {
    absl::erase_if(plans_, [&](const auto& entry) {
      if (!condition(*entry.second->destination)) return false;
      bytes_ -= Bytes(entry.first.view());
      return true;
    });
  }

  // Returns how many bytes the plans take.
  size_t bytes() const { return bytes_; }

  static constexpr size_t kMaxBytes = 8 << 20;
  static constexpr size_t kPlanBytes = 1024;  // of one, beside its texts

 private:
  // Returns the size of an entry. The plan has two of the texts, too.
  static size_t Bytes(const PlanKey& key) {
    return kPlanBytes + 2 * key.address.routed_by.size() + key.address.original.size() +
           2 * key.path.size() + key.peer.size();
  }

  struct OwnedKey {
    explicit OwnedKey(const PlanKey& key)
        : listener(key.listener),
          routed_by(key.address.routed_by),
          original(key.address.original),
          path(key.path),
          peer(key.peer),
          rules(key.rules),
          upstream(key.upstream) {}
    PlanKey view() const {
      return {listener, {.routed_by = routed_by, .original = original}, path, peer, rules,
              upstream};
    }

    ListenerRef listener;
    std::string routed_by, original, path, peer;
    int rules, upstream;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const PlanKey& key) const {
      const size_t listener = 2 * static_cast<size_t>(key.listener.index + 1) +
                              static_cast<size_t>(key.listener.direction);
      const size_t hash = absl::HashOf(listener, Abseil(key.address.routed_by), Abseil(key.path));
      // Nearly no connection was redirected, and hardly ever its caller or a header makes a
      // difference.
      return key.address.original.empty() && key.peer.empty() && key.rules == PlanKey::kByFacts
                 ? hash
                 : absl::HashOf(hash, Abseil(key.address.original), Abseil(key.peer), key.rules,
                                key.upstream);
    }
    size_t operator()(const OwnedKey& key) const { return (*this)(key.view()); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const PlanKey& a, const PlanKey& b) const {
      return a.address.routed_by == b.address.routed_by && a.path == b.path &&
             a.listener == b.listener && a.address.original == b.address.original &&
             a.peer == b.peer && a.rules == b.rules && a.upstream == b.upstream;
    }
    bool operator()(const OwnedKey& a, const PlanKey& b) const { return (*this)(a.view(), b); }
    bool operator()(const PlanKey& a, const OwnedKey& b) const { return (*this)(a, b.view()); }
    bool operator()(const OwnedKey& a, const OwnedKey& b) const {
      return (*this)(a.view(), b.view());
    }
  };

  // Drops everything if there is no room for so many bytes more. Returns whether it has.
  bool MakeRoom(size_t bytes);

  absl::flat_hash_map<OwnedKey, std::shared_ptr<CallPlan>, Hash, Equal> plans_;
  absl::flat_hash_map<OwnedKey, std::shared_ptr<const RouteChoice>, Hash, Equal> choices_;
  absl::flat_hash_map<std::vector<int>, std::shared_ptr<const RouteChoice>> shared_choices_;
  size_t bytes_ = 0;
};

}  // namespace levee
