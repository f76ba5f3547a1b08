// SPDX-License-Identifier: Apache-2.0
#include "upstream/pool_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "conn/http2_connection.h"
#include "h2/session.h"
#include "wire/status.h"

namespace levee {

// An action of a test on one of its server's connections.
class TestServer::Connection final : public Mortal,
                                     private h2::SessionHandler,
                                     private Http2ConnectionOwner {
 public:
  Connection(TestServer& server, net::ByteStream stream)
      : server_(server),
        connection_(server.io_, h2::Session::Role::kServer, std::move(stream),
                    {.session = {.max_concurrent_streams = server.max_streams_}},
                    static_cast<h2::SessionHandler&>(*this),
                    static_cast<Http2ConnectionOwner&>(*this)) {}

  void Close() { connection_.Close("the test ends it"); }
  void GoAway() { connection_.session().Shutdown(); }

  void Release() {
    for (const auto& request : requests_) {
      if (request->stream != nullptr) Answer(*std::exchange(request->stream, nullptr));
    }
  }

  void TakeBodies() {
    for (const auto& request : requests_) {
      if (request->stream != nullptr) request->stream->Credit(std::exchange(request->come, 0));
    }
  }

 private:
  // A call that is not answered yet.
  struct Request final : h2::StreamHandler {
    void OnHead(Metadata&, bool) override {}
    void OnData(const Chunk& data) override { come += data.size(); }
    void OnEnd(Metadata*) override {}
    void OnSent(size_t) override {}
    void OnClosed(const StreamEnd&) override { stream = nullptr; }
    h2::Stream* stream = nullptr;
    size_t come = 0;  // bytes of the body, since TakeBodies
  };

  void Answer(h2::Stream& stream) {
    stream.head().Add(":status", "200");
    stream.head().Add("content-type", "application/grpc");
    if (server_.body_.empty()) {
      stream.head().Add("grpc-status", "0");
      stream.SendHead(/*end=*/true);
    } else {
      stream.SendHead(/*end=*/false);
      const auto* const bytes = reinterpret_cast<const uint8_t*>(server_.body_.data());
      stream.SendData(Chunk::Copy({bytes, server_.body_.size()}), /*end=*/false);
      stream.trailers().Add("grpc-status", "0");
      stream.SendTrailers();
    }
    stream.Detach();
  }

  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata&, bool) override {
    ++server_.calls_;
    if (server_.broken_) {
      stream.Reset(kResetInternalError);
      return nullptr;
    }
    if (!server_.hold_) {
      Answer(stream);
      return nullptr;
    }
    requests_.push_back(std::make_unique<Request>());
    requests_.back()->stream = &stream;
    return requests_.back().get();
  }
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view what) override { ADD_FAILURE() << what; }
  void OnLimit(h2::SessionLimit limit) override {
    // A pool may use every place that the server offers.
    EXPECT_EQ(limit, h2::SessionLimit::kStreams);
  }
  void OnConnected() override {}
  void OnConnectionClosed(const std::string&) override {
    const auto at = std::find_if(server_.connections_.begin(), server_.connections_.end(),
                                 [this](const auto& held) { return held.get() == this; });
    server_.io_.graveyard.Bury(std::move(*at));
    server_.connections_.erase(at);
  }

  TestServer& server_;
  std::vector<std::unique_ptr<Request>> requests_;  // outlive the streams that refer to them
  Http2Connection connection_;
};

TestServer::TestServer(WorkerIo& io, const net::Address& address, uint32_t max_streams)
    : io_(io), max_streams_(max_streams) {
  auto listener = net::Listener::Open(io.loop, io.wheel, address, [this](net::ByteStream stream) {
    ++accepted_;
    if (deaf_) {
      deaf_ones_.push_back(std::move(stream));
    } else {
      connections_.push_back(std::make_unique<Connection>(*this, std::move(stream)));
    }
  });
  EXPECT_TRUE(listener.ok()) << listener.status();
  listener_ = *std::move(listener);
}

TestServer::~TestServer() { Close(); }

int TestServer::connections() const { return static_cast<int>(connections_.size()); }

void TestServer::Release() {
  hold_ = false;
  for (const auto& connection : connections_) connection->Release();
}

void TestServer::TakeBodies() {
  for (const auto& connection : connections_) connection->TakeBodies();
}

void TestServer::Close() {
  listener_.reset();
  HangUp();
}

void TestServer::HangUp() {
  while (!connections_.empty()) connections_.back()->Close();
}

void TestServer::GoAway() {
  for (const auto& connection : connections_) connection->GoAway();
}

void TestCall::Cancel() {
  Withdraw();
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Reset(kResetCancel);
}

void TestCall::OnOpened(UpstreamConnection& taken, h2::Stream& stream, int64_t on) {
  stream_ = &stream;
  connection = &taken;
  endpoint = on;
  stream.head().Add(":method", "POST");
  stream.head().Add(":scheme", "http");
  stream.head().Add(":path", path);
  stream.head().Add(":authority", "test");
  stream.head().Add("content-type", "application/grpc");
  stream.SendHead(/*end=*/body.empty());
  const auto* const bytes = reinterpret_cast<const uint8_t*>(body.data());
  if (!body.empty()) stream.SendData(Chunk::Copy({bytes, body.size()}), /*end=*/!more_follows);
}

void TestCall::OnOpenFailed(const std::string& reason, bool self) {
  ended = true;
  failure = reason;
  to_self = self;
  kept_.resize(keeps_when_failed);
}

void TestCall::OnHead(Metadata& head, bool end) {
  status = std::string(head.Get("grpc-status")) + " " + std::string(head.Get("grpc-message"));
  answered = end;
  ended = true;
}

void TestCall::OnClosed(const StreamEnd& end) {
  ended = true;
  stalled = end.cause == StreamEnd::Cause::kStalled;
  stream_ = nullptr;
}

PoolRun::~PoolRun() {
  calls_.clear();
  pool.reset();
  servers.clear();
  io.EndTurn(loop.now());
}

TestServer& PoolRun::Serve(const std::string& host, uint16_t port, uint32_t max_streams) {
  servers.push_back(
      std::make_unique<TestServer>(io, *net::Address::FromIp(host, port), max_streams));
  return *servers.back();
}

Pool& PoolRun::Open(const std::vector<Pool::Target>& targets) {
  pool = std::make_unique<Pool>(io, resolver, policy, random, series, targets);
  return *pool;
}

Pool::Target PoolRun::TargetOf(const TestServer& server) const {
  const std::string text = server.address().ToString();
  return {.host = text.substr(0, text.rfind(':')), .port = server.address().port(), .path = ""};
}

Instant PoolRun::OnTurnEnd(Instant now) {
  io.EndTurn(now);
  if (condition_ != nullptr && ((*condition_)() || now >= give_up_)) {
    condition_ = nullptr;
    loop.Stop();
  }
  return io.next_turn_is_due() ? now : std::min(io.wheel.NextWakeup(), give_up_);
}

void PoolRun::Until(const std::function<bool()>& condition) {
  condition_ = &condition;
  give_up_ = loop.now() + absl::Hours(1);
  loop.Run();
  EXPECT_TRUE(condition());
}

void PoolRun::Pass(absl::Duration span) {
  struct Alarm final : Timer {
    void OnTimer(Instant) override { rang = true; }
    bool rang = false;
  } alarm;
  io.wheel.Arm(alarm, loop.now() + span);
  Until([&] { return alarm.rang; });
}

std::string PoolRun::CallOne() {
  calls_.push_back(std::make_unique<TestCall>(*pool));
  TestCall& call = *calls_.back();
  call.Start();
  Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered) << call.failure;
  return pool->EndpointName(call.endpoint);
}

}  // namespace levee
