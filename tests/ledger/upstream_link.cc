// SPDX-License-Identifier: Apache-2.0
#include "ledger/upstream_link.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace levee::ledger {
namespace {

constexpr uint32_t kMaxStreams = 1000;
constexpr uint32_t kUpstreamWindowBytes = 4096;  // Small, so that large requests wait for it.
constexpr uint8_t kPaddingBytes = 37;

constexpr Millis kStreamStall{20};
constexpr Millis kConnectionStall{30};
constexpr Millis kOneStreamFor{20};
constexpr Millis kGoawayStep{2};
constexpr Millis kHalfOpenFor{3000};
constexpr size_t kSlowBytes = 500;

template <typename Number>
Number ParseField(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

struct UpstreamLink::Callbacks {
  static UpstreamLink& Self(void* self) { return *static_cast<UpstreamLink*>(self); }

  static Attempt* AttemptOf(void* self, int32_t stream) {
    auto& attempts = Self(self).attempts_;
    const auto found = attempts.find(stream);
    return found == attempts.end() ? nullptr : &found->second;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      Self(self).attempts_[frame->hd.stream_id].stream = frame->hd.stream_id;
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                      nghttp2_rcbuf* value, uint8_t, void* self) {
    Attempt* const attempt = AttemptOf(self, frame->hd.stream_id);
    if (attempt == nullptr) return 0;
    if (TextOf(name) == "ledger-id") attempt->id = ParseField<uint64_t>(TextOf(value));
    if (TextOf(name) == "grpc-previous-rpc-attempts") {
      attempt->previous = ParseField<int>(TextOf(value));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Attempt* const attempt = AttemptOf(self, frame->hd.stream_id);
    if (attempt == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) Self(self).OnHead(*attempt);
    const bool carries_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Self(self).OnRequestEnd(*attempt);
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    if (Attempt* const attempt = AttemptOf(self, stream)) {
      Self(self).OnData(*attempt, {bytes, size});
    } else {
      nghttp2_session_consume_connection(Self(self).session_, size);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream, uint32_t, void* self) {
    Self(self).attempts_.erase(stream);
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session*, int32_t stream, uint8_t* to, size_t room,
                            uint32_t* flags, nghttp2_data_source*, void* self) {
    Attempt* const attempt = AttemptOf(self, stream);
    if (attempt == nullptr) return NGHTTP2_ERR_DEFERRED;
    return Self(self).ReadAnswer(*attempt, {to, room}, *flags);
  }

  static ssize_t SelectPadding(nghttp2_session*, const nghttp2_frame* frame, size_t most,
                               void* self) {
    const Attempt* const attempt = AttemptOf(self, frame->hd.stream_id);
    const bool pads = attempt != nullptr && attempt->fault.fault == Fault::kPadding;
    return static_cast<ssize_t>(pads ? std::min(most, frame->hd.length + kPaddingBytes)
                                     : frame->hd.length);
  }
};

UpstreamLink::UpstreamLink(Upstream& upstream, int fd)
    : Link(upstream.loop_, fd), upstream_(upstream) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback2(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session_callbacks_set_select_padding_callback(callbacks, Callbacks::SelectPadding);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  Adopt(session);
  const std::array settings = {
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kUpstreamWindowBytes}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
}

UpstreamLink::~UpstreamLink() = default;

void UpstreamLink::OnGone() {
  upstream_.links_.erase(std::static_pointer_cast<UpstreamLink>(shared_from_this()));
}

void UpstreamLink::GoAway() {
  nghttp2_submit_shutdown_notice(session_);
  Wake();
  Later(kGoawayStep, [this] { SubmitGoaway(nghttp2_session_get_last_proc_stream_id(session_)); });
}

void UpstreamLink::SubmitGoaway(int32_t last_stream) {
  last_stream_ = std::min(last_stream_, last_stream);
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_stream, NGHTTP2_NO_ERROR, nullptr, 0);
}

void UpstreamLink::Later(Millis delay, std::function<void()> task) {
  loop_.After(delay, [weak = weak_from_this(), this, task = std::move(task)] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    task();
    Wake();
  });
}

void UpstreamLink::OnHead(Attempt& attempt) {
  if (attempt.stream > last_stream_) {
    attempt.over = true;
    return;
  }
  const CallShape shape = upstream_.schedule_.CallOf(attempt.id);
  attempt.request = Body(shape.content, Direction::kRequest, shape.request_bytes);
  attempt.answer = Body(shape.content, Direction::kAnswer, shape.answer_bytes);
  upstream_.book_.Started(attempt.id, attempt.previous, attempt.fault);
  if (CutAt(attempt, Moment::kHead)) return;
  switch (attempt.fault.fault) {
    case Fault::kRefuse:
      Reset(attempt, NGHTTP2_REFUSED_STREAM);
      break;
    case Fault::kEarlyUnavailable:
      AnswerStatus(attempt, {});
      break;
    default:
      if (attempt.fault.fault >= Fault::kGoawayBefore) BreakConnection(attempt);
  }
}

void UpstreamLink::BreakConnection(Attempt& attempt) {
  switch (attempt.fault.fault) {
    case Fault::kGoawayBefore:
      attempt.over = true;
      SubmitGoaway(std::max(attempt.stream - 2, 0));
      break;
    case Fault::kGoawayAfter:
      // When all that was read is known, so that nothing is excluded that runs already.
      Later(Millis(0), [this] { SubmitGoaway(nghttp2_session_get_last_proc_stream_id(session_)); });
      break;
    case Fault::kGoawayLoss:
      Later(Millis(0), [this] {
        SubmitGoaway(nghttp2_session_get_last_proc_stream_id(session_));
        CloseAfterFlush(Manner::kReset);
      });
      break;
    case Fault::kHalfOpen:
      Freeze();
      loop_.After(kHalfOpenFor, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->Close(Manner::kEnd);
      });
      break;
    case Fault::kByteReads:
      ReadSlowly(kSlowBytes);
      break;
    case Fault::kByteWrites:
      WriteSlowly(kSlowBytes);
      break;
    case Fault::kConnectionStall:
      stalled_ = true;
      Later(kConnectionStall, [this] {
        stalled_ = false;
        nghttp2_session_consume_connection(session_, std::exchange(stalled_bytes_, 0));
      });
      break;
    case Fault::kOneStream:
      LimitStreams(1);
      Later(kOneStreamFor, [this] { LimitStreams(kMaxStreams); });
      break;
    case Fault::kGarbage:
      SendRaw(std::string("\0\0\4\3\0\0\0\0\0gone", 13));  // RST_STREAM of stream 0
      break;
    case Fault::kTerminate:
      // Not from within nghttp2, which calls this.
      loop_.After(Millis(0), [&upstream = upstream_] { upstream.Restart(/*orderly=*/true); });
      break;
    case Fault::kRestart:
      loop_.After(Millis(0), [&upstream = upstream_] { upstream.Restart(/*orderly=*/false); });
      break;
    default:
      break;
  }
}

void UpstreamLink::LimitStreams(uint32_t streams) {
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
}

void UpstreamLink::OnData(Attempt& attempt, std::span<const uint8_t> bytes) {
  if (!attempt.over && !attempt.request.Matches(attempt.received, bytes)) {
    upstream_.book_.RequestDiffers(attempt.id);
  }
  attempt.received += bytes.size();
  if (attempt.fault.fault == Fault::kStreamStall) {
    if (attempt.stalled_bytes == 0) {
      Later(kStreamStall, [this, stream = attempt.stream] {
        const auto found = attempts_.find(stream);
        if (found == attempts_.end()) return;
        const size_t size = std::exchange(found->second.stalled_bytes, 0);
        nghttp2_session_consume_stream(session_, stream, size);
      });
    }
    attempt.stalled_bytes += bytes.size();
  } else {
    nghttp2_session_consume_stream(session_, attempt.stream, bytes.size());
  }
  if (stalled_) {
    stalled_bytes_ += bytes.size();
  } else {
    nghttp2_session_consume_connection(session_, bytes.size());
  }
  CutAt(attempt, Moment::kRequestData);
}

void UpstreamLink::OnRequestEnd(Attempt& attempt) {
  if (attempt.over) return;
  if (attempt.received != attempt.request.total()) upstream_.book_.RequestDiffers(attempt.id);
  if (AnswerFaultily(attempt)) return;
  upstream_.book_.Executed(attempt.id);
  if (CutAt(attempt, Moment::kRequestEnd)) return;
  if (attempt.fault.fault == Fault::kDelay) {
    AnswerLater(attempt, [this](Attempt& late) { AnswerWell(late); });
  } else if (attempt.fault.fault == Fault::kPrecondition) {
    AnswerStatus(attempt, {.status = 9});
  } else {
    AnswerWell(attempt);
  }
}

bool UpstreamLink::AnswerFaultily(Attempt& attempt) {
  switch (attempt.fault.fault) {
    case Fault::kUnavailable:
      AnswerStatus(attempt, {});
      return true;
    case Fault::kLateUnavailable:
      AnswerStatus(attempt, {.head_first = true});
      return true;
    case Fault::kPushback:
      AnswerStatus(attempt, {.pushback = "1"});
      return true;
    case Fault::kHttp503:
      AnswerHttp(attempt);
      return true;
    case Fault::kStatus:
      AnswerLater(attempt, [this](Attempt& late) { AnswerStatus(late, late.fault.ending); });
      return true;
    case Fault::kSilence:
      return true;
    default:
      return false;
  }
}

void UpstreamLink::AnswerLater(const Attempt& attempt, std::function<void(Attempt&)> answer) {
  Later(Millis(attempt.fault.delay_ms),
        [this, stream = attempt.stream, answer = std::move(answer)] {
          const auto found = attempts_.find(stream);
          if (found != attempts_.end()) answer(found->second);
        });
}

void UpstreamLink::AnswerWell(Attempt& attempt) {
  const std::array head = {Field(":status", "200"), Field("content-type", "application/grpc")};
  const bool cut_at_head =
      (attempt.fault.fault == Fault::kReset || attempt.fault.fault == Fault::kKill ||
       attempt.fault.fault == Fault::kClose) &&
      attempt.fault.moment == Moment::kAnswerHead;
  if (cut_at_head) {
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, attempt.stream, nullptr, head.data(),
                           head.size(), nullptr);
    CutAt(attempt, Moment::kAnswerHead);
    return;
  }
  nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::ReadAnswer};
  nghttp2_submit_response(session_, attempt.stream, head.data(), head.size(), &body);
}

ssize_t UpstreamLink::ReadAnswer(Attempt& attempt, std::span<uint8_t> to, uint32_t& flags) {
  if (attempt.over) return NGHTTP2_ERR_DEFERRED;
  const bool breaks = attempt.fault.moment == Moment::kAnswerData;
  const size_t room = breaks ? std::min(to.size(), attempt.answer.total() / 2 + 1) : to.size();
  const size_t size = attempt.answer.Read(attempt.answered, to.first(room));
  attempt.answered += size;
  if (CutAt(attempt, Moment::kAnswerData)) return static_cast<ssize_t>(size);
  if (attempt.answered < attempt.answer.total()) return static_cast<ssize_t>(size);
  if (CutAt(attempt, Moment::kTrailers)) return static_cast<ssize_t>(size);
  flags |= NGHTTP2_DATA_FLAG_EOF;
  if (attempt.fault.fault == Fault::kNoStatus) return static_cast<ssize_t>(size);
  flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  const nghttp2_nv trailer = Field("grpc-status", "0");
  nghttp2_submit_trailer(session_, attempt.stream, &trailer, 1);
  return static_cast<ssize_t>(size);
}

void UpstreamLink::AnswerStatus(Attempt& attempt, const Ending& ending) {
  const std::string number = std::to_string(ending.status);
  const std::array head = {Field(":status", "200"), Field("content-type", "application/grpc")};
  std::vector<nghttp2_nv> trailers = {Field("grpc-status", number)};
  if (!ending.pushback.empty()) {
    trailers.push_back(Field("grpc-retry-pushback-ms", ending.pushback));
  }
  if (!ending.mark.empty()) trailers.push_back(Field("levee-overload", ending.mark));
  attempt.over = true;
  if (ending.head_first) {
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, attempt.stream, nullptr, head.data(),
                           head.size(), nullptr);
    nghttp2_submit_trailer(session_, attempt.stream, trailers.data(), trailers.size());
  } else {
    trailers.insert(trailers.begin(), head.begin(), head.end());
    nghttp2_submit_response(session_, attempt.stream, trailers.data(), trailers.size(), nullptr);
  }
}

void UpstreamLink::AnswerHttp(Attempt& attempt) {
  const std::array head = {Field(":status", attempt.fault.http),
                           Field("content-type", "text/plain")};
  attempt.over = true;
  nghttp2_submit_response(session_, attempt.stream, head.data(), head.size(), nullptr);
}

bool UpstreamLink::CutAt(Attempt& attempt, Moment moment) {
  if (attempt.over || attempt.fault.moment != moment) return false;
  switch (attempt.fault.fault) {
    case Fault::kReset:
      Reset(attempt, attempt.fault.error);
      return true;
    case Fault::kKill:
    case Fault::kClose:
      attempt.over = true;
      CloseAfterFlush(attempt.fault.fault == Fault::kKill ? Manner::kReset : Manner::kEnd);
      return true;
    default:
      return false;
  }
}

void UpstreamLink::Reset(Attempt& attempt, uint32_t error) {
  attempt.over = true;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, attempt.stream, error);
}

}  // namespace levee::ledger
