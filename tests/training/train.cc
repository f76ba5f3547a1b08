// SPDX-License-Identifier: Apache-2.0
// The calls by which the compiler learns what a worker does often: those of tests/bench, and calls
// that are retried and guarded. They run on virtual time, in one thread and with the same random
// numbers each time. So the same sources give the same program.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/chunk.h"
#include "base/random.h"
#include "config/load.h"
#include "h2/stream.h"
#include "virtual/session_peer.h"
#include "virtual/virtual_time.h"
#include "virtual/virtual_worker.h"

namespace levee {
namespace {

constexpr absl::Duration kTurn = absl::Microseconds(50);
constexpr size_t kGrpcPrefix = 5;

struct Load {
  size_t listener;  // 0: of callers, 1: of the application, with a guard
  int connections;
  int streams;  // on each connection at the same time
  int calls;
  size_t message;    // bytes
  int metadata;      // fields whose values differ from call to call
  int failures = 0;  // one of so many attempts fails; 0: none
};

// Their shares are those of what sidecars do, roughly: small unary calls above all.
constexpr Load kLoads[] = {
    {.listener = 0,
     .connections = 4,
     .streams = 32,
     .calls = 20'000,
     .message = 100,
     .metadata = 0},
    {.listener = 0,
     .connections = 1,
     .streams = 100,
     .calls = 10'000,
     .message = 100,
     .metadata = 1},
    {.listener = 0,
     .connections = 64,
     .streams = 1,
     .calls = 10'000,
     .message = 300,
     .metadata = 2},
    {.listener = 0, .connections = 4, .streams = 32, .calls = 5'000, .message = 100, .metadata = 8},
    {.listener = 1,
     .connections = 4,
     .streams = 32,
     .calls = 10'000,
     .message = 100,
     .metadata = 2},
    {.listener = 0,
     .connections = 8,
     .streams = 8,
     .calls = 5'000,
     .message = 100,
     .metadata = 2,
     .failures = 20},
    {.listener = 0, .connections = 1, .streams = 4, .calls = 40, .message = 1 << 20, .metadata = 0},
};

std::string Message(size_t size) {
  std::string message(kGrpcPrefix, '\0');
  for (size_t i = 0; i < 4; ++i) message[i + 1] = static_cast<char>(size >> (8 * (3 - i)));
  return message.append(size, 'm');
}

Chunk ToChunk(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// Answers each call with its own message, or fails it.
class Service final : public SessionPeer {
 public:
  // One of `failures` attempts fails; 0: none.
  Service(int fd, const int& failures)
      : SessionPeer(h2::Session::Role::kServer, fd), failures_(failures) {}

 private:
  class Attempt final : public h2::StreamHandler {
   public:
    Attempt(h2::Stream& stream, bool fails) : stream_(&stream), fails_(fails) {}
    bool done() const { return stream_ == nullptr; }

   private:
    void OnHead(Metadata&, bool) override {}
    void OnData(const Chunk& data) override {
      message_.push_back(data);
      stream_->Credit(data.size());
    }
    void OnEnd(Metadata*) override {
      stream_->head().Add(":status", "200");
      stream_->head().Add("content-type", "application/grpc");
      if (fails_) {
        stream_->head().Add("grpc-status", "14");
        stream_->SendHead(/*end=*/true);
      } else {
        stream_->SendHead(/*end=*/false);
        for (const Chunk& piece : message_) stream_->SendData(piece, /*end=*/false);
        stream_->trailers().Add("grpc-status", "0");
        stream_->SendTrailers();
      }
      std::exchange(stream_, nullptr)->Detach();
    }
    void OnSent(size_t) override {}
    void OnClosed(const StreamEnd&) override { stream_ = nullptr; }

    h2::Stream* stream_;
    const bool fails_;
    std::vector<Chunk> message_;
  };

  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata&, bool) override {
    attempts_.remove_if([](const Attempt& attempt) { return attempt.done(); });
    const bool fails = failures_ > 0 && ++count_ % failures_ == 0;
    return &attempts_.emplace_back(stream, fails);
  }

  const int& failures_;
  int count_ = 0;
  std::list<Attempt> attempts_;
};

// Keeps its streams busy until all calls of the load were made.
class Caller final : public SessionPeer {
 public:
  // `left`: the calls that all callers of the load have yet to make.
  Caller(int fd, const Load& load, int& left, Random& random)
      : SessionPeer(h2::Session::Role::kClient, fd),
        load_(load),
        message_(Message(load.message)),
        left_(left),
        random_(random) {}

  // Begins calls where there is room.
  void Begin() {
    calls_.remove_if([](const Call& call) { return call.done(); });
    while (left_ > 0 && calls_.size() < static_cast<size_t>(load_.streams)) {
      --left_;
      calls_.emplace_back(*this);
    }
  }

  bool idle() const { return calls_.empty(); }
  int good() const { return good_; }

 private:
  class Call final : public h2::StreamHandler {
   public:
    explicit Call(Caller& caller) : caller_(caller), stream_(&caller.session().Open(*this)) {
      Metadata& head = stream_->head();
      head.Add(":method", "POST");
      head.Add(":scheme", "http");
      head.Add(":path", "/bench.Echo/Unary");
      head.Add(":authority", "service:50051");
      head.Add("te", "trailers");
      head.Add("content-type", "application/grpc");
      head.Add("user-agent", "grpc-c++/1.51.1");
      head.Add("grpc-accept-encoding", "identity, deflate, gzip");
      for (int i = 0; i < caller.load_.metadata; ++i) {
        head.Add(absl::StrCat("x-metadata-", i), absl::StrCat(absl::Hex(caller.random_.Next())));
      }
      stream_->SendHead(/*end=*/false);
      stream_->SendData(ToChunk(caller.message_), /*end=*/true);
    }
    bool done() const { return stream_ == nullptr; }

   private:
    void OnHead(Metadata&, bool end) override {
      if (end) std::exchange(stream_, nullptr)->Detach();
    }
    void OnData(const Chunk& data) override { stream_->Credit(data.size()); }
    void OnEnd(Metadata* trailers) override {
      caller_.good_ += trailers != nullptr && trailers->Get("grpc-status") == "0" ? 1 : 0;
      std::exchange(stream_, nullptr)->Detach();
    }
    void OnSent(size_t) override {}
    void OnClosed(const StreamEnd&) override { stream_ = nullptr; }

    Caller& caller_;
    h2::Stream* stream_;
  };

  const Load load_;
  const std::string message_;
  int& left_;
  Random& random_;
  int good_ = 0;
  std::list<Call> calls_;
};

std::shared_ptr<const Snapshot> Configuration(const std::string& path) {
  return *ParseConfig("training", absl::StrCat(R"(
listeners: [{name: egress, address: "127.0.0.1:0"},
            {name: ingress, address: "127.0.0.1:0", direction: inbound}]
upstreams: [{name: service, endpoints: ["unix:)",
                                               path, R"("]}]
routes: [{match: {listener: ingress}, upstream: service, policy: protect}, {upstream: service}]
policies: [{name: default}, {name: protect, guard: {concurrency: {initial: 1000}}}]
)"));
}

class Training {
 public:
  Training() : snapshot_(Configuration(endpoint_.path())) {
    VirtualTime::Restart();
    worker_ =
        std::make_unique<VirtualWorker>(snapshot_, "service", snapshot_->endpoints.at("service"));
  }

  // How many calls were answered well.
  int Run(const Load& load) {
    failures_ = load.failures;
    int left = load.calls;
    std::list<Caller> callers;
    for (int i = 0; i < load.connections; ++i) {
      callers.emplace_back(worker_->Connect(load.listener), load, left, random_);
    }
    const auto idle = [](const Caller& caller) { return caller.idle(); };
    do {
      Turn(callers);
    } while (left > 0 || !std::all_of(callers.begin(), callers.end(), idle));
    int good = 0;
    for (const Caller& caller : callers) good += caller.good();
    return good;
  }

 private:
  void Turn(std::list<Caller>& callers) {
    for (Caller& caller : callers) {
      caller.Begin();
      caller.Pump();
    }
    for (int fd = endpoint_.Accept(); fd >= 0; fd = endpoint_.Accept()) {
      services_.emplace_back(fd, failures_);
    }
    for (Service& service : services_) service.Pump();
    worker_->Turn();
    VirtualTime::Advance(kTurn);
  }

  const VirtualEndpoint endpoint_;
  const std::shared_ptr<const Snapshot> snapshot_;
  Random random_{1};
  int failures_ = 0;
  std::list<Service> services_;
  std::unique_ptr<VirtualWorker> worker_;
};

int Train() {
  Training training;
  for (const Load& load : kLoads) {
    const int good = training.Run(load);
    std::printf("trained by %d of %d calls, %d x %d at a time\n", good, load.calls,
                load.connections, load.streams);
    if (good < load.calls * 9 / 10) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace levee

int main() { return levee::Train(); }
