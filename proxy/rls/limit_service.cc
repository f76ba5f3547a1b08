// SPDX-License-Identifier: Apache-2.0
#include "rls/limit_service.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/about_deadline.h"
#include "base/text.h"
#include "base/timer_wheel.h"
#include "h2/stream.h"
#include "rls/limit_message.h"
#include "wire/content_type.h"
#include "wire/status.h"
#include "wire/timeout.h"

namespace levee {
namespace {

// An answer has some hundred bytes.
constexpr size_t kMostAnswerBytes = 64 * 1024;

// Wants a stream for a moment, which makes a pool connect.
class Starter final : public StreamUser {
 private:
  void OnOpened(UpstreamConnection&, h2::Stream& stream, int64_t) override {
    stream.Reset(kResetCancel);
  }
  void OnOpenFailed(const std::string&, bool) override {}
  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk&) override {}
  void OnEnd(Metadata*) override {}
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override {}
};

}  // namespace

// One call of the service, which owns it.
class LimitService::Question final : public Mortal, public StreamUser, private Timer {
 public:
  Question(LimitService& service, std::string frame, int64_t hits, absl::Duration timeout,
           Done done)
      : service_(service),
        frame_(std::move(frame)),
        hits_(hits),
        deadline_(service.io_.loop.now() + timeout),
        done_(std::move(done)) {
    service.io_.wheel.Arm(*this, deadline_);
  }
  ~Question() override { LetGo(); }

  void Start() { service_.pool_.Open(*this, {}, {}); }
  void Tell(const absl::StatusOr<LeaseGrant>& answer) { done_(answer); }

  // Nothing comes from now on.
  void LetGo() {
    Timer::Unlink();
    StreamUser::Withdraw();
    if (stream_ != nullptr) std::exchange(stream_, nullptr)->Reset(kResetCancel);
  }

 private:
  void OnOpened(UpstreamConnection&, h2::Stream& stream, int64_t endpoint) override {
    stream_ = &stream;
    endpoint_ = endpoint;
    opened_ = service_.io_.loop.now();
    Metadata& head = stream.head();
    head.Add(":method", "POST");
    head.Add(":scheme", "http");
    head.Add(":path", kShouldRateLimit);
    head.Add(":authority", service_.address_);
    head.Add("te", "trailers");
    head.Add("content-type", "application/grpc");
    head.Add("user-agent", "levee");
    head.Add("grpc-timeout", GrpcTimeoutText(deadline_ - opened_).view());
    stream.SendHead(false);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(frame_.data());
    stream.SendData(Chunk::Copy({bytes, frame_.size()}), true);
  }

  void OnOpenFailed(const std::string& reason, bool /*to_self*/) override {
    End(absl::UnavailableError(reason));
  }

  void OnHead(Metadata& head, bool end) override {
    if (head.Get(":status") != "200" || !IsGrpcContentType(head.Get("content-type"))) {
      End(absl::InternalError("its answer is none of gRPC's"));
    } else if (end) {
      OnTrailers(head);
    }
  }

  void OnData(const Chunk& data) override {
    stream_->Credit(data.size());
    if (answer_.size() + data.size() > kMostAnswerBytes) {
      return End(absl::InternalError("its answer is too long"));
    }
    answer_.append(reinterpret_cast<const char*>(data.data()), data.size());
  }

  void OnEnd(Metadata* trailers) override {
    const Metadata none;
    OnTrailers(trailers != nullptr ? *trailers : none);
  }

  void OnSent(size_t) override {}

  void OnClosed(const StreamEnd&) override {
    stream_ = nullptr;
    // The service may see the deadline pass first.
    const bool late = IsAboutDeadline(service_.io_.loop.now(), opened_, deadline_);
    End(late ? NoAnswer()
             : absl::UnavailableError("the connection was lost, or the call was reset"));
  }

  // A pool keeps its users waiting for a while if an endpoint may come back.
  void OnTimer(Instant) override {
    End(endpoint_ < 0 ? absl::UnavailableError("there is no connection") : NoAnswer());
  }

  void OnTrailers(const Metadata& trailers) {
    if (stream_->queued_bytes() == 0) std::exchange(stream_, nullptr)->Detach();
    const auto code = ParseGrpcStatus(trailers.Get("grpc-status"));
    if (code == StatusCode::kOk) return End(ReadLimitResponse(answer_, hits_));
    if (code == StatusCode::kDeadlineExceeded) return End(NoAnswer());
    const std::string name(StatusCodeName(code.value_or(StatusCode::kUnknown)));
    End(absl::InternalError(
        absl::StrCat("it answers ", name, ": ", Abseil(trailers.Get("grpc-message")))));
  }

  static absl::Status NoAnswer() { return absl::DeadlineExceededError("it does not answer"); }

  void End(const absl::StatusOr<LeaseGrant>& answer) {
    if (endpoint_ >= 0) {
      const absl::Duration took = service_.io_.loop.now() - opened_;
      if (answer.ok()) {
        service_.pool_.OnAnswer(endpoint_);
      } else {
        service_.pool_.OnGivenUp(endpoint_, took);
      }
      const auto latency = answer.ok() ? std::optional(took) : std::nullopt;
      service_.pool_.OnAttemptEnded(endpoint_, answer.ok(), latency);
    }
    service_.End(*this, answer);
  }

  LimitService& service_;
  const std::string frame_;
  const int64_t hits_;
  const Instant deadline_;
  Done done_;
  h2::Stream* stream_ = nullptr;
  int64_t endpoint_ = -1;
  Instant opened_;
  std::string answer_;
};

std::string LimitService::AddressText(const std::string& host, uint16_t port) {
  const bool literal = host.find(':') != std::string::npos;
  return literal ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

LimitService::LimitService(WorkerIo& io, net::Resolver& resolver, Random& random,
                           const std::string& host, uint16_t port)
    : io_(io),
      address_(AddressText(host, port)),
      connect_{.upstream = address_, .own_listeners = &own_listeners_},
      pool_(io, resolver, connect_, random, series_,
            {Pool::Target{.host = host, .port = port, .path = ""}}) {
  Starter starter;
  pool_.Open(starter, {}, {});
}

LimitService::~LimitService() {
  for (const auto& [key, question] : std::exchange(questions_, {})) {
    question->LetGo();
    question->Tell(absl::UnavailableError("the service is not asked any more"));
  }
  pool_.Close();
  // Its connections are told of their end before the pool is gone.
  io_.EndTurn(io_.loop.now());
}

void LimitService::Ask(std::string frame, int64_t hits, absl::Duration timeout, Done done) {
  if (questions_.size() >= kMostPending) {
    return done(absl::ResourceExhaustedError("too many requests are under way"));
  }
  auto question =
      std::make_unique<Question>(*this, std::move(frame), hits, timeout, std::move(done));
  Question& asked = *question;
  questions_.emplace(&asked, std::move(question));
  asked.Start();
}

void LimitService::End(Question& question, const absl::StatusOr<LeaseGrant>& answer) {
  question.LetGo();
  const auto found = questions_.find(&question);
  std::unique_ptr<Question> ended = std::move(found->second);
  questions_.erase(found);
  Question& told = *ended;
  io_.graveyard.Bury(std::move(ended));
  told.Tell(answer);
}

bool LimitService::Connected(std::string& reason) {
  for (const EndpointView& view : pool_.View()) {
    if (view.state == "ready") return true;
    if (!view.failure.empty()) reason = view.failure;
  }
  return false;
}

}  // namespace levee
