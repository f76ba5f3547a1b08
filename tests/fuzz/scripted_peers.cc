// SPDX-License-Identifier: Apache-2.0
#include "fuzz/scripted_peers.h"

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {
namespace {

constexpr size_t kLargeAnswer = 100'000;

Chunk ToChunk(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

void FillResponseHead(h2::Stream& stream) {
  stream.head().Add(":status", "200");
  stream.head().Add("content-type", "application/grpc");
}

}  // namespace

class ScriptedUpstream::Request final : public h2::StreamHandler {
 public:
  Request(h2::Stream& stream, uint8_t way) : stream_(&stream), way_(way) {}

  // The head has come; false: the request is over.
  bool Begin(bool end) {
    switch (way_ % 8) {
      case 1:
        FillResponseHead(*stream_);
        stream_->head().Add("grpc-status", "14");
        stream_->head().Add("grpc-message", "busy");
        stream_->SendHead(/*end=*/true);
        stream_->Detach();
        return false;
      case 2:
        stream_->Reset(kResetRefusedStream);
        return false;
      case 3:
        FillResponseHead(*stream_);
        stream_->SendHead(/*end=*/false);
        stream_->Reset(kResetCancel);
        return false;
      default:
        if (end) OnEnd(nullptr);
        return true;
    }
  }

 private:
  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk& data) override {
    if (way_ % 8 != 4) stream_->Credit(data.size());
  }
  void OnEnd(Metadata*) override {
    if (way_ % 8 == 5) return;  // Silent for ever.
    FillResponseHead(*stream_);
    stream_->SendHead(/*end=*/false);
    stream_->SendData(ToChunk(std::string(way_ % 8 == 6 ? kLargeAnswer : 4, 'x')), /*end=*/false);
    stream_->trailers().Add("grpc-status", way_ % 8 == 7 ? "14" : "0");
    stream_->SendTrailers();
  }
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override { stream_ = nullptr; }

  h2::Stream* stream_;
  const uint8_t way_;
};

ScriptedUpstream::ScriptedUpstream(int fd, std::string_view script, size_t& requests)
    : SessionPeer(h2::Session::Role::kServer, fd), script_(script), requests_(requests) {}

ScriptedUpstream::~ScriptedUpstream() = default;

h2::StreamHandler* ScriptedUpstream::OnRequest(h2::Stream& stream, Metadata& head, bool end) {
  LEVEE_CHECK(head.Get(":method") == "POST" && !head.Has("connection"));
  const auto way = static_cast<uint8_t>(script_[requests_++ % script_.size()]);
  auto request = std::make_unique<Request>(stream, way);
  if (!request->Begin(end)) return nullptr;
  open_.push_back(std::move(request));
  return open_.back().get();
}

class Caller::Call final : public h2::StreamHandler {
 public:
  void Open(h2::Session& session, std::string_view body, bool end) {
    stream_ = &session.Open(*this);
    Metadata& head = stream_->head();
    head.Add(":method", "POST");
    head.Add(":scheme", "http");
    head.Add(":path", "/shop.C/Get");
    head.Add(":authority", "shop:1");
    head.Add("te", "trailers");
    head.Add("content-type", "application/grpc");
    stream_->SendHead(/*end=*/false);
    Send(body, end);
  }

  void Send(std::string_view body, bool end) {
    if (stream_ == nullptr || half_closed_) return;
    half_closed_ = end;
    if (end || !body.empty()) stream_->SendData(ToChunk(body), end);
  }

  void Reset() {
    if (stream_ == nullptr) return;
    std::exchange(stream_, nullptr)->Reset(kResetCancel);
    left_ = true;
  }

  bool answered() const { return left_ || ended_ || closed_; }

 private:
  void OnHead(Metadata& head, bool end) override {
    LEVEE_CHECK(!has_head_ && !ended_ && head.Get(":status") == "200");
    has_head_ = true;
    if (end) End(head);
  }
  void OnData(const Chunk& data) override {
    LEVEE_CHECK(has_head_ && !ended_);
    stream_->Credit(data.size());
  }
  void OnEnd(Metadata* trailers) override {
    // DATA with END_STREAM would leave the caller without a status.
    LEVEE_CHECK(has_head_ && !ended_ && trailers != nullptr);
    End(*trailers);
  }
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override {
    LEVEE_CHECK(!closed_);
    closed_ = true;
    stream_ = nullptr;
  }
  void End(const Metadata& trailers) {
    LEVEE_CHECK(trailers.Has("grpc-status"));
    ended_ = true;
  }

  h2::Stream* stream_ = nullptr;
  bool half_closed_ = false;
  bool left_ = false;
  bool has_head_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

Caller::Caller(int fd) : SessionPeer(h2::Session::Role::kClient, fd) {}

Caller::~Caller() = default;

void Caller::Start(std::string_view body, bool end) {
  if (!open() || session().FreeSlots() <= 0) return;
  calls_.push_back(std::make_unique<Call>());
  calls_.back()->Open(session(), body, end);
}

void Caller::Send(size_t call, std::string_view body, bool end) {
  calls_.at(call)->Send(body, end);
}

void Caller::Reset(size_t call) { calls_.at(call)->Reset(); }

void Caller::CheckAnswered() const {
  for (const auto& call : calls_) LEVEE_CHECK(call->answered());
}

}  // namespace levee
