// SPDX-License-Identifier: Apache-2.0
// A caller in a storm, or beside an attack: it makes calls at random times, whatever becomes of
// those before.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "demo/arrivals.h"
#include "grpcpp/grpcpp.h"
#include "levee/demo/v1/shop.grpc.pb.h"

namespace {

using levee::demo::v1::GetPriceReply;
using levee::demo::v1::GetPriceRequest;
using levee::demo::v1::Shop;
using std::chrono::steady_clock;

struct Load {
  std::string address;
  double per_second = 100;
  double seconds = 20;
  int64_t deadline_ms = 1000;
  std::string service_config;  // gRPC's own retries; empty: none
  int64_t start = 0;           // nanoseconds of the monotonic clock
  uint64_t seed = 1;           // of the times between calls
};

// Returns 0, or the status to exit with.
int Read(int argc, char** argv, Load& load) {
  CLI::App app("a caller of tests/storms/run and tests/attacks/run");
  app.add_option("--address", load.address, "where it calls")->required();
  app.add_option("--per-second", load.per_second, "calls per second");
  app.add_option("--seconds", load.seconds, "how long it calls");
  app.add_option("--deadline-ms", load.deadline_ms, "of each call");
  app.add_option("--service-config", load.service_config, "gRPC's own retries");
  app.add_option("--start", load.start, "nanoseconds of the monotonic clock")->required();
  app.add_option("--seed", load.seed, "of the times between calls");
  CLI11_PARSE(app, argc, argv);
  return 0;
}

struct Ended {
  int64_t begun_ms;  // since the start
  bool good;
  std::chrono::microseconds took;
};

struct Call {
  int64_t begun_ms;
  steady_clock::time_point begun = steady_clock::now();
  grpc::ClientContext context;
  GetPriceRequest request;
  GetPriceReply reply;
};

// Keeps of each call that has ended when it began, whether it succeeded, and how long it took.
// Nothing is printed meanwhile: a reader that is late would hold the calls up.
class Caller {
 public:
  explicit Caller(const Load& load) : deadline_ms_(load.deadline_ms) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    if (load.service_config.empty()) {
      arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    } else {
      arguments.SetServiceConfigJSON(load.service_config);
    }
    for (int i = 0; i < kConnections; ++i) {
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      stubs_.push_back(Shop::NewStub(
          grpc::CreateCustomChannel(load.address, grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  void Start(int64_t begun_ms) {
    auto call = std::make_shared<Call>();
    call->begun_ms = begun_ms;
    call->context.set_deadline(gpr_time_from_millis(deadline_ms_, GPR_TIMESPAN));
    Shop::Stub& stub = *stubs_[next_++ % stubs_.size()];
    stub.async()->GetPrice(
        &call->context, &call->request, &call->reply, [this, call](const grpc::Status& status) {
          const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
              steady_clock::now() - call->begun);
          const std::lock_guard lock(mutex_);
          ended_.push_back({call->begun_ms, status.ok(), took});
        });
  }

  void Print() {
    const std::lock_guard lock(mutex_);
    for (const Ended& each : ended_) {
      std::cout << each.begun_ms << ' ' << each.good << ' ' << each.took.count() << '\n';
    }
    std::cout.flush();
  }

 private:
  static constexpr int kConnections = 2;

  const int64_t deadline_ms_;
  std::mutex mutex_;
  std::vector<Ended> ended_;
  std::vector<std::unique_ptr<Shop::Stub>> stubs_;
  size_t next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Load load;
  if (const int status = Read(argc, argv, load); status != 0) return status;
  const steady_clock::time_point start{std::chrono::nanoseconds(load.start)};
  const levee::Instant zero = levee::Instant::FromNanos(0);
  const levee::Instant end = zero + absl::Seconds(load.seconds);
  levee::demo::Arrivals arrivals(load.per_second, zero, load.seed);
  Caller caller(load);
  while (arrivals.next() < end) {
    std::this_thread::sleep_until(start + std::chrono::nanoseconds(arrivals.next().nanos()));
    const auto since = std::chrono::nanoseconds(steady_clock::now() - start);
    const levee::Instant now = levee::Instant::FromNanos(since.count());
    for (int due = arrivals.TakeDue(now); due > 0; --due) caller.Start(now.nanos() / 1'000'000);
  }
  // The last calls end.
  std::this_thread::sleep_for(std::chrono::milliseconds(load.deadline_ms + 200));
  caller.Print();
  _exit(0);
}
