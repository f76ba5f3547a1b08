// SPDX-License-Identifier: Apache-2.0
#include "ledger/caller_link.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ledger/access_log.h"

namespace levee::ledger {
namespace {

constexpr uint32_t kCallerWindowBytes = 8192;  // Small, so that large answers wait for it.
constexpr uint32_t kPeerStreams = 1024;

}  // namespace

struct CallerLink::Callbacks {
  static CallerLink& Self(void* self) { return *static_cast<CallerLink*>(self); }

  static Call* CallOf(void* self, int32_t stream) {
    auto& calls = Self(self).calls_;
    const auto found = calls.find(stream);
    return found == calls.end() ? nullptr : &found->second;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                      nghttp2_rcbuf* value, uint8_t, void* self) {
    Call* const call = CallOf(self, frame->hd.stream_id);
    if (call != nullptr && TextOf(name) == "grpc-status") {
      Self(self).OnStatus(*call, TextOf(value));
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    nghttp2_session_consume_connection(Self(self).session_, size);
    if (Call* const call = CallOf(self, stream)) Self(self).OnData(stream, *call, {bytes, size});
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame*, void* self) {
    Self(self).heard_ = true;
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
    Self(self).OnStreamEnd(stream, error);
    return 0;
  }

  static ssize_t ReadRequest(nghttp2_session*, int32_t stream, uint8_t* to, size_t room,
                             uint32_t* flags, nghttp2_data_source*, void* self) {
    Call* const call = CallOf(self, stream);
    if (call == nullptr) return NGHTTP2_ERR_DEFERRED;
    return Self(self).ReadRequest(*call, {to, room}, *flags);
  }
};

CallerLink::CallerLink(Caller& caller, int fd) : Link(caller.loop_, fd), caller_(caller) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback2(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, kPeerStreams);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  Adopt(session);
  const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kCallerWindowBytes};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
}

CallerLink::~CallerLink() = default;

void CallerLink::OnGone() {
  if (caller_.patient_ && !heard_ && !hangs_up_) {
    // It stood in the backlog of a listener that closed: the sidecar has read nothing.
    for (const auto& [stream, call] : calls_) {
      if (call.given_up) continue;
      caller_.book_.Refused(call.id);
      caller_.book_.Ended(call.id, 0, loop_.now());
    }
    calls_.clear();
  }
  for (const auto& [stream, call] : calls_) caller_.book_.Aborted(call.id, loop_.now());
  if (!hangs_up_ && !caller_.ending_) {
    for (const auto& [stream, call] : calls_) {
      caller_.book_.Violate(call.id, "the sidecar dropped the caller's connection");
    }
  }
  calls_.clear();
  caller_.OnGone(*this, hangs_up_);
}

void CallerLink::Fill(int streams) {
  streams_ = streams;
  // After a GOAWAY there is another connection once this one's calls are over.
  const auto may_begin = [&] { return nghttp2_session_check_request_allowed(session_) != 0; };
  while (!closed() && may_begin() && static_cast<int>(calls_.size()) < streams_) {
    const uint64_t id = caller_.NextCall();
    if (id == 0) {
      // Others may end meanwhile, or what is over be forgotten.
      if (caller_.left() > 0 && calls_.empty()) {
        loop_.After(Millis(10), [weak = weak_from_this(), this] {
          if (const auto self = weak.lock(); self != nullptr && !closed()) Fill(streams_);
        });
      }
      break;
    }
    Begin(id);
  }
  Wake();
}

void CallerLink::Begin(uint64_t id) {
  Call call;
  call.id = id;
  call.shape = caller_.schedule_.CallOf(id);
  call.request = Body(call.shape.content, Direction::kRequest, call.shape.request_bytes);
  call.answer = Body(call.shape.content, Direction::kAnswer, call.shape.answer_bytes);
  call.waits = call.shape.habit == Habit::kTwoParts;
  call.gives_window = call.shape.habit != Habit::kSlowReader;
  const std::string number = std::to_string(id);
  const std::string trace = TraceparentOf(call.shape.trace);
  std::vector<nghttp2_nv> head = {Field(":method", "POST"),
                                  Field(":scheme", "http"),
                                  Field(":path", PathOf(call.shape.method)),
                                  Field(":authority", call.shape.authority),
                                  Field("content-type", "application/grpc"),
                                  Field("te", "trailers"),
                                  Field("ledger-id", number),
                                  Field("traceparent", trace)};
  for (const auto& [name, value] : call.shape.metadata) head.push_back(Field(name, value));
  nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::ReadRequest};
  const int32_t stream =
      nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &body, nullptr);
  if (stream < 0) {
    caller_.book_.Violate(id, "the sidecar takes no more calls on this connection");
    caller_.book_.Aborted(id, loop_.now());
    streams_ = 0;
    return;
  }
  Behave(stream, calls_[stream] = call);
}

template <typename Task>
void CallerLink::Later(int32_t stream, int delay_ms, Task task) {
  loop_.After(Millis(delay_ms), [weak = weak_from_this(), this, stream, task] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    const auto found = calls_.find(stream);
    if (found == calls_.end()) return;
    task(found->second);
    Wake();
  });
}

void CallerLink::Behave(int32_t stream, const Call& call) {
  switch (call.shape.habit) {
    case Habit::kNone:
      break;
    case Habit::kTwoParts:
      Later(stream, call.shape.habit_ms, [this, stream](Call& late) {
        late.waits = false;
        nghttp2_session_resume_data(session_, stream);
      });
      break;
    case Habit::kSlowReader:
      Later(stream, call.shape.habit_ms, [this, stream](Call& late) {
        late.gives_window = true;
        nghttp2_session_consume_stream(session_, stream, late.kept_back);
      });
      break;
    case Habit::kCancel:
      Later(stream, call.shape.habit_ms / 4, [this, stream](Call& late) {
        late.given_up = true;
        caller_.book_.Aborted(late.id, loop_.now());
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
      });
      break;
    case Habit::kHangUp:
      Later(stream, call.shape.habit_ms / 4, [this](Call&) {
        hangs_up_ = true;
        Close(Manner::kReset);
      });
      break;
  }
}

ssize_t CallerLink::ReadRequest(Call& call, std::span<uint8_t> to, uint32_t& flags) {
  const size_t first_part = call.request.total() / 2;
  const size_t room =
      call.waits ? std::min(to.size(), first_part - std::min(first_part, call.sent)) : to.size();
  if (room == 0) return NGHTTP2_ERR_DEFERRED;
  const size_t size = call.request.Read(call.sent, to.first(room));
  call.sent += size;
  if (call.sent == call.request.total()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

void CallerLink::OnData(int32_t stream, Call& call, std::span<const uint8_t> bytes) {
  if (!call.differs && !call.answer.Matches(call.received, bytes)) {
    call.differs = true;
    caller_.book_.AnswerDiffers(call.id);
  }
  call.received += bytes.size();
  if (call.gives_window) {
    nghttp2_session_consume_stream(session_, stream, bytes.size());
  } else {
    call.kept_back += bytes.size();
  }
}

void CallerLink::OnStatus(const Call& call, std::string_view status) {
  caller_.book_.GotStatus(call.id, status);
}

void CallerLink::OnStreamEnd(int32_t stream, uint32_t error) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  const Call& call = found->second;
  if (!call.given_up && error == NGHTTP2_REFUSED_STREAM) caller_.book_.Refused(call.id);
  if (!call.given_up) caller_.book_.Ended(call.id, call.received, loop_.now());
  calls_.erase(found);
  // Not now: nghttp2 is at work.
  if (std::exchange(fills_, true)) return;
  loop_.After(Millis(0), [weak = weak_from_this(), this] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    fills_ = false;
    Fill(streams_);
  });
}

}  // namespace levee::ledger
