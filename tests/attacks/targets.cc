// SPDX-License-Identifier: Apache-2.0
// The services that the attacks go to: a real gRPC service, and one that reads no bodies. Prints
// their ports, and ends with its standard input.
#include <iostream>
#include <string>

#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"

int main() {
  // Of the calls to /test.Flaky/... one attempt of 25 fails, but for retries.
  levee::FaultyService answering([](const levee::SeenCall& call) {
    const bool fails = call.method.starts_with("/test.Flaky/") && call.number % 25 == 0 &&
                       !call.metadata.contains("grpc-previous-rpc-attempts");
    return fails ? levee::Answer{.status = {grpc::StatusCode::UNAVAILABLE, "flaky"}}
                 : levee::Answer();
  });
  levee::RawUpstream stuck(levee::TakeNoBodies);
  const std::string address = stuck.address();
  std::cout << answering.port() << ' ' << address.substr(address.rfind(':') + 1) << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) continue;
  // Calls of attackers may never end.
  std::_Exit(0);
}
