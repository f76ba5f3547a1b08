// SPDX-License-Identifier: Apache-2.0
// The capacity of the demo's service: workers, a line before them, and faults. `now` is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"

namespace levee::demo {

// The shape of many real services. Requests are served in order, and the service does not check
// whether a request is still wanted when its turn comes. It works on the request in any case, and
// if that took longer than `time_limit`, the work was in vain. This is what lets an overload
// outlive its cause.
struct Capacity {
  int workers = 11;
  absl::Duration work = absl::Milliseconds(20);         // Of one worker, per request.
  absl::Duration time_limit = absl::Milliseconds(200);  // From arrival to answer.
  size_t line = 220;                                    // Requests that wait; more are refused.

  // Requests per second that all workers together can serve.
  double PerSecond() const { return workers / absl::ToDoubleSeconds(work); }

  // Returns a capacity for so many requests per second, and a line for 400 ms of work: twice the
  // time limit.
  static Capacity Of(double per_second);

  // Returns the capacity of a service that usually gets so many: three eighths more.
  static Capacity For(double calls_per_second) { return Of(1.375 * calls_per_second); }
};

// Both are shares from 0 to 1.
struct FaultShares {
  double failing = 0;       // Share of the requests; they fail after all their work.
  double workers_down = 0;  // Share of the workers; they take no new request.
  friend bool operator==(const FaultShares&, const FaultShares&) = default;
};

inline bool IsShare(double share) { return share >= 0 && share <= 1; }

enum class Verdict { kOk, kFault, kTooLate, kLineFull, kStopped };

// Not thread-safe.
class ServiceModel {
 public:
  // Reports a request's end. Called once, by the caller of Arrive or Advance.
  using Finish = absl::AnyInvocable<void(Verdict, absl::Duration took)>;

  struct Ended {
    Finish finish;
    Verdict verdict;
    absl::Duration took;
  };

  ServiceModel(const Capacity& capacity, uint64_t seed);

  // Takes a request in. If it ends at once, it is appended to `ended`.
  void Arrive(Instant now, Finish finish, std::vector<Ended>& ended);

  // Appends all requests that ended until `now`. A late call costs no capacity: a worker's next
  // request starts when its last one ended, not when that was noticed.
  void Advance(Instant now, std::vector<Ended>& ended);

  // Ends all requests, done or not.
  void Stop(Instant now, std::vector<Ended>& ended);

  // The instant at which the next request ends; Infinite if no request is in work.
  Instant NextEnd() const { return in_work_.empty() ? Instant::Infinite() : in_work_.front().end; }

  // Applies to every request that a worker takes (workers_down) or ends (failing) from now on.
  void SetFaults(const FaultShares& faults) { faults_ = faults; }
  const FaultShares& faults() const { return faults_; }

  const Capacity& capacity() const { return capacity_; }
  size_t waiting() const { return line_.size(); }

 private:
  struct Request {
    Instant arrived;
    Finish finish;
    Instant end = Instant::Infinite();
  };

  size_t WorkersUp() const;
  void StartWork(Instant now);
  Verdict Judge(absl::Duration took);

  const Capacity capacity_;
  FaultShares faults_;
  Random random_;
  std::deque<Request> line_;
  std::deque<Request> in_work_;  // By end: all take equally long.
};

}  // namespace levee::demo
