// SPDX-License-Identifier: Apache-2.0
#include "wire/details_text.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace levee {

google::protobuf::Any OverloadInfo(const std::map<std::string, std::string>& metadata,
                                   const std::string& domain) {
  wire::v1::ErrorInfo info;
  info.set_reason("OVERLOADED_DO_NOT_RETRY");
  info.set_domain(domain);
  for (const auto& [key, value] : metadata) (*info.mutable_metadata())[key] = value;
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  return any;
}

google::protobuf::Any RetryInfo(int64_t seconds, int32_t nanos) {
  wire::v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  info.mutable_retry_delay()->set_nanos(nanos);
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  any.set_value(info.SerializeAsString());
  return any;
}

google::protobuf::Any OtherDetail(const std::string& bytes) {
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/shop.v1.CartProblem");
  any.set_value(bytes);
  return any;
}

std::string EncodeDetails(int code, const std::string& message,
                          const std::vector<google::protobuf::Any>& details) {
  wire::v1::RpcStatus status;
  status.set_code(code);
  status.set_message(message);
  for (const google::protobuf::Any& detail : details) *status.add_details() = detail;
  std::string text = absl::Base64Escape(status.SerializeAsString());
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

wire::v1::RpcStatus DecodeDetails(std::string_view value) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(absl::string_view(value.data(), value.size()), &bytes)) << value;
  wire::v1::RpcStatus status;
  EXPECT_TRUE(status.ParseFromString(bytes));
  return status;
}

wire::v1::ErrorInfo DecodeErrorInfo(const google::protobuf::Any& detail) {
  EXPECT_EQ(detail.type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
  wire::v1::ErrorInfo info;
  EXPECT_TRUE(info.ParseFromString(detail.value()));
  return info;
}

}  // namespace levee
