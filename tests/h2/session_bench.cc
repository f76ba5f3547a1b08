// SPDX-License-Identifier: Apache-2.0
// The cost of calls through two sessions back to back: what both of them do, without sockets.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/chunk.h"
#include "benchmark/benchmark.h"
#include "h2/output_buffer.h"
#include "h2/session.h"
#include "h2/stream.h"

namespace levee::h2 {
namespace {

// Ignores what happens and counts the bodies, whose window it returns at once.
class Sink : public StreamHandler {
 public:
  virtual ~Sink() = default;
  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk& data) override {
    bytes += data.size();
    stream->Credit(data.size());
  }
  void OnEnd(Metadata*) override {}
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override { stream = nullptr; }

  Stream* stream = nullptr;
  size_t bytes = 0;
};

// Answers each call when its request has ended.
class Service final : public SessionHandler, public OutputHandler {
 public:
  explicit Service(const Chunk& answer) : answer_(answer) {}

  StreamHandler* OnRequest(Stream& stream, Metadata&, bool) override {
    calls_.push_back(new Call(*this, stream));
    return calls_.back();
  }
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view) override { LEVEE_CHECK(false); }
  void OnLimit(SessionLimit) override { LEVEE_CHECK(false); }
  void OnOutputPending() override {}

  void Clear() {
    for (Call* call : calls_) delete call;
    calls_.clear();
  }

 private:
  class Call final : public Sink {
   public:
    Call(Service& service, Stream& its_stream) : service_(service) { stream = &its_stream; }
    void OnEnd(Metadata*) override {
      stream->head().Add(":status", "200");
      stream->head().Add("content-type", "application/grpc");
      stream->SendHead(false);
      stream->SendData(service_.answer_, false);
      stream->trailers().Add("grpc-status", "0");
      stream->SendTrailers();
    }

   private:
    Service& service_;
  };

  const Chunk answer_;
  std::vector<Call*> calls_;
};

class Caller final : public SessionHandler, public OutputHandler {
 public:
  StreamHandler* OnRequest(Stream&, Metadata&, bool) override { return nullptr; }
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view) override { LEVEE_CHECK(false); }
  void OnLimit(SessionLimit) override { LEVEE_CHECK(false); }
  void OnOutputPending() override {}
};

Chunk Message(size_t bytes) { return Chunk::Copy(std::vector<uint8_t>(bytes, 'x')); }

struct Pair {
  explicit Pair(size_t bytes) : message(Message(bytes)), service(message) { Pump(); }
  ~Pair() { service.Clear(); }

  // Carries bytes both ways until both sides are silent.
  void Pump() {
    while (Carry(client, server) | Carry(server, client)) {
    }
  }

  // `end`: the request is complete, so that it is answered.
  void Open(Sink& sink, bool end) {
    Stream& stream = client.Open(sink);
    sink.stream = &stream;
    stream.head().Add(":method", "POST");
    stream.head().Add(":scheme", "http");
    stream.head().Add(":path", "/levee.demo.v1.Shop/AddItem");
    stream.head().Add(":authority", "shop.default.svc.cluster.local:50051");
    stream.head().Add("te", "trailers");
    stream.head().Add("content-type", "application/grpc");
    stream.SendHead(false);
    stream.SendData(message, end);
  }

  const Chunk message;
  Caller caller;
  Service service;
  StreamPool pool;
  OutputBuffer out{OutputBuffer::kMinimum * 4};
  Instant now;
  Session client{Session::Role::kClient, {}, caller, caller, pool};
  Session server{Session::Role::kServer, {}, service, service, pool};

 private:
  bool Carry(Session& from, Session& to) {
    bool carried = false;
    for (bool more = true; more;) {
      more = from.Serialize(out);
      for (const ByteSpan piece : out.pieces()) {
        carried = true;
        LEVEE_CHECK(to.Receive(piece, now));
      }
      out.Clear();
    }
    now = now + absl::Microseconds(100);
    return carried;
  }
};

// Arguments: calls at a time, bytes of the request and of the answer.
void Calls(benchmark::State& state) {
  Pair pair(static_cast<size_t>(state.range(1)));
  std::vector<Sink> sinks(static_cast<size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    for (Sink& sink : sinks) pair.Open(sink, true);
    pair.Pump();
    for (const Sink& sink : sinks) LEVEE_CHECK(sink.stream == nullptr);
    pair.service.Clear();
  }
}

// Calls that are cancelled before they are answered, and a PING with each.
void CancelledCalls(benchmark::State& state) {
  Pair pair(100);
  for ([[maybe_unused]] auto _ : state) {
    Sink sink;
    pair.Open(sink, false);
    pair.client.SendPing();
    pair.Pump();
    sink.stream->Reset(8);
    pair.Pump();
    pair.service.Clear();
  }
}

BENCHMARK(Calls)->Name("SessionCalls")->Args({1, 100})->Args({32, 100})->Args({8, 100'000});
BENCHMARK(CancelledCalls)->Name("SessionCancelledCalls");

}  // namespace
}  // namespace levee::h2
