// A descriptor set for the service that tests call.
#pragma once

#include <string>

#include "google/protobuf/descriptor.pb.h"

namespace levee {

// A FileDescriptorSet in which test.Echo/Unary is idempotent and test.Echo/Collect is not.
inline std::string Descriptors() {
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
  service.mutable_method(0)->mutable_options()->set_idempotency_level(
      google::protobuf::MethodOptions::IDEMPOTENT);
  return set.SerializeAsString();
}

}  // namespace levee
