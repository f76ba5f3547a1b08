// SPDX-License-Identifier: Apache-2.0
// A caller in a storm, or beside an attack: it makes calls at random times, whatever becomes of
// those before.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "demo/arrivals.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "levee/demo/v1/shop.grpc.pb.h"

namespace {

using levee::demo::v1::GetPriceReply;
using levee::demo::v1::GetPriceRequest;
using std::chrono::steady_clock;

struct Load {
  std::string address;
  double per_second = 100;
  double seconds = 20;
  int64_t deadline_ms = 1000;
  std::string service_config;  // gRPC's own retries; empty: none
  int64_t start = 0;           // nanoseconds of the monotonic clock
  uint64_t seed = 1;           // of the times between calls
  std::string method = "/levee.demo.v1.Shop/GetPrice";
  bool keyed = false;  // each call has an idempotency key, and is repeated at the end
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
  app.add_option("--method", load.method, "what it calls; it answers with any message");
  app.add_flag(
      "--keyed", load.keyed,
      "calls have idempotency keys, and the good ones are repeated at the end: the last line "
      "says how many of them got the answer of their first call");
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
  std::string key;
  steady_clock::time_point begun = steady_clock::now();
  grpc::ClientContext context;
  GetPriceRequest request;
  GetPriceReply reply;
};

// Keeps of each call that has ended when it began, whether it succeeded, and how long it took.
// Nothing is printed meanwhile: a reader that is late would hold the calls up.
class Caller {
 public:
  explicit Caller(const Load& load) : load_(load) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    if (load.service_config.empty()) {
      arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    } else {
      arguments.SetServiceConfigJSON(load.service_config);
    }
    for (int i = 0; i < kConnections; ++i) {
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      stubs_.push_back(std::make_unique<Stub>(
          grpc::CreateCustomChannel(load.address, grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  void Start(int64_t begun_ms) {
    const std::string key = load_.keyed ? "honest-" + std::to_string(next_) : "";
    Send(begun_ms, key, [this](const Call& call, bool good) {
      const auto took =
          std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - call.begun);
      ended_.push_back({call.begun_ms, good, took});
      if (good && load_.keyed) keys_.push_back(call.key);
    });
  }

  // Calls once more with the key of each call that was good. To be called when all have ended.
  void Repeat() {
    for (const std::string& key : keys_) {
      Send(0, key, [this](const Call& call, bool good) {
        replayed_ += good && call.context.GetServerInitialMetadata().contains("levee-replayed");
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void Print() {
    const std::lock_guard lock(mutex_);
    for (const Ended& each : ended_) {
      std::cout << each.begun_ms << ' ' << each.good << ' ' << each.took.count() << '\n';
    }
    if (load_.keyed) std::cout << "replayed " << replayed_ << " of " << keys_.size() << '\n';
    std::cout.flush();
  }

 private:
  using Stub = grpc::TemplatedGenericStub<GetPriceRequest, GetPriceReply>;
  static constexpr int kConnections = 2;

  // `ended` is called with the lock.
  void Send(int64_t begun_ms, const std::string& key,
            std::function<void(const Call& call, bool good)> ended) {
    auto call = std::make_shared<Call>();
    call->begun_ms = begun_ms;
    call->key = key;
    call->context.set_deadline(gpr_time_from_millis(load_.deadline_ms, GPR_TIMESPAN));
    if (!key.empty()) {
      call->context.AddMetadata("idempotency-key", key);
      call->context.AddMetadata("x-tenant", "honest");
    }
    Stub& stub = *stubs_[next_++ % stubs_.size()];
    stub.UnaryCall(&call->context, load_.method, grpc::StubOptions(), &call->request, &call->reply,
                   [this, call, ended = std::move(ended)](const grpc::Status& status) {
                     const std::lock_guard lock(mutex_);
                     ended(*call, status.ok());
                   });
  }

  const Load load_;
  std::mutex mutex_;  // of what follows, but for the stubs
  std::vector<Ended> ended_;
  std::vector<std::string> keys_;  // of calls that were good
  int64_t replayed_ = 0;
  std::vector<std::unique_ptr<Stub>> stubs_;
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
  const auto last = std::chrono::milliseconds(load.deadline_ms + 200);
  std::this_thread::sleep_for(last);
  if (load.keyed) {
    caller.Repeat();
    std::this_thread::sleep_for(last);
  }
  caller.Print();
  _exit(0);
}
