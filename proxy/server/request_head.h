// SPDX-License-Identifier: Apache-2.0
// The head of a request: read once, written anew for every attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "call/call.h"
#include "call/call_host.h"
#include "dedupe/key_shares.h"
#include "policy/dedupe_policy.h"
#include "policy/limit_key.h"
#include "policy/rate_limit_policy.h"
#include "policy/route_table.h"
#include "trace/call_trace.h"
#include "wire/metadata.h"

namespace levee {

// The facts of a request's head, with views into it.
struct RequestHead {
  std::string_view method;  // HTTP's: POST for gRPC
  std::string_view authority;
  std::string_view path;
  std::string_view content_type;
  RequestFacts facts;
  bool has_via = false;
};
RequestHead ReadRequestHead(const Metadata& head);

// A pass of calls through this sidecar, in one direction. A call of the application may reach the
// application's own inbound listener, so each direction has a mark of its own.
struct Hop {
  Direction direction = Direction::kEgress;
  // The value of the `via` field (RFC 9110, section 7.6.3) by which a sidecar knows calls that have
  // come back to it: "2 levee-5d41402abc4b2a76".
  std::string via;
};

// The hops of both directions.
struct Hops {
  Hop egress, inbound;
  const Hop& Of(Direction direction) const {
    return direction == Direction::kInbound ? inbound : egress;
  }
};

// `random`: of a seed that others cannot know.
Hops NewHops(Random& random);

// Whether a head with `via` fields has passed the sidecar that `via` names.
bool HasPassed(const Metadata& head, std::string_view via);

// The key of the bucket that a call with this head takes from: the name and the value of each part
// of the limit's key, in their order. `authority`: by which the call was routed. `peer`: the
// caller's name by its certificate. Of a header that is repeated the first value counts; one that
// is absent is empty.
LimitKey KeyOf(const std::vector<RateLimitKey>& parts, const Metadata& head,
               std::string_view authority, std::string_view peer);

// Whether the head has no key in that field, or nothing but blanks.
bool LacksKey(const Metadata& head, std::string_view header);

// An idempotency key may have so many bytes.
inline constexpr size_t kLongestDedupeKey = 256;

// Returns why a call with this head is refused for its idempotency key, as a static text; empty if
// it is not. Of two values Levee and the application could take different ones, a blank one is no
// key, and a longer one than any client makes up is meant to take room.
std::string_view DedupeFault(const DedupePolicy& policy, const Metadata& head);

// Returns the key of a call without such a fault, with its scope: as KeyOf. It is empty for a call
// without key. Blanks at the ends of the value do not count, since any hop may strip them.
LimitKey DedupeKeyOf(const DedupePolicy& policy, const Metadata& head, std::string_view authority,
                     std::string_view peer);

// Returns to whom the key of such a call belongs: `sender`, and the values of the headers in the
// scope, by which a gateway tells its callers apart; of a scope without headers all its values.
// Methods and authorities do not count beside headers, as a caller can make up any number of them.
KeyOwner DedupeOwnerOf(const DedupePolicy& policy, const Metadata& head, std::string_view authority,
                       uint64_t sender);

// Fills `to` (empty) with the head of an attempt: the caller's fields in their order, without
// those that are Levee's to say (grpc-timeout, grpc-previous-rpc-attempts, levee-*, which a caller
// must not forge), then the hop's `via`, and the attempt's own. The application's own calls keep
// levee-priority, which is for the guard in front of the upstream. A valid traceparent goes on in
// its place with a span id from `random`, one that is not is the caller's affair. `trace`: gives
// the span id, and the traceparent of a call whose trace begins here, in place of any that the
// caller sent; nullptr: the call has no spans. `secured`: whether the attempt goes through TLS,
// which :scheme says (RFC 9113, section 8.3.1).
void WriteAttemptHead(const Metadata& request, const AttemptStart& attempt, Instant now,
                      const Hop& hop, bool secured, const CallTrace* trace, Random& random,
                      Metadata& to);

}  // namespace levee
