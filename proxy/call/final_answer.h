// SPDX-License-Identifier: Apache-2.0
// The answer with which Levee ends a call: the one place where a status becomes header fields.
#pragma once

#include <string_view>

#include "call/call_host.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// Adds a whole trailers-only answer to `to`. `message` is unencoded text. `content_type`: the
// AnswerContentType of the request.
void WriteTrailersOnly(std::string_view content_type, StatusCode code, std::string_view message,
                       Metadata& to);

// Writes the end of a call whose answer is `status` into `to`, which is empty: trailers if
// `content_type` is empty (the response head has gone to the caller), else a trailers-only head,
// where it is the AnswerContentType of the request. `trailers`: those of the attempt that the
// answer comes from, perhaps a whole trailers-only head, which then keeps its own content-type,
// perhaps empty; used up.
void WriteFinalAnswer(const FinalStatus& status, Metadata& trailers, std::string_view content_type,
                      Metadata& to);

}  // namespace levee
