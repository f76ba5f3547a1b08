// SPDX-License-Identifier: Apache-2.0
// What a call on the network has to do with other calls of its trace (`tie`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/random.h"
#include "call/call.h"
#include "guard/tie_table.h"
#include "policy/tie_policy.h"
#include "server/ties.h"
#include "telemetry/series.h"
#include "wire/metadata.h"
#include "wire/overload_mark.h"

namespace levee {

// The objects that the ties of a worker's calls work with; they outlive the calls.
struct TieEnvironment {
  Ties& ties;
  Random& random;
  WorkerSeries& series;
};

// A call that the application works on, a served one, has a place in the table. The calls that the
// application makes meanwhile follow it. One thread.
class CallTie {
 public:
  // All outlive it.
  CallTie(const TieEnvironment& environment, const TiePolicy& policy, TieTable& table)
      : environment_(environment), policy_(policy), table_(table) {}

  // The application is to serve the call. If its request has no traceparent that can be read, it
  // gets a new one. `priority`: what its header says, empty if that cannot be read.
  void Serve(Metadata& request, absl::Duration timeout, std::string_view priority, Instant now);

  // A served call ends. `caller_left`: it gets no answer. Returns the mark for its trailers, if one
  // came from calls that followed it, and it failed.
  std::optional<OverloadMark> EndServing(StatusCode code, bool caller_left, Instant now);

  // The application makes the call: it takes over what the policy carries.
  void Follow(Metadata& request, RequestFacts& facts, Instant now);

  // The caller of a call has gone which this one may follow. Returns whether it is to be cancelled.
  bool IsInVain(Instant now);

  // A call that may follow one ends with this mark.
  void EndFollowing(const OverloadMark& mark);

  // Whether it follows a call, which may be cancelled: of this trace.
  bool CanBeCancelled() const { return follows_ && policy_.cancel; }
  TraceNumber trace() const { return trace_; }

 private:
  void TakePriority(const std::string& priority, Metadata& request);
  void Count(TieEvent event) { environment_.series.ties[event].Add(); }

  const TieEnvironment& environment_;
  const TiePolicy& policy_;
  TieTable& table_;
  TraceNumber trace_ = 0;
  bool follows_ = false;  // and a call to follow was found

  // Of a served call.
  TieTable::Place place_;
  Instant begun_;
  Instant deadline_ = Instant::Infinite();
};

}  // namespace levee
