// SPDX-License-Identifier: Apache-2.0
// The trailer grpc-status-details-bin: a google.rpc.Status in base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "wire/metadata.h"
#include "wire/overload_mark.h"

namespace levee {

// Returns the mark of the last ErrorInfo whose reason is OVERLOADED_DO_NOT_RETRY, from its
// metadata. The scope is service if the ErrorInfo names no other.
std::optional<OverloadMark> FindMarkInDetails(const Metadata& trailers);

// Returns the longest retry_delay of the google.rpc.RetryInfo details; zero if there is none. Never
// negative; infinite for more seconds than a Duration holds.
absl::Duration FindRetryDelayInDetails(const Metadata& trailers);

// Returns the value of grpc-status-details-bin for `status`, with the details that `trailers` have.
std::string MarkedDetails(const MarkedStatus& status, const Metadata& trailers);

}  // namespace levee
