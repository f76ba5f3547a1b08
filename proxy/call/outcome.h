// SPDX-License-Identifier: Apache-2.0
// What an upstream's answer means for the call: the one place where heads, trailers and the ends of
// streams become outcomes. Both hosts of a Call use it.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "policy/retry_decision.h"
#include "policy/retry_policy.h"
#include "wire/metadata.h"
#include "wire/stream_end.h"

namespace levee {

// The wall clock, which is read only for a failure: Retry-After may name a date.
using WallClockRef = absl::FunctionRef<absl::Time()>;

enum class AnswerHead {
  kBegin,    // the head of a gRPC answer that goes on
  kEnd,      // the whole of a gRPC answer (trailers-only): pass it to OutcomeOfTrailers
  kNotGrpc,  // an answer that is not gRPC: pass it to OutcomeOfHttp
};

// Reads the head of an answer; `end`: END_STREAM came with it. Makes of it what the caller may get:
// a grpc-status rules even beside another :status or content-type, which are replaced, the latter
// by the AnswerContentType of `request`, and an answer that goes on loses its content-length, since
// Levee may have to end it early.
AnswerHead ReadAnswerHead(Metadata& head, bool end, const Metadata& request);

// A gRPC answer that ended with these trailers (empty: it had none). One without a grpc-status gets
// one (UNKNOWN). Of a failure also pushback, advice and those marks that `honor` has are read.
// `place` of the outcome is the host's to fill in, here and below.
AttemptOutcome OutcomeOfTrailers(Metadata& trailers, const HonoredSignals& honor,
                                 WallClockRef wall_clock);

// An answer that is not gRPC, by its head.
AttemptOutcome OutcomeOfHttp(const Metadata& head, WallClockRef wall_clock);

// A stream that was closed before its answer was complete.
AttemptOutcome OutcomeOfClose(const StreamEnd& end);

// Returns how long the endpoint asks callers to stay away from it, by a pushback or advice; zero:
// it does not ask.
absl::Duration WaitAskedFor(const AttemptOutcome& outcome);

// Whether the endpoint itself has answered, if only with a failure: it lives.
bool ShowsLife(const AttemptOutcome& outcome);

// No endpoint could be reached, for this reason.
AttemptOutcome OutcomeOfNoConnection(std::string reason);

// An attempt at `place` has not answered within its attempt_timeout.
AttemptOutcome OutcomeOfAttemptTimeout(const AttemptPlace& place);

}  // namespace levee
