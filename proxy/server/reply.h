// Answers that Levee makes itself: the one place where an error becomes a response.
#pragma once

#include <string_view>

#include "call/call_host.h"
#include "h2/stream.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// Sends a trailers-only answer. `message` is unencoded text.
void ReplyTrailersOnly(h2::Stream& stream, StatusCode code, std::string_view message);

// HTTP 415 with a line that says what is wanted, for requests that are no gRPC call.
void ReplyNotGrpc(h2::Stream& stream);

// Ends a call whose answer is `status`. `trailers`: those of the last attempt, perhaps a whole
// trailers-only block, perhaps empty; used up. `head_sent`: the response head has been forwarded.
void ReplyFinal(h2::Stream& stream, const FinalStatus& status, Metadata& trailers, bool head_sent);

}  // namespace levee
