// SPDX-License-Identifier: Apache-2.0
#include "bench/echo_session.h"

#include <algorithm>
#include <array>

#include "bench/header_field.h"

namespace levee::bench {
namespace {

// Large enough that no load ever waits for this service's flow control or stream limit.
constexpr uint32_t kMaxStreams = 10'000;
constexpr uint32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 16 << 20;

// A body that was larger gives its memory back when its call ends.
constexpr size_t kKeptBodyBytes = 4096;

}  // namespace

struct EchoSession::Callbacks {
  static Call* CallOf(nghttp2_session* session, int32_t stream) {
    return static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                           static_cast<EchoSession*>(self)->NewCall());
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream,
                    const uint8_t* bytes, size_t size, void* /*self*/) {
    if (Call* call = CallOf(session, stream)) {
      call->body.append(reinterpret_cast<const char*>(bytes), size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* /*self*/) {
    const bool carries_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!carries_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Call* call = CallOf(session, frame->hd.stream_id);
    if (call == nullptr) return 0;
    const std::array head = {HeaderField(":status", "200"),
                             HeaderField("content-type", "application/grpc"),
                             HeaderField("grpc-accept-encoding", "identity,deflate,gzip")};
    nghttp2_data_provider body{.source = {.ptr = call}, .read_callback = ReadBody};
    return nghttp2_submit_response(session, frame->hd.stream_id, head.data(), head.size(), &body);
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream, uint8_t* to, size_t room,
                          uint32_t* flags, nghttp2_data_source* source, void* /*self*/) {
    Call& call = *static_cast<Call*>(source->ptr);
    const size_t size = std::min(room, call.body.size() - call.sent);
    std::copy_n(call.body.data() + call.sent, size, to);
    call.sent += size;
    if (call.sent == call.body.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailer = HeaderField("grpc-status", "0");
      if (nghttp2_submit_trailer(session, stream, &trailer, 1) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      }
    }
    return static_cast<ssize_t>(size);
  }

  static int OnStreamClose(nghttp2_session* session, int32_t stream, uint32_t /*code*/,
                           void* self) {
    if (Call* call = CallOf(session, stream)) static_cast<EchoSession*>(self)->EndCall(call);
    return 0;
  }
};

EchoSession::EchoSession() {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_session_server_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const std::array settings = {
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

EchoSession::~EchoSession() { nghttp2_session_del(session_); }

bool EchoSession::Receive(std::span<const uint8_t> bytes) {
  return nghttp2_session_mem_recv(session_, bytes.data(), bytes.size()) >= 0;
}

void EchoSession::Emit(size_t limit, std::vector<uint8_t>& out) {
  while (out.size() < limit) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) return;
    out.insert(out.end(), bytes, bytes + size);
  }
}

bool EchoSession::finished() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

EchoSession::Call* EchoSession::NewCall() {
  if (unused_.empty()) return &calls_.emplace_back();
  Call* call = unused_.back();
  unused_.pop_back();
  return call;
}

void EchoSession::EndCall(Call* call) {
  call->sent = 0;
  call->body.clear();
  if (call->body.capacity() > kKeptBodyBytes) call->body.shrink_to_fit();
  unused_.push_back(call);
}

}  // namespace levee::bench
