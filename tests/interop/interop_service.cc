// SPDX-License-Identifier: Apache-2.0
// The service that the clients of other languages call through Levee.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "integration/faulty_service.h"

namespace levee {
namespace {

int Number(const Fields& metadata, const std::string& name) {
  return std::atoi(Values(metadata, name).c_str());
}

// The caller says how often a call is to fail: x-fail-first: 2 lets the third attempt succeed. With
// x-read-first: 1 it fails only once the request has ended.
Answer FailFirstAttempts(const SeenCall& call) {
  const int previous = Number(call.metadata, "grpc-previous-rpc-attempts");
  const bool fails = previous < Number(call.metadata, "x-fail-first");
  if (!fails) return Answer();
  Answer failure = Fails(grpc::StatusCode::UNAVAILABLE);
  failure.read_first = Number(call.metadata, "x-read-first") > 0;
  return failure;
}

}  // namespace
}  // namespace levee

// interop_service [IP PORT]    default: 127.0.0.1 and a port of the system's choice
//
// Prints "listening HOST:PORT", serves until its standard input ends, then prints a line for each
// call it has got: "METHOD AUTHORITY ATTEMPTS-BEFORE".
int main(int argc, char** argv) {
  levee::FaultyService::Options options;
  if (argc == 3) {
    options.at = argv[1];
    options.port = std::atoi(argv[2]);
  }
  levee::FaultyService service(levee::FailFirstAttempts, options);
  std::cout << "listening " << service.address() << std::endl;
  while (std::getchar() != EOF) {
  }
  for (const levee::SeenCall& call : service.seen()) {
    std::cout << call.method << ' ' << call.authority << ' '
              << levee::Number(call.metadata, "grpc-previous-rpc-attempts") << '\n';
  }
}
