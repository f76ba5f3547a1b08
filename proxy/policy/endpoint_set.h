// SPDX-License-Identifier: Apache-2.0
// The endpoints of one destination as a balancer sees them; chooses one for the next call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "policy/endpoint_load.h"
#include "policy/outlier.h"

namespace levee {

// The state of an endpoint, as its connections report it.
struct EndpointCondition {
  bool usable = false;  // connected or on the way to it: not failing
  bool open = false;    // it can take one more call now
  int active = 0;       // calls that run on it
};

// Endpoints are named by ids, which are not used again while the set lives. Choosing takes the same
// time with one endpoint and with a thousand. No clock, one thread; `now` never goes backward.
class EndpointSet {
 public:
  // `ejection`: nullopt: no endpoint is ever ejected.
  explicit EndpointSet(std::optional<EjectionPolicy> ejection = EjectionPolicy())
      : ejection_(ejection) {}

  int64_t Add(Instant now);
  void Remove(int64_t id);

  // Returns whether the endpoint has become usable or unusable. Here and below, an id that is not
  // in the set is ignored.
  bool Update(int64_t id, const EndpointCondition& condition, Instant now);

  // Returns the endpoint for the next call: of two drawn at random the one at which it costs less
  // ("The Power of Two Choices in Randomized Load Balancing", Mitzenmacher 2001). An endpoint in
  // `avoid` is taken only if no other is open, one that is ejected or in `forbidden` never.
  // nullopt: none.
  std::optional<int64_t> Choose(std::span<const int64_t> avoid, std::span<const int64_t> forbidden,
                                Instant now, Random& random);

  // Whether Choose finds an endpoint if none is forbidden.
  bool AnyOpen() const { return !open_.empty(); }

  // Whether there is an endpoint, neither ejected nor in `forbidden`, that is or may become open.
  bool AnyUsable(std::span<const int64_t> forbidden) const;

  // The same, leaving `id` out.
  bool HasOther(int64_t id, std::span<const int64_t> forbidden) const;

  int size() const { return size_; }

  // Returns the cost of one call there, as EndpointLoad estimates it; zero if unknown.
  absl::Duration Latency(int64_t id, Instant now) const;

  // See EndpointLoad.
  void RecordAnswer(int64_t id, absl::Duration latency, Instant now);
  void RecordGivenUp(int64_t id, absl::Duration waited, Instant now);
  void Yield(int64_t id, absl::Duration wait, Instant now);

  // An attempt ended, with success or not. Returns true if the endpoint is ejected from now on (see
  // Outlier). At most half of the usable endpoints are ejected at a time, so that the calls have
  // somewhere to go.
  bool RecordEnd(int64_t id, bool success, Instant now);

  // Ends the ejections whose time is over. Ends the oldest ones too if more than half of the
  // endpoints are ejected because others have become unusable or have gone. Returns the ids
  // whose ejection has ended.
  absl::InlinedVector<int64_t, 2> EndEjections(Instant now);

  // Returns when EndEjections has something to do if nothing else happens.
  Instant NextReturn() const;

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  struct Member {
    int64_t id = 0;
    bool present = false;
    EndpointCondition condition;
    EndpointLoad load;
    Outlier outlier;
    Instant ejected_at;
    bool restarts = false;    // its load is forgotten when it becomes open
    size_t place = kNowhere;  // in open_
  };

  Member* Find(int64_t id);
  const Member* Find(int64_t id) const;
  bool Counts(const Member& member) const;
  int CountUsable(std::span<const int64_t> without) const;
  void UpdateOpen(Member& member, Instant now);
  void Swap(size_t a, size_t b);
  size_t SetAside(std::span<const int64_t> ids, size_t candidates);
  size_t PickOfTwo(size_t candidates, Instant now, Random& random) const;
  bool Cheaper(const Member& a, const Member& b, Instant now) const;
  Member* OldestEjected();

  const std::optional<EjectionPolicy> ejection_;
  std::vector<Member> members_;
  SuccessWindow all_;         // also of those that have gone
  std::vector<size_t> free_;  // places in members_
  std::vector<size_t> open_;  // members that are open and not ejected, in no order
  int size_ = 0;
  int usable_ = 0;     // ejected ones included
  int ejected_ = 0;    // of the usable ones
  int ejections_ = 0;  // of all, unusable ones included
};

}  // namespace levee
