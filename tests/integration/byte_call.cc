// SPDX-License-Identifier: Apache-2.0
#include "integration/byte_call.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "integration/bytes.h"

namespace levee {
namespace {

std::chrono::system_clock::time_point InPatience() {
  return std::chrono::system_clock::now() + kPatience;
}

Fields ToFields(const std::multimap<grpc::string_ref, grpc::string_ref>& from) {
  Fields fields;
  for (const auto& [name, value] : from) {
    fields.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  return fields;
}

}  // namespace

ChannelPtr NewChannel(const std::string& target, grpc::ChannelArguments arguments,
                      const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(target, credentials, arguments);
}

ChannelPtr ConnectedChannel(const std::string& target) {
  ChannelPtr channel = NewChannel(target);
  EXPECT_TRUE(channel->WaitForConnected(InPatience()));
  return channel;
}

ByteCall::ByteCall(const ChannelPtr& channel, const std::string& method)
    : method_(method), stub_(channel) {
  context_.set_deadline(InPatience());
}

ByteCall::~ByteCall() {
  if (stream_ != nullptr && !finished_) {
    context_.TryCancel();
    Finish();
  }
  for (int op = 0; op < kOps; ++op) Wait(static_cast<Op>(op));
  queue_.Shutdown();
}

void* ByteCall::Begin(Op op) {
  pending_[static_cast<size_t>(op)] = true;
  return reinterpret_cast<void*>(static_cast<intptr_t>(op));
}

bool ByteCall::Wait(Op op) {
  while (pending_[static_cast<size_t>(op)]) {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    const auto ended = static_cast<size_t>(reinterpret_cast<intptr_t>(tag));
    pending_[ended] = false;
    result_[ended] = ok;
  }
  return result_[static_cast<size_t>(op)];
}

bool ByteCall::Start() {
  stream_ = stub_.PrepareCall(&context_, method_, &queue_);
  stream_->StartCall(Begin(Op::kStart));
  return Wait(Op::kStart);
}

void ByteCall::BeginWrite(const std::string& message) {
  stream_->Write(ToBuffer(message), Begin(Op::kWrite));
}

bool ByteCall::Write(const std::string& message) {
  BeginWrite(message);
  return WaitWritten();
}

bool ByteCall::HalfClose() {
  stream_->WritesDone(Begin(Op::kHalfClose));
  return Wait(Op::kHalfClose);
}

bool ByteCall::ReadHead() {
  stream_->ReadInitialMetadata(Begin(Op::kHead));
  return Wait(Op::kHead);
}

std::optional<std::string> ByteCall::Read() {
  grpc::ByteBuffer message;
  stream_->Read(&message, Begin(Op::kRead));
  if (!Wait(Op::kRead)) return std::nullopt;
  return ToString(message);
}

grpc::Status ByteCall::Finish() {
  finished_ = true;
  stream_->Finish(&status_, Begin(Op::kFinish));
  Wait(Op::kFinish);
  return status_;
}

Fields ByteCall::head() const { return ToFields(context_.GetServerInitialMetadata()); }
Fields ByteCall::trailers() const { return ToFields(context_.GetServerTrailingMetadata()); }

Reply CallUnary(const ChannelPtr& channel, const std::string& body, const Setup& setup,
                const std::string& method) {
  grpc::ClientContext context;
  context.set_deadline(InPatience());
  if (setup) setup(context);
  grpc::CompletionQueue queue;
  grpc::ByteBuffer answer;
  Reply reply;
  const auto call =
      grpc::GenericStub(channel).PrepareUnaryCall(&context, method, ToBuffer(body), &queue);
  call->StartCall();
  call->Finish(&answer, &reply.status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  if (reply.status.ok()) reply.body = ToString(answer);
  reply.head = ToFields(context.GetServerInitialMetadata());
  reply.trailers = ToFields(context.GetServerTrailingMetadata());
  return reply;
}

Setup WithKey(const std::string& key) {
  return [key](grpc::ClientContext& context) { context.AddMetadata("idempotency-key", key); };
}

namespace {

struct LoadCall {
  int number = 0;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

// Keeps the calls of one RunLoad.
class LoadRun {
 public:
  LoadRun(const std::vector<ChannelPtr>& channels, const Load& load)
      : channels_(channels), load_(load), next_start_(std::chrono::system_clock::now()) {}

  std::map<grpc::StatusCode, int> Run() {
    while (started_ < load_.calls || active_ > 0) {
      if (MayStart()) {
        Start();
      } else {
        Wait();
      }
    }
    queue_.Shutdown();
    return std::move(codes_);
  }

 private:
  using Clock = std::chrono::system_clock;

  bool MayStart() const {
    if (started_ == load_.calls) return false;
    return load_.per_second > 0 ? Clock::now() >= next_start_ : active_ < load_.at_once;
  }

  void Start() {
    auto* call = new LoadCall;
    call->number = started_;
    if (load_.setup) load_.setup(started_, call->context);
    call->context.set_deadline(Clock::now() + load_.deadline);
    grpc::GenericStub stub(channels_[static_cast<size_t>(started_) % channels_.size()]);
    call->reader =
        stub.PrepareUnaryCall(&call->context, load_.method, ToBuffer(load_.body), &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->answer, &call->status, call);
    ++started_;
    ++active_;
    if (load_.per_second > 0) {
      next_start_ += std::chrono::microseconds(static_cast<int64_t>(1e6 / load_.per_second));
    }
  }

  void Wait() {
    const bool paced = load_.per_second > 0 && started_ < load_.calls;
    void* tag = nullptr;
    bool ok = false;
    const auto until = paced ? next_start_ : InPatience();
    if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return;
    const std::unique_ptr<LoadCall> call(static_cast<LoadCall*>(tag));
    ++codes_[call->status.error_code()];
    --active_;
    if (load_.on_end) load_.on_end({call->number, call->begun, call->status.error_code()});
  }

  const std::vector<ChannelPtr>& channels_;
  const Load load_;
  grpc::CompletionQueue queue_;
  Clock::time_point next_start_;
  int started_ = 0;
  int active_ = 0;
  std::map<grpc::StatusCode, int> codes_;
};

}  // namespace

std::map<grpc::StatusCode, int> RunLoad(const std::vector<ChannelPtr>& channels, const Load& load) {
  return LoadRun(channels, load).Run();
}

}  // namespace levee
