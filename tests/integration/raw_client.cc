// SPDX-License-Identifier: Apache-2.0
#include "integration/raw_client.h"

#include "gtest/gtest.h"

namespace levee {

std::string RawAnswer::grpc_status() const {
  return Values(trailers.empty() ? head : trailers, "grpc-status");
}

std::string RawAnswer::grpc_message() const {
  return Values(trailers.empty() ? head : trailers, "grpc-message");
}

RawClient::RawClient(const std::string& address, std::string_view settings,
                     const std::string& destination, const std::function<void()>& wait)
    : FramePeer(address) {
  if (!destination.empty()) {
    EXPECT_TRUE(OpenTunnel(connection(), destination));
  }
  wait();
  connection().Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  Write(FrameType::kSettings, 0, 0, settings);
}

HeaderList RawClient::CallHead(const HeaderList& more) {
  HeaderList fields = {{":method", "POST"},
                       {":scheme", "http"},
                       {":path", "/test.Echo/Unary"},
                       {":authority", "shop.test:50051"},
                       {"te", "trailers"},
                       {"content-type", "application/grpc"},
                       {"user-agent", "raw/1"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

int32_t RawClient::Open(const HeaderList& fields, bool end) {
  const int32_t stream = next_stream_;
  next_stream_ += 2;
  WriteHeaders(stream, fields, end);
  return stream;
}

int32_t RawClient::Call(const HeaderList& more, std::string_view message) {
  const int32_t stream = Open(CallHead(more), false);
  WriteData(stream, GrpcMessage(message), true);
  return stream;
}

bool RawClient::Take(const Frame& frame) {
  RawAnswer& answer = answers_[frame.stream];
  if (frame.type == FrameType::kHeaders) {
    (answer.head.empty() ? answer.head : answer.trailers) = Decode(frame);
    answer.head_ended = answer.trailers.empty() && frame.ends_stream();
  } else if (frame.type == FrameType::kData) {
    answer.body += frame.payload;
  } else if (frame.type == FrameType::kReset) {
    answer.reset = ReadNumber(frame.payload);
    return true;
  }
  const bool block = frame.type == FrameType::kHeaders || frame.type == FrameType::kData;
  answer.ended = answer.ended || (block && frame.ends_stream());
  return answer.ended;
}

RawAnswer RawClient::AnswerTo(int32_t stream) {
  while (!answers_[stream].ended && !answers_[stream].reset.has_value()) {
    const auto frame = ReadMeaningful();
    if (!frame.has_value()) break;
    Take(*frame);
  }
  return answers_[stream];
}

std::optional<uint32_t> RawClient::ReadGoaway() {
  std::optional<uint32_t> error;
  while (const auto frame = ReadMeaningful()) {
    if (frame->type == FrameType::kGoaway) error = ReadNumber(frame->payload, 4);
  }
  return error;
}

bool IsToldToGo(RawClient& client) {
  while (const auto frame = client.ReadMeaningful()) {
    if (frame->type == FrameType::kGoaway) return true;
  }
  return false;
}

}  // namespace levee
