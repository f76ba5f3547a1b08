// SPDX-License-Identifier: Apache-2.0
// Asks many HTTP servers at a time.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/client_loop.h"
#include "net/address.h"

namespace levee {

struct HttpQuestion {
  net::Address address;
  std::string path;  // with its query
};

// Connections at a time. Further questions wait for these.
inline constexpr size_t kQuestionsAtOnce = 32;

// Returns the bodies of the answers in the order of the questions, or why there is none within
// `patience` of being asked.
std::vector<absl::StatusOr<std::string>> AskAll(ClientLoop& loop,
                                                const std::vector<HttpQuestion>& questions,
                                                absl::Duration patience);

}  // namespace levee
