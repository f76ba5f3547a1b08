// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/pod_link.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "key_ledger/grpc_text.h"

namespace levee::ledger {
namespace {

constexpr size_t kStreams = kMostOpen / (kPods * kLinksPerPod);
static_assert(kStreams <= 100, "a sidecar allows no more on a connection");

constexpr Millis kGiveUpAfter{3};  // in the midst of what most calls take
constexpr Millis kRest{100};       // of a place whose call found the store away
constexpr Millis kLookAgain{10};   // for calls that others give back

}  // namespace

struct PodLink::Callbacks {
  static PodLink& Self(void* self) { return *static_cast<PodLink*>(self); }

  static Call* CallOf(void* self, int32_t stream) {
    auto& calls = Self(self).calls_;
    const auto found = calls.find(stream);
    return found == calls.end() ? nullptr : &found->second;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                      nghttp2_rcbuf* value, uint8_t, void* self) {
    Call* const call = CallOf(self, frame->hd.stream_id);
    if (call != nullptr) Self(self).OnField(*call, TextOf(name), TextOf(value));
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    Call* const call = CallOf(self, stream);
    if (call != nullptr) call->answer.body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream, uint32_t, void* self) {
    Self(self).OnStreamEnd(stream);
    return 0;
  }

  static ssize_t ReadRequest(nghttp2_session*, int32_t stream, uint8_t* to, size_t room,
                             uint32_t* flags, nghttp2_data_source*, void* self) {
    Call* const call = CallOf(self, stream);
    if (call == nullptr) return NGHTTP2_ERR_DEFERRED;
    const size_t size = std::min(room, call->request.size() - call->sent);
    std::copy_n(call->request.begin() + static_cast<ptrdiff_t>(call->sent), size, to);
    call->sent += size;
    if (call->sent == call->request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
};

PodLink::PodLink(PodCallers& callers, size_t pod, int fd)
    : Link(callers.loop_, fd), callers_(callers), pod_(pod) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback2(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  Adopt(session);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
}

void PodLink::OnGone() {
  if (!ending_) callers_.book_.Violate("a sidecar dropped its callers' connection");
  for (const auto& [stream, call] : std::exchange(calls_, {})) callers_.book_.GaveUp(call.number);
}

void PodLink::HangUp() {
  ending_ = true;
  Close(Manner::kEnd);
}

void PodLink::Fill() {
  while (!closed() && calls_.size() + resting_ < kStreams) {
    const std::optional<KeyCall> next = callers_.Next(pod_);
    if (!next.has_value()) {
      FillLater(kLookAgain);
      break;
    }
    Begin(*next);
  }
  Wake();
}

void PodLink::FillLater(Millis delay) {
  if (std::exchange(fills_, true)) return;
  loop_.After(delay, [weak = weak_from_this(), this] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    fills_ = false;
    Fill();
  });
}

void PodLink::Begin(const KeyCall& planned) {
  Call call{.number = callers_.book_.Begin(planned.key), .planned = planned};
  const std::string key = std::to_string(planned.key);
  const std::string number = std::to_string(call.number);
  call.request = Framed("pay for key " + key);
  const std::array head = {Field(":method", "POST"),
                           Field(":scheme", "http"),
                           Field(":path", "/ledger.Keys/Pay"),
                           Field(":authority", "ledger"),
                           Field("content-type", "application/grpc"),
                           Field("te", "trailers"),
                           Field("grpc-timeout", "15S"),
                           Field("idempotency-key", key),
                           Field("ledger-call", number)};
  nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::ReadRequest};
  const int32_t stream =
      nghttp2_submit_request(session_, nullptr, head.data(), head.size(), &body, nullptr);
  calls_[stream] = std::move(call);
  if (planned.gives_up) GiveUpLater(stream);
}

void PodLink::GiveUpLater(int32_t stream) {
  loop_.After(kGiveUpAfter, [weak = weak_from_this(), this, stream] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    const auto found = calls_.find(stream);
    if (found == calls_.end()) return;
    callers_.book_.GaveUp(found->second.number);
    calls_.erase(found);
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    FillLater(Millis(0));
    Wake();
  });
}

void PodLink::OnField(Call& call, std::string_view name, std::string_view value) {
  if (name == "grpc-status") call.answer.status = std::atoi(value.data());
  if (name == "grpc-message") call.answer.message = value;
  if (name == "levee-replayed") call.answer.replayed = value == "true";
  if (name == "ledger-run") call.answer.run = std::atoi(value.data());
}

void PodLink::OnStreamEnd(int32_t stream) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  Call call = std::move(found->second);
  calls_.erase(found);
  // Without the prefix, whose length the sidecar has checked.
  if (call.answer.body.size() >= 5) call.answer.body.erase(0, 5);
  const bool store_away = callers_.book_.Ended(call.number, call.answer);
  // Not now: nghttp2 is at work.
  if (!store_away) return FillLater(Millis(0));
  ++resting_;
  loop_.After(kRest, [weak = weak_from_this(), this, planned = call.planned] {
    const auto self = weak.lock();
    if (self == nullptr || closed()) return;
    --resting_;
    Fill();
  });
  callers_.Again(call.planned);
}

}  // namespace levee::ledger
