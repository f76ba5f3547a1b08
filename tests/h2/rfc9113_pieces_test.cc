// SPDX-License-Identifier: Apache-2.0
// RFC 9113, section 4: frames that a connection delivers in pieces mean what they mean as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;

std::string FrameBytes(FrameType type, uint8_t flags, int32_t stream, std::string_view payload) {
  return FrameHead(payload.size(), type, flags, stream) + std::string(payload);
}

std::string Head(int32_t stream, const HeaderList& fields, bool end) {
  return FrameBytes(FrameType::kHeaders, kEndHeaders | (end ? kEndStream : 0), stream,
                    Encode(fields));
}

// A connection of a caller on which a frame of each kind comes, with each of its parts.
std::string Conversation() {
  const std::string block = Encode(RequestHead());
  return kPreface + FrameBytes(FrameType::kSettings, 0, 0, "") +
         FrameBytes(FrameType::kSettings, kAck, 0, "") +
         // Stream 1: a head in three frames, a padded body, trailers.
         FrameBytes(FrameType::kHeaders, kPadded | kPrioritised, 1,
                    Padded(Number(0) + "\x10" + block.substr(0, 9), 40)) +
         FrameBytes(FrameType::kContinuation, 0, 1, block.substr(9, 1)) +
         FrameBytes(FrameType::kContinuation, kEndHeaders, 1, block.substr(10)) +
         FrameBytes(FrameType::kData, kPadded, 1, Padded("one ", 200)) +
         FrameBytes(FrameType::kData, kPadded, 1, Padded("two ", 0)) +
         FrameBytes(FrameType::kData, kPadded, 1, Padded("", 3)) +
         FrameBytes(FrameType::kData, 0, 1, "") + FrameBytes(FrameType::kData, 0, 1, "three") +
         Head(1, {{"x-trailer", "1"}}, true) +
         // Frames of no stream, or without consequence.
         FrameBytes(FrameType::kSettings, 0, 0,
                    Setting(SettingId::kInitialWindowSize, 9) +
                        Setting(SettingId::kMaxFrameSize, 20'000)) +
         FrameBytes(FrameType::kPing, 0, 0, "12345678") +
         FrameBytes(FrameType::kWindowUpdate, 0, 0, Number(10)) +
         FrameBytes(FrameType::kPriority, 0, 9, Number(1) + "\x10") +
         FrameBytes(static_cast<FrameType>(0xbe), 0xff, 1, "unknown") +
         // Stream 3 is reset, 5 goes on.
         Head(3, RequestHead(), false) + FrameBytes(FrameType::kReset, 0, 3, Number(8)) +
         Head(5, RequestHead(), false) + FrameBytes(FrameType::kWindowUpdate, 0, 5, Number(10));
}

// All that comes of `bytes`, of which the session receives `piece` at a time. Window that is
// returned to the caller is left out: how much comes at once is the session's to choose.
std::string Outcome(std::string_view bytes, size_t piece) {
  RawPeer peer(Session::Role::kServer, {}, RawPeer::Start::kSilent);
  bool receives = true;
  for (size_t at = 0; at < bytes.size() && receives; at += piece) {
    receives = peer.Write(bytes.substr(at, piece));
  }
  std::string outcome = receives ? "receives\n" : "has ended\n";
  for (const auto& request : peer.side.requests) {
    absl::StrAppend(&outcome, "heard ", request->events, " with ", request->body, "\n");
  }
  for (const Frame& frame : peer.Read()) {
    if (frame.type == FrameType::kWindowUpdate) continue;
    absl::StrAppend(&outcome, "said type ", static_cast<int>(frame.type), " flags ", frame.flags,
                    " stream ", frame.stream);
    // A GOAWAY may end with text for people, which is of no matter here.
    const bool goaway = frame.type == FrameType::kGoaway;
    const std::string_view payload(frame.payload.data(), goaway ? size_t{8} : frame.payload.size());
    for (const char byte : payload) absl::StrAppend(&outcome, " ", static_cast<uint8_t>(byte));
    outcome += '\n';
  }
  return outcome;
}

void ExpectTheSameInPieces(std::string_view bytes) {
  const std::string whole = Outcome(bytes, bytes.size());
  for (const size_t piece : {1, 2, 7, 10, 100}) EXPECT_EQ(Outcome(bytes, piece), whole) << piece;
}

TEST(Rfc9113, C1_4_1_FramesMayComeInPieces) {
  const std::string head = ":method=POST :scheme=http :path=/a.B/C :authority=x:1";
  const std::string outcome = Outcome(Conversation(), 1);
  EXPECT_TRUE(
      outcome.starts_with("receives\n"
                          "heard head " +
                          head +
                          "; end with one two three\n"
                          "heard head " +
                          head +
                          "; closed reset 8 with \n"
                          "heard head " +
                          head + " with \n"))
      << outcome;
  ExpectTheSameInPieces(Conversation());
}

TEST(Rfc9113, C1_4_1_FaultsOfAConnectionThatComeInPiecesAreTheSame) {
  for (const std::string& fault : {
           FrameBytes(FrameType::kData, 0, 0, "x"),
           FrameBytes(FrameType::kData, kPadded, 5, "\6xxxxx"),
           FrameBytes(FrameType::kHeaders, kEndHeaders, 7, "\x40"),
           FrameBytes(FrameType::kHeaders, kEndHeaders, 8, Encode(RequestHead())),
           FrameBytes(FrameType::kHeaders, kEndHeaders, 7, std::string(kMaxFrame + 1, 'x')),
           FrameBytes(FrameType::kHeaders, 0, 7, "") + FrameBytes(FrameType::kData, 0, 7, "x"),
           FrameBytes(FrameType::kReset, 0, 5, "xxx"),
           FrameBytes(FrameType::kReset, 0, 8, Number(8)),
           FrameBytes(FrameType::kSettings, 0, 0, "xxxxxxx"),
           FrameBytes(FrameType::kSettings, 0, 0, Setting(SettingId::kMaxFrameSize, 1)),
           FrameBytes(FrameType::kPushPromise, kEndHeaders, 5, Number(2)),
           FrameBytes(FrameType::kPing, 0, 0, "1234567"),
           FrameBytes(FrameType::kGoaway, 0, 1, Number(0) + Number(0)),
           FrameBytes(FrameType::kWindowUpdate, 0, 0, Number(0)),
           FrameBytes(FrameType::kContinuation, kEndHeaders, 5, "x"),
       }) {
    // Bytes that come after the fault are not taken.
    const std::string bytes = Conversation() + fault + Head(9, RequestHead(), true);
    EXPECT_TRUE(Outcome(bytes, bytes.size()).starts_with("has ended\n"));
    ExpectTheSameInPieces(bytes);
  }
}

TEST(Rfc9113, C1_4_1_FaultsOfAStreamThatComeInPiecesAreTheSame) {
  for (const std::string& fault : {
           Head(7, {{":method", "POST"}}, true),
           Head(5, {{"x-trailer", "1"}}, false),
           FrameBytes(FrameType::kWindowUpdate, 0, 5, Number(0)),
           FrameBytes(FrameType::kWindowUpdate, 0, 5, Number(0x7fff'ffff)),
       }) {
    const std::string bytes = Conversation() + fault + Head(9, RequestHead(), true);
    EXPECT_TRUE(Outcome(bytes, bytes.size()).starts_with("receives\n"));
    ExpectTheSameInPieces(bytes);
  }
}

}  // namespace
}  // namespace levee::h2_test
