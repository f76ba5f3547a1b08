// SPDX-License-Identifier: Apache-2.0
// The content-type of gRPC.
#pragma once

#include <string_view>

namespace levee {

// "application/grpc", alone or followed by '+' or ';' (gRPC over HTTP/2, "Content-Type").
inline bool IsGrpcContentType(std::string_view content_type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!content_type.starts_with(kGrpc)) return false;
  return content_type.size() == kGrpc.size() || content_type[kGrpc.size()] == '+' ||
         content_type[kGrpc.size()] == ';';
}

}  // namespace levee
