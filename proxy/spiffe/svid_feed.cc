// SPDX-License-Identifier: Apache-2.0
#include "spiffe/svid_feed.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "net/event_loop.h"

namespace levee {
namespace {

// A channel of one stream: when to connect again is the feed's affair, and not the library's.
std::shared_ptr<grpc::Channel> NewChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(socket, grpc::InsecureChannelCredentials(), arguments);
}

std::string ReasonOf(const grpc::Status& status) {
  const auto code = static_cast<StatusCode>(status.error_code());
  if (code == StatusCode::kOk) return "the API has ended the stream";
  return absl::StrCat(std::string(StatusCodeName(code)), ": ", status.error_message());
}

}  // namespace

SvidFeed::SvidFeed(std::string socket, EventLog& log, std::function<void()> changed)
    : socket_(std::move(socket)),
      log_(log),
      changed_(std::move(changed)),
      random_(net::RandomSeed()),
      thread_([this] { Run(); }) {}

SvidFeed::~SvidFeed() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (under_way_ != nullptr) under_way_->TryCancel();
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const tls::Svid> SvidFeed::Get(absl::Duration patience) {
  std::unique_lock lock(mutex_);
  if (given_up_) {
    asked_ = true;
    wake_.notify_all();
  }
  wake_.wait_for(lock, absl::ToChronoNanoseconds(patience), [this] { return settled_; });
  return svid_;
}

std::string SvidFeed::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void SvidFeed::SetFault(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

void SvidFeed::Run() {
  while (true) {
    const grpc::Status status = Follow();
    const auto code = static_cast<StatusCode>(status.error_code());
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
    }
    SetFault(ReasonOf(status));
    away_.Report(log_, socket_, /*subject=*/"", ReasonOf(status), net::ReadClock());
    Settle();
    if (!Wait(rule_.OnEnded(code, random_))) return;
  }
}

// Takes what comes until the stream ends.
grpc::Status SvidFeed::Follow() {
  const auto stub = SpiffeWorkloadAPI::NewStub(NewChannel(socket_));
  grpc::ClientContext context;
  // By this the API knows that no browser was led to ask it.
  context.AddMetadata("workload.spiffe.io", "true");
  if (!Begin(&context)) return grpc::Status::CANCELLED;
  const auto stream = stub->FetchX509SVID(&context, X509SVIDRequest());
  X509SVIDResponse response;
  while (stream->Read(&response)) Take(response);
  const grpc::Status status = stream->Finish();
  Begin(nullptr);
  return status;
}

// Returns false if the feed has been stopped.
bool SvidFeed::Begin(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  under_way_ = context;
  return !stopped_;
}

void SvidFeed::Take(X509SVIDResponse& response) {
  if (response.svids().empty()) {
    Refuse("it has no SVID for this workload");
  } else {
    const X509SVID& first = response.svids(0);
    auto svid = tls::ParseSvid({.id = first.spiffe_id(),
                                .chain = first.x509_svid(),
                                .key = first.x509_svid_key(),
                                .bundle = first.bundle()});
    if (svid.ok()) {
      Accept(*std::move(svid));
    } else {
      Refuse(std::string(svid.status().message()));
    }
  }
  for (X509SVID& given : *response.mutable_svids()) tls::Wipe(*given.mutable_x509_svid_key());
  Settle();
}

void SvidFeed::Accept(std::shared_ptr<const tls::Svid> svid) {
  rule_.OnSvid();
  refused_for_.clear();
  away_.End(net::ReadClock());
  {
    const std::lock_guard lock(mutex_);
    fault_.clear();
    if (svid_ != nullptr && *svid_ == *svid) return;
    svid_ = svid;
  }
  log_.Write(EventKind::kSvidReceived, [&] {
    return std::vector<LogField>{
        {"socket", socket_},
        {"id", svid->id},
        {"expires", absl::FormatTime(absl::RFC3339_sec, svid->expires, absl::UTCTimeZone())}};
  });
  changed_();
}

// The same reason is told once.
void SvidFeed::Refuse(const std::string& reason) {
  SetFault(reason);
  if (std::exchange(refused_for_, reason) == reason) return;
  log_.Write(EventKind::kSvidRefused, [&] {
    return std::vector<LogField>{{"socket", socket_}, {"reason", reason}};
  });
}

// Returns false if the feed has been stopped.
bool SvidFeed::Wait(absl::Duration wait) {
  std::unique_lock lock(mutex_);
  given_up_ = wait == absl::InfiniteDuration();
  if (given_up_) {
    wake_.wait(lock, [this] { return stopped_ || asked_; });
  } else {
    wake_.wait_for(lock, absl::ToChronoNanoseconds(wait), [this] { return stopped_; });
  }
  given_up_ = asked_ = false;
  return !stopped_;
}

void SvidFeed::Settle() {
  {
    const std::lock_guard lock(mutex_);
    settled_ = true;
  }
  wake_.notify_all();
}

}  // namespace levee
