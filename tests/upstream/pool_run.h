// SPDX-License-Identifier: Apache-2.0
// A pool on a real loop, with HTTP/2 servers on it that a test scripts: no thread, loopback only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/block_string.h"
#include "log/event_text.h"
#include "net/closed_port.h"
#include "net/dns_on_loop.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/resolver.h"
#include "upstream/pool.h"

namespace levee {

// A server on a port or path. It answers a call at once, unless told to hold calls.
class TestServer {
 public:
  TestServer(WorkerIo& io, const net::Address& address, uint32_t max_streams = 100);
  ~TestServer();

  const net::Address& address() const { return listener_->address(); }
  int calls() const { return calls_; }
  int connections() const;  // open ones
  int accepted() const { return accepted_; }

  // Calls are not answered from now on, until Release.
  void Hold() { hold_ = true; }
  void Release();

  // Lets the callers of held calls send as many bytes more as have come.
  void TakeBodies();

  // Those that come from now on are answered, and those that are held stay so.
  void AnswerNew() { hold_ = false; }

  // Answers have this body from now on.
  void AnswerWith(std::string body) { body_ = std::move(body); }

  // Calls are answered with RST_STREAM(INTERNAL_ERROR).
  void Break() { broken_ = true; }

  // Connections are accepted, but nothing is read from them.
  void GoDeaf() { deaf_ = true; }

  // Closes the connections, and takes new ones.
  void HangUp();

  // Closes the connections and listens no more.
  void Close();

  // Takes no more connections; those that are open stay.
  void ListenNoMore() { listener_.reset(); }

  // GOAWAY on all connections.
  void GoAway();

 private:
  class Connection;
  friend class Connection;

  WorkerIo& io_;
  const uint32_t max_streams_;
  int calls_ = 0;
  int accepted_ = 0;
  bool hold_ = false;
  std::string body_;
  bool broken_ = false;
  bool deaf_ = false;
  std::vector<net::ByteStream> deaf_ones_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unique_ptr<net::Listener> listener_;
};

// Wants one stream, sends a call, and keeps what comes of it.
class TestCall final : public StreamUser {
 public:
  explicit TestCall(Pool& pool) : pool_(pool) {}
  ~TestCall() { Cancel(); }

  void Start(const std::vector<int64_t>& to_avoid = {}, const std::vector<int64_t>& never = {}) {
    pool_.Open(*this, to_avoid, never);
  }
  void Cancel();

  std::string path = "/a.B/C";   // of the method that it calls
  std::string body;              // of the request
  bool more_follows = false;     // as of a stream: the body does not end
  size_t keeps_when_failed = 0;  // bytes that it obtains as it fails to open, as an answer does

  int64_t endpoint = -1;
  const UpstreamConnection* connection = nullptr;  // that it took, if only to compare
  bool ended = false;                              // answered, reset, lost or failed to open
  bool answered = false;
  bool stalled = false;  // it ended as the server did not take its body
  std::string status;    // grpc-status and grpc-message of the answer: "0 "
  std::string failure;   // of opening
  bool to_self = false;

 private:
  void OnOpened(UpstreamConnection&, h2::Stream& stream, int64_t on) override;
  void OnOpenFailed(const std::string& reason, bool self) override;
  void OnHead(Metadata&, bool end) override;
  void OnData(const Chunk&) override {}
  void OnEnd(Metadata*) override {}
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd& end) override;

  Pool& pool_;
  h2::Stream* stream_ = nullptr;
  BlockString kept_;
};

// The programs of which this is all run it on JumpingTime (tests/virtual/whole_program.cc): the
// loop's time stands still while there is something to do.
class PoolRun final : private net::TurnHandler {
 public:
  PoolRun() : dns(loop), io(loop, worker_series, log), resolver(loop, io.wheel, dns.address()) {
    loop.SetTurnHandler(this);
  }
  ~PoolRun();

  TestServer& Serve(const std::string& host = "127.0.0.1", uint16_t port = 0,
                    uint32_t max_streams = 100);
  Pool& Open(const std::vector<Pool::Target>& targets);
  Pool::Target TargetOf(const TestServer& server) const;
  static Pool::Target TargetOf(const ClosedPort& port) {
    return {.host = "127.0.0.1", .port = port.port(), .path = ""};
  }

  // Turns until `condition` holds; a failure after an hour of the loop's time.
  void Until(const std::function<bool()>& condition);

  // Turns for this long.
  void Pass(absl::Duration span);

  // The endpoint of one more call, which is answered.
  std::string CallOne();

  int64_t Endpoints(EndpointState state) const {
    return EndpointCensus::Count({&series.endpoints}).at(static_cast<size_t>(state));
  }

  net::EventLoop loop;
  DnsOnLoop dns;
  WorkerSeries worker_series;
  std::vector<std::string> log_lines;  // of the level info and above
  EventLog log{LogLevel::kInfo,
               [this](const LogEvent& event) { log_lines.push_back(EventText(event)); }};
  WorkerIo io;
  net::Resolver resolver;
  Random random{1};
  UpstreamSeries series;
  std::vector<net::Address> own_listeners;
  // To connect may take as long as on a machine that does other things as well.
  ConnectPolicy policy{.connect_timeout = absl::Seconds(20), .own_listeners = &own_listeners};
  std::vector<std::unique_ptr<TestServer>> servers;
  std::unique_ptr<Pool> pool;

 private:
  Instant OnTurnEnd(Instant now) override;

  const std::function<bool()>* condition_ = nullptr;
  Instant give_up_;
  std::vector<std::unique_ptr<TestCall>> calls_;
};

}  // namespace levee
