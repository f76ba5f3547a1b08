// SPDX-License-Identifier: Apache-2.0
#include "h2/raw_peer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace levee::h2_test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

std::string Describe(const std::vector<Frame>& frames) {
  std::string text = "said:";
  for (const Frame& frame : frames) {
    absl::StrAppend(&text, " type ", static_cast<int>(frame.type), " stream ", frame.stream);
    if (frame.type == FrameType::kReset)
      absl::StrAppend(&text, " code ", ReadNumber(frame.payload));
    if (frame.type == FrameType::kGoaway) {
      absl::StrAppend(&text, " code ", ReadNumber(frame.payload, 4));
    }
    text += ';';
  }
  return text;
}

bool IsOneOf(uint32_t code, Errors errors) {
  return std::ranges::any_of(errors,
                             [&](H2Error error) { return static_cast<uint32_t>(error) == code; });
}

AssertionResult SaysNoError(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (frame.type == FrameType::kReset || frame.type == FrameType::kGoaway) {
      return AssertionFailure() << Describe(frames);
    }
  }
  return AssertionSuccess();
}

AssertionResult SaysReset(const std::vector<Frame>& frames, int32_t stream, Errors errors) {
  const auto resets = Of(frames, FrameType::kReset, stream);
  if (resets.size() != 1 || !IsOneOf(ReadNumber(resets[0].payload), errors) ||
      !Of(frames, FrameType::kGoaway, 0).empty()) {
    return AssertionFailure() << "no such RST_STREAM; " << Describe(frames);
  }
  return AssertionSuccess();
}

AssertionResult SaysGoaway(const std::vector<Frame>& frames, Errors errors) {
  const auto goaways = Of(frames, FrameType::kGoaway, 0);
  if (goaways.empty() || !IsOneOf(ReadNumber(goaways.back().payload, 4), errors)) {
    return AssertionFailure() << "no such GOAWAY; " << Describe(frames);
  }
  return AssertionSuccess();
}

}  // namespace

HeaderList RequestHead() {
  return {{":method", "POST"}, {":scheme", "http"}, {":path", "/a.B/C"}, {":authority", "x:1"}};
}

HeaderList ResponseHead() { return {{":status", "200"}, {"content-type", "application/grpc"}}; }

std::vector<Frame> Of(const std::vector<Frame>& frames, FrameType type, int32_t stream) {
  std::vector<Frame> some;
  for (const Frame& frame : frames) {
    if (frame.type == type && frame.stream == stream) some.push_back(frame);
  }
  return some;
}

RawPeer::RawPeer(Session::Role role, const Session::Options& options, Start start)
    : side(role, options), role_(role) {
  if (start == Start::kSilent) return;
  if (role == Session::Role::kServer) Write(kPreface);
  Write(FrameType::kSettings, 0, 0, "");
  Write(FrameType::kSettings, kAck, 0, "");
  if (role == Session::Role::kServer) {
    Read();
    return;
  }
  std::vector<uint8_t> bytes = side.Take();
  EXPECT_TRUE(std::string(bytes.begin(), bytes.end()).starts_with(kPreface));
}

bool RawPeer::Write(std::string_view bytes) {
  receives_ =
      side.session.Receive({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, now);
  return receives_;
}

bool RawPeer::Write(FrameType type, uint8_t flags, int32_t stream, std::string_view payload) {
  return Write(FrameHead(payload.size(), type, flags, stream) + std::string(payload));
}

bool RawPeer::WriteHeaders(int32_t stream, const HeaderList& fields, bool end) {
  return Write(FrameType::kHeaders, kEndHeaders | (end ? kEndStream : 0), stream, Encode(fields));
}

bool RawPeer::WriteData(int32_t stream, std::string_view data, bool end) {
  return Write(FrameType::kData, end ? kEndStream : 0, stream, data);
}

bool RawPeer::WriteReset(int32_t stream, H2Error error) {
  return Write(FrameType::kReset, 0, stream, Number(static_cast<uint32_t>(error)));
}

bool RawPeer::WriteWindowUpdate(int32_t stream, uint32_t bytes) {
  return Write(FrameType::kWindowUpdate, 0, stream, Number(bytes));
}

bool RawPeer::WriteSetting(SettingId id, uint32_t value) {
  return Write(FrameType::kSettings, 0, 0, Setting(id, value));
}

bool RawPeer::WritePriority(int32_t stream, uint32_t depends_on, uint8_t weight) {
  return Write(FrameType::kPriority, 0, stream, Number(depends_on) + Number(weight, 1));
}

std::vector<Frame> RawPeer::Read() {
  const std::vector<uint8_t> taken = side.Take();
  std::string_view bytes(reinterpret_cast<const char*>(taken.data()), taken.size());
  std::vector<Frame> frames;
  while (bytes.size() >= 9) {
    Frame frame = ParseFrameHead(bytes);
    const size_t size = ReadNumber(bytes) >> 8;
    EXPECT_LE(9 + size, bytes.size()) << "half a frame";
    frame.payload = bytes.substr(9, size);
    bytes.remove_prefix(std::min(9 + size, bytes.size()));
    frames.push_back(std::move(frame));
  }
  EXPECT_TRUE(bytes.empty()) << "half the head of a frame";
  return frames;
}

std::string RawPeer::ReadBody(int32_t stream) {
  std::string body;
  for (const Frame& frame : Of(Read(), FrameType::kData, stream)) body += frame.payload;
  return body;
}

HeaderList RawPeer::Decode(const Frame& headers) {
  const auto fields = fields_.Decode(headers.payload);
  EXPECT_TRUE(fields.has_value()) << "a header block that cannot be decoded";
  return fields.value_or(HeaderList());
}

std::string RawPeer::Heard(size_t i) const {
  return i < side.requests.size() ? side.requests[i]->events : "";
}

void RawPeer::Answer(size_t i, std::string_view body) {
  Stream& stream = *side.request(i).stream;
  FillResponseHead(stream);
  stream.SendHead(false);
  if (!body.empty()) stream.SendData(Bytes(body), false);
  stream.trailers().Add("grpc-status", "0");
  stream.SendTrailers();
}

Stream& RawPeer::StartCall(RecordingHandler& call) {
  Stream& stream = side.session.Open(call);
  call.stream = &stream;
  for (const auto& [name, value] : RequestHead()) stream.head().Add(name, value);
  stream.SendHead(false);
  Read();
  return stream;
}

AssertionResult RawPeer::IsReset(int32_t stream, Errors errors) {
  if (!receives_) return AssertionFailure() << "the session has given up; " << Describe(Read());
  return SaysReset(Read(), stream, errors);
}

AssertionResult RawPeer::StreamEnds(int32_t stream, Errors errors) {
  AssertionResult reset = IsReset(stream, errors);
  return reset ? Lives() : reset;
}

AssertionResult RawPeer::ConnectionEnds(Errors errors) { return EndsWith(Read(), errors); }

AssertionResult RawPeer::EndsWith(const std::vector<Frame>& frames, Errors errors) {
  AssertionResult goaway = SaysGoaway(frames, errors);
  if (!goaway) return goaway;
  if (receives_) return AssertionFailure() << "the session goes on after its GOAWAY";
  if (!side.session.Done()) return AssertionFailure() << "the session is not done";
  return AssertionSuccess();
}

AssertionResult RawPeer::StreamOrConnectionEnds(int32_t stream, Errors errors) {
  const std::vector<Frame> frames = Read();
  if (!Of(frames, FrameType::kGoaway, 0).empty()) return EndsWith(frames, errors);
  AssertionResult reset = SaysReset(frames, stream, errors);
  return reset ? Lives() : reset;
}

AssertionResult RawPeer::Lives() {
  if (!receives_) return AssertionFailure() << "the session has given up; " << Describe(Read());
  AssertionResult well = SaysNoError(Read());
  if (!well) return well;
  return role_ == Session::Role::kServer ? ServesACall() : MakesACall();
}

AssertionResult RawPeer::ServesACall() {
  const size_t heard = side.requests.size();
  const int32_t stream = std::exchange(probe_, probe_ + 2);
  if (!WriteHeaders(stream, RequestHead(), true) || side.requests.size() != heard + 1) {
    return AssertionFailure() << "a further request is not heard; " << Describe(Read());
  }
  Answer(heard);
  const std::vector<Frame> frames = Read();
  const auto blocks = Of(frames, FrameType::kHeaders, stream);
  if (blocks.size() != 2 || !blocks[1].ends_stream()) {
    return AssertionFailure() << "its answer does not come; " << Describe(frames);
  }
  return AssertionSuccess();
}

AssertionResult RawPeer::MakesACall() {
  if (side.session.FreeSlots() == 0) return AssertionFailure() << "no further stream can be opened";
  RecordingHandler& call = *probes_.emplace_back(std::make_unique<RecordingHandler>());
  Stream& stream = StartCall(call);
  stream.SendData(Chunk(), true);
  Read();
  if (!WriteHeaders(stream.id(), ResponseHead(), true) || !call.events.starts_with("only ")) {
    return AssertionFailure() << "the answer to a further call does not come: " << call.events;
  }
  return AssertionSuccess();
}

}  // namespace levee::h2_test
