// SPDX-License-Identifier: Apache-2.0
// The services that the attacks go to: a real gRPC service, and one that reads no bodies. Prints
// their ports, and ends with its standard input.
#include <iostream>
#include <string>

#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"

int main() {
  levee::FaultyService answering;
  levee::RawUpstream stuck(levee::TakeNoBodies);
  const std::string address = stuck.address();
  std::cout << answering.port() << ' ' << address.substr(address.rfind(':') + 1) << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) continue;
  // Calls of attackers may never end.
  std::_Exit(0);
}
