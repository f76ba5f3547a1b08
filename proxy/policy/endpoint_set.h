// SPDX-License-Identifier: Apache-2.0
// The endpoints of one destination as a balancer sees them; chooses one for the next call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "policy/call_floor.h"
#include "policy/ejection_policy.h"
#include "policy/endpoint_load.h"
#include "policy/look_times.h"
#include "policy/spare_room.h"

namespace levee {

// The state of an endpoint, as its connections report it.
struct EndpointCondition {
  bool usable = false;  // connected or on the way to it: not failing
  bool open = false;    // it can take one more call now
  bool silent = false;  // its kernel acknowledges nothing, on any connection
  int active = 0;       // calls that run on it
};

// The facts about a call that matter for the choice of its endpoint.
struct NextCall {
  bool repeatable = false;  // it can be made again elsewhere, so that a look costs it nothing
  bool stream = false;      // its answer may be long in coming without a fault of the endpoint
};

// A call goes to the cheaper of two endpoints that are drawn; see EndpointLoad for the cost. One
// that is far worse than the best of the others is ejected, however many are: it gets a look, which
// is one call, from time to time. The others get its calls as far as they have room. See
// docs/endpoints.md.
//
// Endpoints are named by ids, which are not used again while the set lives. Choosing takes the same
// time with one endpoint and with a thousand. No clock, one thread; `now` never goes backward.
// Above 30 functions: choosing and ejecting read the same loads, and each function is short.
class EndpointSet {
 public:
  // `ejection`: nullopt: no endpoint is ever ejected.
  explicit EndpointSet(std::optional<EjectionPolicy> ejection = EjectionPolicy())
      : ejection_(ejection) {}

  int64_t Add();
  void Remove(int64_t id, Instant now);

  // Returns whether the endpoint has become usable or unusable. Here and below, an id that is not
  // in the set is ignored.
  bool Update(int64_t id, const EndpointCondition& condition, Instant now);

  // Returns the endpoint for the next call: of two drawn at random the one at which it costs less
  // ("The Power of Two Choices in Randomized Load Balancing", Mitzenmacher 2001). An endpoint in
  // `avoid` is taken only if no other is open, one that is ejected only for a look or if no other
  // has room, one in `forbidden` never. nullopt: none.
  std::optional<int64_t> Choose(std::span<const int64_t> avoid, std::span<const int64_t> forbidden,
                                NextCall call, Instant now, Random& random);

  // Whether Choose finds an endpoint if none is forbidden.
  bool AnyOpen() const { return !open_.empty(); }

  // Whether there is an endpoint that is not in `forbidden` and is or may become open.
  bool AnyUsable(std::span<const int64_t> forbidden) const;

  // The same, leaving out `id` and those that are ejected.
  bool HasOther(int64_t id, std::span<const int64_t> forbidden) const;

  int size() const { return size_; }

  // Returns the cost of one call there, as EndpointLoad estimates it; zero if unknown.
  absl::Duration Latency(int64_t id, Instant now) const;

  // See EndpointLoad.
  void RecordLatency(int64_t id, absl::Duration latency, Instant now);
  void RecordGivenUp(int64_t id, absl::Duration waited, Instant now);
  void Yield(int64_t id, absl::Duration wait, Instant now);

  // An attempt ended, with success or not. `latency`: the time until its answer began, if that says
  // something about the endpoint.
  void RecordEnd(int64_t id, bool success, Instant now,
                 std::optional<absl::Duration> latency = std::nullopt);

  // The endpoint has answered, if only with a failure.
  void RecordLife(int64_t id, Instant now);

  // An endpoint that is ejected from now on, or is so no more.
  struct Change {
    int64_t id;
    bool ejected;
  };
  bool changed() const { return !changes_.empty(); }
  // Returns the changes since this was last asked, in their order.
  std::vector<Change> TakeChanges() { return std::exchange(changes_, {}); }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  struct Member {
    int64_t id = 0;
    bool present = false;
    EndpointCondition condition;
    EndpointLoad load;
    CallFloor floor;
    bool restarts = false;    // its load is forgotten when it becomes open
    size_t place = kNowhere;  // in open_
    bool ejected = false;
    bool silent = false;  // ejected since it owed an answer
    LookTimes looks;
  };

  Member* Find(int64_t id);
  const Member* Find(int64_t id) const;
  bool IsIn(std::span<const int64_t> ids, const Member& member) const;
  bool UpdateState(Member& member, const EndpointCondition& before, Instant now);
  void UpdateOpen(Member& member, Instant now);
  void Swap(size_t a, size_t b);
  size_t SetAside(std::span<const int64_t> ids, size_t begin, size_t end);
  Member* ChooseAmong(bool ejected, std::span<const int64_t> avoid,
                      std::span<const int64_t> forbidden, Instant now, Random& random);
  // Two that were drawn, the one to take first.
  struct Drawn {
    Member& better;
    Member& other;
  };
  Drawn DrawTwo(size_t begin, size_t end, Instant now, Random& random);
  bool IsBetter(Member& a, Member& b, Instant now, Random& random);
  bool Admits(const Member& member, Instant now, Random& random) const;
  Member* IdleAndGood(size_t begin, size_t end, Instant now, Random& random);
  // Returns how many of its calls come and go.
  static int Above(Member& member, Instant now) {
    if (member.floor.over(now)) member.floor.Begin(member.load.Estimate(now), now);
    return member.floor.Above(member.condition.active);
  }
  bool Cheaper(Member& a, Member& b, Instant now);

  bool Spills(Member& chosen, Instant now, Random& random);
  int CountUsable(std::span<const int64_t> without, bool ejected) const;

  Member* DueLook(std::span<const int64_t> forbidden, bool repeatable, Instant now);
  bool EjectIfSilent(Member& member, Instant now);
  bool Overdue(const Member& member, Instant now) const {
    return member.condition.silent || member.load.Overdue(now);
  }
  void RecordLatency(Member& member, absl::Duration latency, Instant now);
  void OnFailure(Member& member, Instant now);
  void OnLookSucceeded(Member& member, Instant now);
  bool IsFarBelow(const Member& member, double best) const;
  double BestShare(const Member& but) const;
  void Eject(Member& member, bool silent, Instant now);
  void Return(Member& member, bool slowly, Instant now);
  void ReturnThoseLikeTheRest(Instant now);

  const std::optional<EjectionPolicy> ejection_;
  std::vector<Member> members_;
  std::vector<size_t> free_;  // places in members_
  std::vector<size_t> open_;  // members that are open, in no order, ejected ones last
  size_t good_ = 0;           // of them, those that are not ejected
  int size_ = 0;
  int usable_ = 0;   // ejected ones included
  int ejected_ = 0;  // of the usable ones
  SpareRoom room_;
  Instant next_look_ = Instant::Infinite();  // no look is due before
  double look_credit_ = 1;                   // a look takes 1, each call brings a part
  std::vector<Change> changes_;
};

}  // namespace levee
