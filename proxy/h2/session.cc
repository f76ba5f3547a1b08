// SPDX-License-Identifier: Apache-2.0
#include "h2/session.h"

#include <algorithm>

#include "base/check.h"

namespace levee::h2 {
namespace {

void HoldSettings(Role role, const SessionOptions& options, FrameWriter& writer) {
  const bool server = role == Role::kServer;
  // Servers reset the stream of an answer that exceeds the offer, and do not say why. So they are
  // offered all that a header block may have, and this side says which answer is too large.
  const size_t list_bytes = server ? options.metadata_bytes : options.header_block_bytes;
  const FrameWriter::Entry entries[] = {
      {Setting::kInitialWindowSize, options.stream_window_bytes},
      {Setting::kMaxHeaderListSize, static_cast<uint32_t>(list_bytes)},
      {server ? Setting::kMaxConcurrentStreams : Setting::kEnablePush,
       server ? options.max_concurrent_streams : 0},
      {Setting::kNoRfc7540Priorities, 1}};
  writer.HoldSettings(entries);
}

}  // namespace

Session::Session(Role role, const Options& options, SessionHandler& handler, OutputHandler& output,
                 StreamPool& pool)
    : link_(role, options, handler, output, pool, *this),
      ends_(link_),
      windows_(options, link_),
      sender_(options.output_bytes, link_, ends_),
      receiver_(options, link_, ends_, windows_, sender_) {
  if (role == Role::kClient) link_.writer.HoldPreface();
  HoldSettings(role, options, link_.writer);
  windows_.OfferConnectionWindow();
}

Session::~Session() = default;

bool Session::Receive(ByteSpan bytes, Instant now, const Chunk& shared) {
  if (link_.broken()) return false;
  link_.now = now;
  receiver_.Receive(bytes, shared);
  ends_.FreeEnded();
  // After a GOAWAY, these bytes may have ended the last stream, so that the session is done.
  if (link_.writer.holds() || link_.Done()) link_.Announce();
  LEVEE_DCHECK(link_.Consistent());
  return !link_.broken();
}

bool Session::Serialize(OutputBuffer& out) {
  const bool more = sender_.Serialize(out);
  ends_.FreeEnded();
  LEVEE_DCHECK(link_.Consistent());
  return more;
}

int Session::FreeSlots() const {
  if (link_.peer_goaway.received() || link_.broken()) return 0;
  const auto open = static_cast<int64_t>(link_.streams.size());
  const int64_t ids =
      link_.ids.left() - (open - static_cast<int64_t>(link_.streams.size_with_id()));
  return static_cast<int>(
      std::clamp<int64_t>(std::min(link_.peer_settings.max_streams() - open, ids), 0, INT32_MAX));
}

Stream& Session::Open(StreamHandler& handler) {
  LEVEE_CHECK(link_.client());
  Stream& stream = link_.NewStream(&handler);
  windows_.Begin(stream);
  return stream;
}

void Session::SendPing() {
  constexpr uint8_t kPayload[8] = {};
  link_.writer.HoldPing(0, kPayload);
  link_.Announce();
}

void Session::ConnectionLost(uint64_t written) {
  link_.Lose();
  ends_.EndAll(written);
}

}  // namespace levee::h2
