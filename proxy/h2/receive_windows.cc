// SPDX-License-Identifier: Apache-2.0
#include "h2/receive_windows.h"

#include <algorithm>
#include <utility>

namespace levee::h2 {
namespace {

// The payload of the PINGs that measure whether streams are bound by their windows.
constexpr uint8_t kWindowProbe[8] = {'w', 'i', 'n', 'd', 'o', 'w', 's', 0};

}  // namespace

ReceiveWindows::ReceiveWindows(const SessionOptions& options, Link& link)
    : link_(link),
      connection_bytes_(options.connection_window_bytes),
      first_stream_bytes_(options.stream_window_bytes),
      connection_(std::max<int64_t>(options.connection_window_bytes, kInitialWindowBytes)),
      of_new_stream_(std::max<int64_t>(options.stream_window_bytes, kInitialWindowBytes)),
      offered_(options.stream_window_bytes),
      wanted_(options.stream_window_bytes),
      growth_(options.stream_window_bytes) {}

void ReceiveWindows::OfferConnectionWindow() {
  const int64_t more = connection_.bytes() - kInitialWindowBytes;
  if (more > 0) link_.writer.HoldWindowUpdate(0, static_cast<uint32_t>(more));
}

void ReceiveWindows::OfferStreamWindow() {
  const FrameWriter::Entry entry{Setting::kInitialWindowSize, wanted_};
  link_.writer.HoldSettings({&entry, 1});
  offered_ = wanted_;
  acknowledged_ = false;
  if (offered_ > of_new_stream_) Change(offered_);
  link_.Announce();
}

// Until the peer has read this side's SETTINGS, it may use the window of before or that of the
// SETTINGS, whichever is larger.
void ReceiveWindows::OnSettingsAck() {
  if (std::exchange(acknowledged_, true)) return;
  Change(offered_);
  if (wanted_ != offered_) OfferStreamWindow();
}

void ReceiveWindows::Change(int64_t bytes) {
  const int64_t change = bytes - of_new_stream_;
  of_new_stream_ = bytes;
  link_.streams.ForEach([&](Stream& stream) {
    stream.receive_window_.Change(change);
    // The peer may have nothing left of a smaller window although all of its bytes were processed.
    Credit(stream, 0);
  });
}

void ReceiveWindows::ReturnConnectionWindow() {
  const uint32_t update = connection_.Update(connection_bytes_);
  if (update == 0) return;
  link_.writer.HoldWindowUpdate(0, update);
  link_.Announce();
}

bool ReceiveWindows::TakeOfStream(Stream& stream, size_t length, size_t padding) {
  if (!stream.receive_window_.Take(length)) return false;
  Credit(stream, padding);
  if (stream.receive_window_.half_used() && growth_.WantsProbe(link_.now)) Probe(stream);
  return true;
}

void ReceiveWindows::Credit(Stream& stream, size_t bytes) {
  if (stream.remote_ == Stream::Remote::kEnded || stream.retired_ ||
      !stream.receive_window_.Credit(bytes))
    return;
  const uint32_t update = stream.receive_window_.Update(Whole(stream));
  if (update == 0) return;
  growth_.OnAllowed(stream.id_, update);
  link_.writer.HoldWindowUpdate(stream.id_, update);
  link_.Announce();
}

// How large the window of the stream should be from now on.
int64_t ReceiveWindows::Whole(Stream& stream) {
  const int64_t more = growth_.window() - int64_t{first_stream_bytes_};
  if (more > 0) stream.grown_by_ = link_.streams.pool().Grow(stream.grown_by_, more);
  return of_new_stream_ + stream.grown_by_;
}

// The peer has used half of the window of `stream`.
void ReceiveWindows::Probe(const Stream& stream) {
  growth_.OnProbe(link_.now, stream.id_, stream.receive_window_.bytes());
  link_.writer.HoldPing(0, kWindowProbe);
  link_.Announce();
}

void ReceiveWindows::OnPingAck(ByteSpan payload) {
  if (!std::equal(payload.begin(), payload.end(), kWindowProbe)) return;
  const uint32_t id = growth_.stream();
  if (id == 0) return;
  const Stream* stream = link_.streams.Find(id);
  if (stream == nullptr || stream->remote_ == Stream::Remote::kEnded)
    return growth_.OnLateAnswer(link_.now);
  growth_.OnAnswer(link_.now, stream->receive_window_.bytes(), stream->receive_window_.waiting());
}

}  // namespace levee::h2
