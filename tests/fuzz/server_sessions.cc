// SPDX-License-Identifier: Apache-2.0
#include "fuzz/server_sessions.h"

#include <array>
#include <cstddef>

#include "base/check.h"
#include "h2/frame.h"
#include "wire/metadata.h"

namespace levee {
namespace {

constexpr uint32_t kWindow = 65'535;
constexpr size_t kOutput = 64 * 1024;
constexpr uint32_t kMany = 1'000'000;

h2::SessionOptions Options() {
  return {.max_concurrent_streams = kMaxStreams,
          .stream_window_bytes = kWindow,
          .connection_window_bytes = kWindow,
          .metadata_bytes = kMany,
          .metadata_fields = kMany,
          .header_block_bytes = kMany,
          .resets_per_second = kMany,
          .control_frames_per_second = kMany,
          .pending_frames = kMany};
}

std::string_view Text(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
const uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

void ObservedServer::Receive(std::string_view bytes) {
  if (seen_.broken) return;
  if (!Take(bytes)) seen_.broken = true;
  TakeNote(Say());
}

void ObservedServer::TakeNote(std::string_view sent) {
  sent_ += sent;
  while (sent_.size() >= h2::kFrameHeadBytes) {
    const h2::FrameHead head = h2::ReadFrameHead(Bytes(sent_));
    const size_t size = h2::kFrameHeadBytes + head.length;
    if (sent_.size() < size) return;
    if (head.Is(h2::FrameType::kRstStream)) seen_.streams[head.stream_id].reset = true;
    if (head.Is(h2::FrameType::kGoaway)) {
      const uint32_t error = h2::ReadUint32(Bytes(sent_) + h2::kFrameHeadBytes + 4);
      if (error != 0) seen_.broken = true;
      seen_.error = error;
      seen_.why = sent_.substr(h2::kFrameHeadBytes + 8, size - h2::kFrameHeadBytes - 8);
    }
    sent_.erase(0, size);
  }
}

class LeveeServer::Request final : public h2::StreamHandler {
 public:
  Request(h2::Stream& stream, SeenStream& seen) : stream_(&stream), seen_(seen) {}

  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk& data) override {
    seen_.body += Text(data.data(), data.size());
    stream_->Credit(data.size());
  }
  void OnEnd(Metadata*) override {
    seen_.ended = true;
    stream_->head().Add(":status", "200");
    stream_->SendHead(/*end=*/true);
  }
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override { stream_ = nullptr; }

 private:
  h2::Stream* stream_;
  SeenStream& seen_;
};

LeveeServer::LeveeServer()
    : output_(kOutput), session_(h2::Session::Role::kServer, Options(), *this, *this, pool_) {}

LeveeServer::~LeveeServer() { session_.ConnectionLost(session_.serialized_bytes()); }

h2::StreamHandler* LeveeServer::OnRequest(h2::Stream& stream, Metadata& head, bool end) {
  SeenStream& seen = seen_.streams[stream.id()];
  for (size_t i = 0; i < head.size(); ++i) seen.head.emplace_back(head[i].name, head[i].value);
  requests_.push_back(std::make_unique<Request>(stream, seen));
  if (end) requests_.back()->OnEnd(nullptr);
  return requests_.back().get();
}

bool LeveeServer::Take(std::string_view bytes) {
  return session_.Receive({Bytes(bytes), bytes.size()}, Instant());
}

std::string LeveeServer::Say() {
  std::string said;
  for (bool more = true; more;) {
    more = session_.Serialize(output_);
    for (ByteSpan piece : output_.pieces()) said += Text(piece.data(), piece.size());
    output_.Clear();
  }
  return said;
}

struct PeerServer::Callbacks {
  static PeerServer& Of(void* self) { return *static_cast<PeerServer*>(self); }

  static bool IsRequest(const nghttp2_frame& frame) {
    return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
  }

  static int OnField(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                     size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                     void* self) {
    if (!IsRequest(*frame)) return 0;
    Of(self).begun_[static_cast<uint32_t>(frame->hd.stream_id)].head.emplace_back(
        Text(name, name_size), Text(value, value_size));
    return 0;
  }

  // Without this callback, fields with bytes that are not allowed would be left out.
  static int OnInvalidField(nghttp2_session*, const nghttp2_frame*, const uint8_t*, size_t,
                            const uint8_t*, size_t, uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    Of(self).seen_.streams[static_cast<uint32_t>(stream)].body += Text(bytes, size);
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    const bool block = frame->hd.type == NGHTTP2_HEADERS;
    if (!block && frame->hd.type != NGHTTP2_DATA) return 0;
    const auto id = static_cast<uint32_t>(frame->hd.stream_id);
    SeenStream& seen = Of(self).seen_.streams[id];
    if (IsRequest(*frame)) seen.head = std::move(Of(self).begun_[id].head);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    seen.ended = true;
    nghttp2_nv status{};
    status.name = const_cast<uint8_t*>(Bytes(":status"));
    status.namelen = 7;
    status.value = const_cast<uint8_t*>(Bytes("200"));
    status.valuelen = 3;
    return nghttp2_submit_response(session, frame->hd.stream_id, &status, 1, nullptr);
  }
};

PeerServer::PeerServer() : session_(nullptr, nghttp2_session_del) {
  nghttp2_session_callbacks* callbacks = nullptr;
  LEVEE_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnField);
  nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, Callbacks::OnInvalidField);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_option* options = nullptr;
  LEVEE_CHECK(nghttp2_option_new(&options) == 0);
  // By default it takes 8 CONTINUATION frames of a block, and 32 entries of SETTINGS.
  nghttp2_option_set_max_continuations(options, kMany);
  nghttp2_option_set_max_settings(options, kMany);
  nghttp2_session* session = nullptr;
  LEVEE_CHECK(nghttp2_session_server_new2(&session, callbacks, this, options) == 0);
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
  session_.reset(session);
  const std::array settings = {
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
}

bool PeerServer::Take(std::string_view bytes) {
  return nghttp2_session_mem_recv(session_.get(), Bytes(bytes), bytes.size()) >= 0;
}

std::string PeerServer::Say() {
  std::string said;
  const uint8_t* bytes = nullptr;
  for (ssize_t size = 1; size > 0;) {
    size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size > 0) said += Text(bytes, static_cast<size_t>(size));
  }
  return said;
}

}  // namespace levee
