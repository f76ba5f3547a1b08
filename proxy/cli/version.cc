// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "net/event_loop.h"

namespace levee {

std::string_view BuildVersion() { return LEVEE_VERSION; }
std::string_view BuildCommit() { return LEVEE_COMMIT; }

std::string VersionText() {
  return absl::StrCat("levee ", LEVEE_VERSION, " (commit ", LEVEE_COMMIT, ")\n", "libuv ",
                      net::LibraryVersion(), ", gRPC ", grpc::Version(), ", protobuf ",
                      google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION), "\n");
}

}  // namespace levee
