// SPDX-License-Identifier: Apache-2.0
// Answers questions about a state that was recorded before.
#pragma once

#include "absl/status/statusor.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {

// Returns what `request` asks for of `state`, as StateKeeper::Read of the sidecar would have, but
// without bounds. NotFound if it names an upstream that is not there.
absl::StatusOr<admin::v1::State> ReadRecorded(const admin::v1::State& state,
                                              const admin::v1::GetStateRequest& request);

}  // namespace levee
