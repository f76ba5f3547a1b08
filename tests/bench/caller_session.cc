// SPDX-License-Identifier: Apache-2.0
#include "bench/caller_session.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/header_field.h"

namespace levee::bench {
namespace {

// Large enough that no answer waits for this caller's flow control.
constexpr int32_t kWindowBytes = 16 << 20;

std::string_view View(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

struct CallerSession::Callbacks {
  static Call* CallOf(nghttp2_session* session, int32_t stream) {
    return static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t /*flags*/,
                      void* /*self*/) {
    if (View(name, name_size) != "grpc-status") return 0;
    if (Call* call = CallOf(session, frame->hd.stream_id)) {
      call->ok = View(value, value_size) == "0";
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream,
                    const uint8_t* /*bytes*/, size_t size, void* /*self*/) {
    if (Call* call = CallOf(session, stream)) call->received += size;
    return 0;
  }

  static ssize_t ReadMessage(nghttp2_session* session, int32_t stream, uint8_t* to, size_t room,
                             uint32_t* flags, nghttp2_data_source* source, void* /*self*/) {
    Call& call = *CallOf(session, stream);
    const std::string& message = static_cast<CallerSession*>(source->ptr)->message_;
    const size_t size = std::min(room, message.size() - call.sent);
    std::copy_n(message.data() + call.sent, size, to);
    call.sent += size;
    if (call.sent == message.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  static int OnStreamClose(nghttp2_session* session, int32_t stream, uint32_t code, void* user) {
    auto& self = *static_cast<CallerSession*>(user);
    Call* call = CallOf(session, stream);
    if (call == nullptr) return 0;
    const bool whole = call->received == self.message_.size();
    self.ended_.push_back({call->due, code == NGHTTP2_NO_ERROR && call->ok && whole});
    self.unused_.push_back(call);
    return 0;
  }
};

CallerSession::CallerSession(const std::string& path, const std::string& message)
    : path_(path), message_(message) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindowBytes);
}

CallerSession::~CallerSession() { nghttp2_session_del(session_); }

void CallerSession::Begin(std::chrono::nanoseconds due) {
  const std::array head = {
      HeaderField(":method", "POST"), HeaderField(":scheme", "http"),
      HeaderField(":path", path_),    HeaderField(":authority", "127.0.0.1"),
      HeaderField("te", "trailers"),  HeaderField("content-type", "application/grpc")};
  Call& call = NewCall();
  call = {.due = due};
  nghttp2_data_provider body{.source = {.ptr = this}, .read_callback = Callbacks::ReadMessage};
  if (nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &body, &call) < 0) {
    std::abort();  // Memory or stream identifiers are used up; no run comes near that.
  }
}

bool CallerSession::Receive(std::span<const uint8_t> bytes) {
  return nghttp2_session_mem_recv(session_, bytes.data(), bytes.size()) >= 0;
}

void CallerSession::Emit(std::vector<uint8_t>& out) {
  const uint8_t* bytes = nullptr;
  for (ssize_t size = nghttp2_session_mem_send(session_, &bytes); size > 0;
       size = nghttp2_session_mem_send(session_, &bytes)) {
    out.insert(out.end(), bytes, bytes + size);
  }
}

std::vector<EndedCall> CallerSession::TakeEnded() { return std::exchange(ended_, {}); }

CallerSession::Call& CallerSession::NewCall() {
  if (unused_.empty()) return calls_.emplace_back();
  Call* call = unused_.back();
  unused_.pop_back();
  return *call;
}

}  // namespace levee::bench
