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

// The content-type of an answer that Levee makes itself to a request with this one: the same
// without parameters, so that a client that speaks JSON is answered in its own type. If it is none
// of gRPC's: "application/grpc". A part of `content_type` or static text.
inline std::string_view AnswerContentType(std::string_view content_type) {
  if (!IsGrpcContentType(content_type)) return "application/grpc";
  return content_type.substr(0, content_type.find_first_of("; "));
}

}  // namespace levee
