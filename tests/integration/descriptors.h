// SPDX-License-Identifier: Apache-2.0
// A descriptor set for the service that tests call.
#pragma once

#include <string>

#include "google/protobuf/descriptor.pb.h"

namespace levee {

// A FileDescriptorSet in which test.Echo/Collect is not idempotent, and test.Echo/Unary is if
// `unary_is` says so.
inline std::string Descriptors(bool unary_is = true) {
  google::protobuf::FileDescriptorSet set;
  google::protobuf::FileDescriptorProto& file = *set.add_file();
  file.set_name("test/echo.proto");
  file.set_package("test");
  file.add_message_type()->set_name("Bytes");
  google::protobuf::ServiceDescriptorProto& service = *file.add_service();
  service.set_name("Echo");
  for (const char* name : {"Unary", "Collect"}) {
    google::protobuf::MethodDescriptorProto& method = *service.add_method();
    method.set_name(name);
    method.set_input_type(".test.Bytes");
    method.set_output_type(".test.Bytes");
  }
  if (unary_is)
    service.mutable_method(0)->mutable_options()->set_idempotency_level(
        google::protobuf::MethodOptions::IDEMPOTENT);
  return set.SerializeAsString();
}

}  // namespace levee
