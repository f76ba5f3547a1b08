// The trailer grpc-status-details-bin: a google.rpc.Status in base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "wire/metadata.h"
#include "wire/overload_mark.h"

namespace levee {

// The mark that the last ErrorInfo with reason OVERLOADED_DO_NOT_RETRY of the details carries in
// its metadata; scope service if it names no other.
std::optional<OverloadMark> FindMarkInDetails(const Metadata& trailers);

// The longest retry_delay that a google.rpc.RetryInfo of the details asks for. Zero: there is none.
// Never negative; infinite for more seconds than a Duration holds.
absl::Duration FindRetryDelayInDetails(const Metadata& trailers);

// The value of grpc-status-details-bin for `status`, with the details that `trailers` have.
std::string MarkedDetails(const MarkedStatus& status, const Metadata& trailers);

}  // namespace levee
