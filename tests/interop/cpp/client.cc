// SPDX-License-Identifier: Apache-2.0
// Calls the test's service through Levee with gRPC C++.
//
// interop_client calls LEVEE TARGET    one call of each kind, whose first attempt fails
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "integration/byte_call.h"

namespace levee {
namespace {

ChannelPtr Dial(const std::string& levee, const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target);
  return NewChannel(levee, arguments);
}

// Each request is sent once the answer to the one before is heard.
bool Say(const ChannelPtr& channel, const std::string& kind, const std::string& method,
         const std::vector<std::string>& requests) {
  ByteCall call(channel, method);
  call.context().AddMetadata("x-fail-first", "1");
  if (!call.Start()) return false;
  std::cout << kind;
  bool first = true;
  for (const std::string& request : requests) {
    if (!first) std::cout << ' ' << call.Read().value_or("-");
    first = false;
    if (!call.Write(request)) return false;
  }
  call.HalfClose();
  while (const std::optional<std::string> answer = call.Read()) std::cout << ' ' << *answer;
  std::cout << '\n';
  const grpc::Status status = call.Finish();
  if (!status.ok()) std::cerr << status.error_code() << ' ' << status.error_message() << '\n';
  return status.ok();
}

}  // namespace
}  // namespace levee

int main(int count, char** words) {
  if (count != 4) return EXIT_FAILURE;
  const levee::ChannelPtr channel = levee::Dial(words[2], words[3]);
  const bool good = levee::Say(channel, "unary", "/shop.Cart/Unary", {"hello"}) &&
                    levee::Say(channel, "stream", "/shop.Cart/Stream", {"3 5"}) &&
                    levee::Say(channel, "chat", "/shop.Cart/Chat", {"one", "two", "three"});
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
