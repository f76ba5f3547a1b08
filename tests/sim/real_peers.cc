// SPDX-License-Identifier: Apache-2.0
#include "sim/real_peers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "wire/status.h"
#include "wire/timeout.h"
#include "wire/traceparent.h"

namespace levee {
namespace {

constexpr std::string_view kCallNumber = "x-call";

Chunk ToChunk(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

constexpr size_t kPrefix = 5;

// A step of an answer is one message. It goes as gRPC frames it.
std::string Framed(std::string_view message) {
  std::string frame(kPrefix, '\0');
  frame.back() = static_cast<char>(message.size());
  return frame.append(message);
}

// The messages of a body that is such frames.
std::string Unframed(std::string_view body) {
  std::string messages;
  while (!body.empty()) {
    LEVEE_CHECK(body.size() >= kPrefix);
    const auto size = static_cast<size_t>(body[kPrefix - 1]);
    messages.append(body.substr(kPrefix, size));
    body.remove_prefix(std::min(kPrefix + size, body.size()));
  }
  return messages;
}

int NumberOf(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void Fill(Metadata& list, const Answer::Fields& fields) {
  for (const auto& [name, value] : fields) list.Add(name, value);
}

}  // namespace

// Plays the answer to one attempt, and keeps what it sees in the stage.
class RealUpstream::Attempt final : public h2::StreamHandler {
 public:
  Attempt(h2::Stream& stream, RealStage& stage, size_t call, size_t place)
      : stream_(&stream), stage_(stage), call_(call), place_(place) {
    const std::vector<Answer>& answers = stage.twin.calls[call].answers;
    answer_ = answers[std::min(place, answers.size() - 1)];
    for (size_t i = 0; i < answer_.steps().size(); ++i) {
      stage.clock.After(answer_.TimeOf(i), [this, i] { Play(answer_.steps()[i]); });
    }
  }

 private:
  SeenAttempt& seen() { return stage_.attempts[call_][place_]; }

  void Play(const Answer::Step& step) {
    using Kind = Answer::Step::Kind;
    if (stream_ == nullptr) return;
    seen().answered_at = stage_.now();
    for (const SeenAttempt& other : stage_.attempts[call_]) {
      stage_.tied = stage_.tied || (&other != &seen() && other.answered_at == stage_.now());
    }
    if (step.kind == Kind::kHead) {
      Fill(stream_->head(), step.fields);
      stream_->SendHead(step.end);
      if (step.end) End();
    } else if (step.kind == Kind::kMessage) {
      stream_->SendData(ToChunk(Framed(step.bytes)), /*end=*/false);
    } else if (step.kind == Kind::kTrailers) {
      Fill(stream_->trailers(), step.fields);
      step.fields.empty() ? stream_->SendData(Chunk(), /*end=*/true) : stream_->SendTrailers();
      End();
    } else {
      LEVEE_CHECK(step.kind == Kind::kClosed && step.close.cause == StreamEnd::Cause::kReset);
      std::exchange(stream_, nullptr)->Reset(step.close.error_code);
    }
  }

  void End() { std::exchange(stream_, nullptr)->Detach(); }

  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk& data) override {
    seen().received.append(reinterpret_cast<const char*>(data.data()), data.size());
    stream_->Credit(data.size());
  }
  void OnEnd(Metadata*) override { seen().half_closed = true; }
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override {
    stream_ = nullptr;
    seen().cancelled_at = stage_.now();
  }

  h2::Stream* stream_;
  RealStage& stage_;
  const size_t call_;
  const size_t place_;  // among the call's attempts
  Answer answer_;
};

RealUpstream::RealUpstream(int fd, int endpoint, RealStage& stage)
    : SessionPeer(h2::Session::Role::kServer, fd), endpoint_(endpoint), stage_(stage) {}

RealUpstream::~RealUpstream() = default;

h2::StreamHandler* RealUpstream::OnRequest(h2::Stream& stream, Metadata& head, bool end) {
  const auto call = static_cast<size_t>(NumberOf(head.Get(kCallNumber)));
  std::vector<SeenAttempt>& attempts = stage_.attempts.at(call);
  SeenAttempt& seen = attempts.emplace_back();
  seen.endpoint = endpoint_;
  seen.at = stage_.now();
  seen.previous_attempts = NumberOf(head.Get("grpc-previous-rpc-attempts"));
  seen.timeout = ParseGrpcTimeout(head.Get("grpc-timeout")).value_or(absl::InfiniteDuration());
  if (const auto trace = TraceparentOf(head)) seen.span = trace->parent_id;
  seen.half_closed = end;
  attempts_.push_back(std::make_unique<Attempt>(stream, stage_, call, attempts.size() - 1));
  return attempts_.back().get();
}

class RealCaller::Call final : public h2::StreamHandler {
 public:
  Call(h2::Session& session, RealStage& stage, size_t n)
      : stage_(stage), call_(stage.twin.calls[n]), stream_(&session.Open(*this)) {
    Metadata& head = stream_->head();
    head.Add(":method", "POST");
    head.Add(":scheme", "http");
    head.Add(":path", "/shop.Cart/Add");
    head.Add(":authority", "cart:1");
    head.Add("te", "trailers");
    head.Add("content-type", "application/grpc");
    head.Add(kCallNumber, std::to_string(n));
    if (call_.timeout < absl::InfiniteDuration()) {
      head.Add("grpc-timeout", GrpcTimeoutText(call_.timeout).view());
    }
    if (call_.previous_attempts > 0) {
      head.Add("grpc-previous-rpc-attempts", std::to_string(call_.previous_attempts));
    }
    const bool ends = call_.end_at == absl::ZeroDuration();
    stream_->SendHead(ends && call_.body.empty());
    if (!call_.body.empty()) stream_->SendData(ToChunk(call_.body), ends);
    if (!ends && call_.end_at) stage_.clock.After(*call_.end_at, [this] { HalfClose(); });
    if (call_.leave_at) stage_.clock.After(*call_.leave_at, [this] { Leave(); });
  }

  bool done() const { return stream_ == nullptr; }
  const std::string& answer() const { return answer_; }

 private:
  void HalfClose() {
    if (stream_ != nullptr) stream_->SendData(Chunk(), /*end=*/true);
  }
  void Leave() {
    if (stream_ == nullptr) return;
    std::exchange(stream_, nullptr)->Reset(kResetCancel);
    answer_ = "  the caller left\n";
  }
  void End(Metadata& fields) {
    fields.Remove(":status");
    fields.Remove("content-type");
    answer_ = TextOfAnswer(head_, Unframed(body_), fields, stage_.now());
  }

  void OnHead(Metadata& head, bool end) override {
    head_ = !end;
    if (!end) return;
    End(head);
    std::exchange(stream_, nullptr)->Detach();
  }
  void OnData(const Chunk& data) override {
    body_.append(reinterpret_cast<const char*>(data.data()), data.size());
    stream_->Credit(data.size());
  }
  void OnEnd(Metadata* trailers) override {
    LEVEE_CHECK(trailers != nullptr);
    End(*trailers);
    std::exchange(stream_, nullptr)->Detach();
  }
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override { stream_ = nullptr; }

  RealStage& stage_;
  const TwinCall& call_;
  h2::Stream* stream_;
  bool head_ = false;
  std::string body_;
  std::string answer_;
};

RealCaller::RealCaller(int fd, RealStage& stage)
    : SessionPeer(h2::Session::Role::kClient, fd), stage_(stage) {}

RealCaller::~RealCaller() = default;

void RealCaller::Start(size_t n) { calls_.push_back(std::make_unique<Call>(session(), stage_, n)); }

bool RealCaller::done() const {
  return calls_.size() == stage_.twin.calls.size() &&
         std::all_of(calls_.begin(), calls_.end(), [](const auto& call) { return call->done(); });
}

const std::string& RealCaller::answer(size_t n) const { return calls_.at(n)->answer(); }

}  // namespace levee
