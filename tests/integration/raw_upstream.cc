// SPDX-License-Identifier: Apache-2.0
#include "integration/raw_upstream.h"

#include <utility>

namespace levee {
namespace {

constexpr size_t kPrefaceSize = 24;

}  // namespace

bool UpstreamPeer::Handshake(std::string_view settings) {
  std::string preface;
  while (preface.size() < kPrefaceSize) {
    const std::string more = connection().Read(kPrefaceSize - preface.size());
    if (more.empty()) return false;
    preface += more;
  }
  Write(FrameType::kSettings, 0, 0, settings);
  return true;
}

std::optional<RawRequest> UpstreamPeer::NextHead() {
  while (const auto frame = ReadMeaningful()) {
    if (frame->type == FrameType::kHeaders) {
      return RawRequest{.stream = frame->stream, .head = Decode(*frame), .body = ""};
    }
  }
  return std::nullopt;
}

std::optional<RawRequest> UpstreamPeer::NextRequest() {
  while (const auto frame = ReadMeaningful()) {
    if (frame->type == FrameType::kHeaders) {
      begun_[frame->stream] = {.stream = frame->stream, .head = Decode(*frame), .body = ""};
    }
    const auto found = begun_.find(frame->stream);
    if (found == begun_.end()) continue;
    if (frame->type == FrameType::kData) found->second.body += frame->payload;
    if (frame->ends_stream()) return std::move(begun_.extract(found).mapped());
  }
  return std::nullopt;
}

void UpstreamPeer::AnswerHead(int32_t stream) {
  WriteHeaders(stream, {{":status", "200"}, {"content-type", "application/grpc"}}, false);
}

void UpstreamPeer::AnswerTrailers(int32_t stream, int status, const HeaderList& more) {
  HeaderList fields = {{"grpc-status", std::to_string(status)}};
  fields.insert(fields.end(), more.begin(), more.end());
  WriteHeaders(stream, fields, true);
}

void UpstreamPeer::AnswerTrailersOnly(int32_t stream, int status, const HeaderList& more) {
  HeaderList fields = {{":status", "200"},
                       {"content-type", "application/grpc"},
                       {"grpc-status", std::to_string(status)}};
  fields.insert(fields.end(), more.begin(), more.end());
  WriteHeaders(stream, fields, true);
}

void UpstreamPeer::Answer(int32_t stream, std::string_view body) {
  AnswerHead(stream);
  WriteData(stream, GrpcMessage(body), false);
  AnswerTrailers(stream, 0);
}

void UpstreamPeer::AnswerRest() {
  while (const auto request = NextRequest()) Answer(request->stream);
}

void UpstreamPeer::ReadToEnd() {
  while (Read().has_value()) continue;
}

RawUpstream::RawUpstream(Script script)
    : script_(std::move(script)), accepting_([this] { Accept(); }) {}

RawUpstream::~RawUpstream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& peer : peers_) peer->connection().Shutdown();
  }
  listener_.Shutdown();
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
}

void RawUpstream::Accept() {
  for (int fd = listener_.Accept(); fd >= 0; fd = listener_.Accept()) {
    const std::lock_guard lock(mutex_);
    peers_.push_back(std::make_unique<UpstreamPeer>(fd, ++connections_));
    if (stopping_) peers_.back()->connection().Shutdown();
    threads_.emplace_back([this, peer = peers_.back().get()] { Run(*peer); });
  }
}

void RawUpstream::Run(UpstreamPeer& peer) {
  script_(peer);
  // The peer must still read the bytes of the script, so the connection ends in good order.
  peer.connection().Shutdown();
}

}  // namespace levee
