// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/raw_call.h"

#include <vector>

#include "gtest/gtest.h"

namespace levee {

RawCall::RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                 const std::string& request)
    : stub_(channel) {
  stream_ = stub_.PrepareCall(&context_, method, &queue_);
  stream_->StartCall(this);
  if (!Wait()) return;
  const grpc::Slice slice(request);
  stream_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), this);
  Wait();
}

RawCall::~RawCall() {
  context_.TryCancel();
  if (!finished_) Finish();
  queue_.Shutdown();
  while (Wait()) {
  }
}

bool RawCall::Wait() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

std::optional<std::string> RawCall::Read() {
  grpc::ByteBuffer buffer;
  stream_->Read(&buffer, this);
  if (!Wait()) return std::nullopt;
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return std::nullopt;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::Status RawCall::Finish() {
  grpc::Status status;
  finished_ = true;
  stream_->Finish(&status, this);
  Wait();
  return status;
}

std::string AskRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                   const std::string& request) {
  RawCall call(channel, method, request);
  const auto answer = call.Read();
  if (!answer.has_value()) ADD_FAILURE() << method << ": " << call.Finish().error_message();
  return answer.value_or("");
}

}  // namespace levee
