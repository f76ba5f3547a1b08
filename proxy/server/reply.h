// SPDX-License-Identifier: Apache-2.0
// Sends the answers that Levee makes itself.
#pragma once

#include <optional>
#include <string_view>

#include "call/call_host.h"
#include "dedupe/stored_answer.h"
#include "h2/stream.h"
#include "wire/load_report.h"
#include "wire/metadata.h"
#include "wire/overload_mark.h"
#include "wire/status.h"

namespace levee {

// Sends a trailers-only answer; the arguments are those of WriteTrailersOnly.
void ReplyTrailersOnly(h2::Stream& stream, std::string_view content_type, StatusCode code,
                       std::string_view message);

// HTTP 415 with a line that says what is wanted, for requests that are no gRPC call.
void ReplyNotGrpc(h2::Stream& stream);

// Trailers that are added to an answer, unless it has its own.
struct AddedTrailers {
  std::optional<OverloadMark> mark;
  std::optional<LoadReport> load;
};

// Ends a call whose answer is `status`; the arguments are those of WriteFinalAnswer.
void ReplyFinal(h2::Stream& stream, const FinalStatus& status, Metadata& trailers,
                std::string_view content_type, const AddedTrailers& added);

// Ends a call with the answer of an earlier one, and says so in its head.
void ReplyStored(h2::Stream& stream, const StoredAnswer& answer, const AddedTrailers& added);

}  // namespace levee
