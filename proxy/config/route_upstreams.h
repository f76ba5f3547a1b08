// SPDX-License-Identifier: Apache-2.0
// The upstreams of a route.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Returns the names of the upstreams to which the route may lead, each with the field that names
// it, below the route.
inline std::vector<std::pair<std::string, std::string>> UpstreamsOf(
    const config::v1::Route& route) {
  std::vector<std::pair<std::string, std::string>> upstreams;
  for (int i = 0; i < route.split_size(); ++i) {
    upstreams.emplace_back(absl::StrCat("split[", i, "].upstream"), route.split(i).upstream());
  }
  if (route.has_upstream()) upstreams.emplace_back("upstream", route.upstream());
  return upstreams;
}

}  // namespace levee
