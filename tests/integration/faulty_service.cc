// SPDX-License-Identifier: Apache-2.0
#include "integration/faulty_service.h"

#include <algorithm>
#include <cstdlib>

#include "grpcpp/alarm.h"
#include "gtest/gtest.h"
#include "integration/bytes.h"
#include "integration/child.h"

namespace levee {

std::string Values(const Fields& fields, const std::string& name) {
  std::string joined;
  const auto [begin, end] = fields.equal_range(name);
  for (auto at = begin; at != end; ++at) joined += (joined.empty() ? "" : ", ") + at->second;
  return joined;
}

// One call. Deletes itself when gRPC is done with it.
class FaultyService::Rpc : public grpc::ServerGenericBidiReactor {
 public:
  Rpc(FaultyService& service, grpc::GenericCallbackServerContext& context, const SeenCall& seen)
      : service_(service),
        kind_(seen.method.substr(seen.method.rfind('/') + 1)),
        answer_(service.script_(seen)) {
    for (const auto& [name, value] : answer_.head) context.AddInitialMetadata(name, value);
    for (const auto& [name, value] : answer_.trailers) context.AddTrailingMetadata(name, value);
    if (answer_.delay.count() == 0) {
      Begin();
    } else {
      alarm_.Set(std::chrono::system_clock::now() + answer_.delay, [this](bool) { Begin(); });
    }
  }

  void Read() { StartRead(&message_); }

 private:
  bool FailsEarly() const {
    return !answer_.status.ok() && !answer_.read_first && answer_.fail_after < 0;
  }

  void Begin() {
    if (answer_.send_head) StartSendInitialMetadata();
    if (FailsEarly()) {
      End(answer_.status);
    } else if (kind_ == "Sink") {
      Hold();
    } else if (kind_ != "Sleep") {
      Read();
    }
  }

  void Hold() {
    const std::lock_guard lock(service_.mutex_);
    if (service_.released_) {
      Read();
    } else {
      service_.held_.push_back(this);
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      OnRequestEnd();
      return;
    }
    const std::string text = ToString(message_);
    service_.bytes_read_ += static_cast<int64_t>(text.size());
    service_.Happened();
    if (kind_ == "Stream") {
      char* rest = nullptr;
      left_ = std::strtol(text.c_str(), &rest, 10);
      message_ = ToBuffer(std::string(std::strtoul(rest, nullptr, 10), 's'));
      WriteNext();
    } else if (kind_ == "Chat" || kind_ == "Eager") {
      left_ = 1;
      WriteNext();
    } else {
      collected_ += kind_ == "Sink" ? "" : text;
      bytes_ += text.size();
      Read();
    }
  }

  void OnRequestEnd() {
    const bool answers = kind_ == "Unary" || kind_ == "Collect" || kind_ == "Sink";
    if (answers && answer_.status.ok()) {
      left_ = 1;
      message_ = ToBuffer(kind_ == "Sink" ? std::to_string(bytes_) : collected_);
      WriteNext();
    } else {
      End(answer_.status);
    }
  }

  void WriteNext() {
    if (left_ == 0 || written_ == answer_.fail_after) {
      End(answer_.status);
      return;
    }
    --left_;
    ++written_;
    StartWrite(&message_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      End({grpc::StatusCode::UNKNOWN, "could not write"});
      return;
    }
    ++service_.messages_written_;
    service_.Happened();
    if (kind_ == "Chat") {
      Read();
    } else {
      WriteNext();
    }
  }

  void OnCancel() override {
    ++service_.cancelled_;
    service_.Happened();
    {
      const std::lock_guard lock(service_.mutex_);
      std::erase(service_.held_, this);
    }
    alarm_.Cancel();  // Then it calls at once.
    if (kind_ == "Sleep" || kind_ == "Sink") End(grpc::Status::CANCELLED);
  }

  void End(const grpc::Status& status) {
    if (!ended_.exchange(true)) Finish(status);
  }

  void OnDone() override { delete this; }

  FaultyService& service_;
  const std::string kind_;
  const Answer answer_;
  grpc::Alarm alarm_;
  grpc::ByteBuffer message_;
  std::string collected_;
  size_t bytes_ = 0;
  long left_ = 0;  // messages still to be written
  int written_ = 0;
  std::atomic<bool> ended_ = false;
};

class FaultyService::Service : public grpc::CallbackGenericService {
 public:
  explicit Service(FaultyService& service) : service_(service) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    SeenCall seen;
    seen.method = context->method();
    seen.authority = context->host();
    seen.deadline = context->deadline();
    seen.at = std::chrono::steady_clock::now();
    for (const auto& [name, value] : context->client_metadata()) {
      seen.metadata.emplace(std::string(name.data(), name.size()),
                            std::string(value.data(), value.size()));
    }
    {
      const std::lock_guard lock(service_.mutex_);
      seen.number = ++service_.calls_;
      service_.seen_.push_back(seen);
    }
    service_.Happened();
    return new Rpc(service_, *context, seen);
  }

 private:
  FaultyService& service_;
};

FaultyService::FaultyService(Script script, const Options& options) : script_(std::move(script)) {
  // gRPC sets SO_REUSEADDR, so of two programs that ask for any port at once both may be given the
  // same one; the second to listen on it is refused and has to ask again.
  constexpr int kPortsAskedFor = 5;
  for (int i = 0; i < kPortsAskedFor && server_ == nullptr; ++i) Start(options);
  EXPECT_NE(server_, nullptr);
  const bool unix = options.at.starts_with("unix:");
  address_ = unix ? options.at : options.at + ":" + std::to_string(port_);
}

void FaultyService::Start(const Options& options) {
  service_ = std::make_unique<Service>(*this);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  const std::pair<const char*, int> limits[] = {
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_streams},
      {GRPC_ARG_MAX_CONNECTION_AGE_MS, options.max_connection_age_ms}};
  for (const auto& [name, value] : limits) {
    if (value > 0) builder.AddChannelArgument(name, value);
  }
  builder.SetMaxReceiveMessageSize(-1);
  const bool unix = options.at.starts_with("unix:");
  builder.AddListeningPort(unix ? options.at : options.at + ":" + std::to_string(options.port),
                           options.credentials, &port_);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
}

FaultyService::~FaultyService() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

void FaultyService::ShutDownGracefully() {
  server_->Shutdown(std::chrono::system_clock::now() + kPatience);
}

std::vector<SeenCall> FaultyService::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void FaultyService::Release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  for (Rpc* rpc : held_) rpc->Read();
  held_.clear();
}

void FaultyService::Happened() const {
  // The lock orders this after a look at the condition that is under way.
  { const std::lock_guard lock(mutex_); }
  happened_.notify_all();
}

bool FaultyService::WaitFor(const std::function<bool()>& condition) const {
  std::unique_lock lock(mutex_);
  return happened_.wait_for(lock, kPatience, condition);
}

Answer Fails(grpc::StatusCode code, const std::string& message) {
  Answer answer;
  answer.status = grpc::Status(code, message);
  return answer;
}

FaultyService::Script FailFirst(int n) {
  return [n](const SeenCall& call) {
    return call.number <= n ? Fails(grpc::StatusCode::UNAVAILABLE) : Answer();
  };
}

FaultyService::Script AlwaysFail() {
  return [](const SeenCall&) { return Fails(grpc::StatusCode::UNAVAILABLE); };
}

}  // namespace levee
