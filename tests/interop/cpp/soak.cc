// SPDX-License-Identifier: Apache-2.0
// Makes a great many calls with gRPC for C++, in two halves between which it waits for a line of
// its standard input.
//
// interop_soak calls LEVEE TARGET COUNT       unary calls over one channel
// interop_soak channels LEVEE TARGET COUNT    channels, each a connection of its own with one call
//
// Prints after each half "ended CALLS failed FAILED", both from the start on.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "interop.grpc.pb.h"

namespace levee::interop::v1 {
namespace {

constexpr int kThreads = 16;
constexpr uint32_t kSize = 100;
constexpr auto kPatience = std::chrono::seconds(300);

std::shared_ptr<grpc::Channel> Dial(const std::string& levee, const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // Channels share no connection.
  return grpc::CreateCustomChannel(levee, grpc::InsecureChannelCredentials(), arguments);
}

bool CallSucceeds(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  // gRPC 1.51 looks at errno after connect() only when another call may have changed it: once in
  // some hundred thousand times it takes a connection under way for one that failed with ENOENT.
  context.set_wait_for_ready(true);
  Request request;
  request.set_body(std::string(kSize, 'x'));
  request.add_answers()->set_size(kSize);
  Response response;
  const grpc::Status status =
      TestService::NewStub(channel)->UnaryCall(&context, request, &response);
  if (!status.ok()) std::cerr << status.error_code() << " " << status.error_message() << std::endl;
  return status.ok() && response.body().size() == kSize;
}

// Runs `call` `count` times from kThreads threads and returns how often it returned false.
template <typename Call>
int Failures(int count, const Call& call) {
  std::atomic<int> left = count;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (left.fetch_sub(1) > 0) {
        failed += call() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return failed;
}

template <typename Call>
void RunHalves(int count, const Call& call) {
  int failed = Failures(count / 2, call);
  std::cout << "ended " << count / 2 << " failed " << failed << std::endl;
  std::getchar();
  failed += Failures(count - count / 2, call);
  std::cout << "ended " << count << " failed " << failed << std::endl;
}

}  // namespace
}  // namespace levee::interop::v1

int main(int /*count*/, char** arguments) {
  using namespace levee::interop::v1;  // NOLINT(google-build-using-namespace)
  const std::string levee = arguments[2];
  const std::string target = arguments[3];
  const int count = std::stoi(arguments[4]);
  if (std::string(arguments[1]) == "channels") {
    RunHalves(count, [&] { return CallSucceeds(Dial(levee, target)); });
    return 0;
  }
  const auto channel = Dial(levee, target);
  RunHalves(count, [&] { return CallSucceeds(channel); });
}
