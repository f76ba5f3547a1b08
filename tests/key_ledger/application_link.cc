// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/application_link.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "key_ledger/grpc_text.h"

namespace levee::ledger {

struct ApplicationLink::Callbacks {
  static ApplicationLink& Self(void* self) { return *static_cast<ApplicationLink*>(self); }

  static Request* RequestOf(void* self, int32_t stream) {
    auto& requests = Self(self).requests_;
    const auto found = requests.find(stream);
    return found == requests.end() ? nullptr : &found->second;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Self(self).requests_[frame->hd.stream_id].stream = frame->hd.stream_id;
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                      nghttp2_rcbuf* value, uint8_t, void* self) {
    Request* const request = RequestOf(self, frame->hd.stream_id);
    if (request == nullptr) return 0;
    if (TextOf(name) == "ledger-call")
      request->call = std::strtoull(TextOf(value).data(), nullptr, 10);
    if (TextOf(name) == "idempotency-key") {
      request->key = static_cast<uint32_t>(std::strtoul(TextOf(value).data(), nullptr, 10));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Request* const request = RequestOf(self, frame->hd.stream_id);
    if (request == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) Self(self).OnHead(*request);
    if (frame->hd.type == NGHTTP2_DATA) Self(self).CutAt(*request, Moment::kRequestData);
    const bool carries_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Self(self).OnRequestEnd(*request);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream, uint32_t, void* self) {
    Self(self).requests_.erase(stream);
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session*, int32_t stream, uint8_t* to, size_t room,
                            uint32_t* flags, nghttp2_data_source*, void* self) {
    Request* const request = RequestOf(self, stream);
    if (request == nullptr) return NGHTTP2_ERR_DEFERRED;
    return Self(self).ReadAnswer(*request, {to, room}, *flags);
  }
};

ApplicationLink::ApplicationLink(Application& application, int fd)
    : Link(application.loop_, fd), application_(application) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback2(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  Adopt(session);
  const nghttp2_settings_entry streams{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 10'000};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &streams, 1);
}

void ApplicationLink::OnGone() {
  application_.links_.erase(std::static_pointer_cast<ApplicationLink>(shared_from_this()));
}

void ApplicationLink::OnHead(Request& request) {
  request.work = application_.plan_.WorkOf(request.key, application_.book_.Arrived(request.key));
  ++application_.fates_[static_cast<size_t>(request.work.fate)];
  CutAt(request, Moment::kHead);
}

void ApplicationLink::OnRequestEnd(Request& request) {
  if (request.over) return;
  if (request.work.fate == Fate::kTryAgain) return AnswerStatus(request, 14, "try again");
  request.run = application_.book_.Executed(request.call, request.key);
  if (CutAt(request, Moment::kRequestEnd)) return;
  if (request.work.fate == Fate::kFailure) {
    return AnswerStatus(request, kFailureStatus, FailureOf(request.key, request.run));
  }
  if (request.work.fate != Fate::kSlowAnswer) return Answer(request);
  loop_.After(Millis(request.work.delay_ms),
              [weak = weak_from_this(), this, stream = request.stream] {
                const auto self = weak.lock();
                if (self == nullptr || closed()) return;
                const auto found = requests_.find(stream);
                if (found != requests_.end()) Answer(found->second);
                Wake();
              });
}

void ApplicationLink::Answer(Request& request) {
  request.answer = Framed(BodyOf(request.key, request.run));
  const std::string run = std::to_string(request.run);
  const std::array head = {Field(":status", "200"), Field("content-type", "application/grpc"),
                           Field("ledger-run", run)};
  const bool cut_at_head = request.work.moment == Moment::kAnswerHead &&
                           (request.work.fate == Fate::kReset || request.work.fate == Fate::kKill);
  if (cut_at_head) {
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, request.stream, nullptr, head.data(),
                           head.size(), nullptr);
    CutAt(request, Moment::kAnswerHead);
    return;
  }
  nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::ReadAnswer};
  nghttp2_submit_response(session_, request.stream, head.data(), head.size(), &body);
}

void ApplicationLink::AnswerStatus(Request& request, int status, const std::string& message) {
  request.over = true;
  const std::string code = std::to_string(status);
  const std::string run = std::to_string(request.run);
  const std::array head = {Field(":status", "200"), Field("content-type", "application/grpc"),
                           Field("ledger-run", run), Field("grpc-status", code),
                           Field("grpc-message", message)};
  nghttp2_submit_response(session_, request.stream, head.data(), head.size(), nullptr);
}

ssize_t ApplicationLink::ReadAnswer(Request& request, std::span<uint8_t> to, uint32_t& flags) {
  if (request.over) return NGHTTP2_ERR_DEFERRED;
  const bool breaks = request.work.moment == Moment::kAnswerData;
  const size_t left = request.answer.size() - request.answered;
  const size_t size = std::min({to.size(), left, breaks ? request.answer.size() / 2 + 1 : left});
  std::copy_n(request.answer.begin() + static_cast<ptrdiff_t>(request.answered), size, to.begin());
  request.answered += size;
  if (CutAt(request, Moment::kAnswerData)) return static_cast<ssize_t>(size);
  if (request.answered < request.answer.size()) return static_cast<ssize_t>(size);
  if (CutAt(request, Moment::kTrailers)) return static_cast<ssize_t>(size);
  flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
  const nghttp2_nv trailer = Field("grpc-status", "0");
  nghttp2_submit_trailer(session_, request.stream, &trailer, 1);
  return static_cast<ssize_t>(size);
}

bool ApplicationLink::CutAt(Request& request, Moment moment) {
  const Fate fate = request.work.fate;
  if (request.over || request.work.moment != moment) return false;
  if (fate != Fate::kReset && fate != Fate::kKill) return false;
  request.over = true;
  ++application_.moments_[static_cast<size_t>(moment)];
  if (fate == Fate::kKill) {
    CloseAfterFlush(Manner::kReset);
  } else {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, request.stream, NGHTTP2_INTERNAL_ERROR);
  }
  return true;
}

}  // namespace levee::ledger
