// SPDX-License-Identifier: Apache-2.0
// Writes and reads grpc-status-details-bin for tests, apart from the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/any.pb.h"
#include "levee/wire/v1/rpc_status.pb.h"

namespace levee {

// An ErrorInfo of reason OVERLOADED_DO_NOT_RETRY with this metadata.
google::protobuf::Any OverloadInfo(const std::map<std::string, std::string>& metadata,
                                   const std::string& domain = "levee");

// A RetryInfo with this delay.
google::protobuf::Any RetryInfo(int64_t seconds, int32_t nanos = 0);

// A detail of a type that Levee does not know.
google::protobuf::Any OtherDetail(const std::string& bytes);

// The field's value in base64 without padding.
std::string EncodeDetails(int code, const std::string& message,
                          const std::vector<google::protobuf::Any>& details);

// Fails the test that calls it if `value` is not base64 of a Status.
wire::v1::RpcStatus DecodeDetails(std::string_view value);

// Fails the test that calls it if `detail` is no google.rpc.ErrorInfo.
wire::v1::ErrorInfo DecodeErrorInfo(const google::protobuf::Any& detail);

}  // namespace levee
