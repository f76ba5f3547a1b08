// SPDX-License-Identifier: Apache-2.0
// Streams whose peer is far away are not bound by their windows, and others keep small ones.
#include "h2/window_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "h2/frame.h"
#include "h2/session_pair.h"

namespace levee::h2 {
namespace {

constexpr uint32_t kUsual = 256 * 1024;

// A client that uploads without end to a server, over a link with a round trip and a rate.
class Upload {
 public:
  // `rate`: bytes in a second that the link carries to the server.
  Upload(absl::Duration round_trip, double rate, int64_t room = 64 << 20)
      : one_way_(round_trip / 2), rate_(rate), block_(Bytes(std::string(1 << 20, 'x'))) {
    pair_.server.pool.SetRoomToGrow(room);
    pair_.Pump();
    stream_ = &pair_.StartCall(call_);
    pair_.Pump();
    receiver().credit = false;
  }

  // Lets the time pass. Returns how many bytes came in it. `reads`: bytes in a second that leave
  // the receiver.
  uint64_t Run(absl::Duration span, double reads = 1e12) {
    const Instant end = pair_.now + span;
    const uint64_t before = received_;
    while (pair_.now < end) {
      while (stream_->queued_bytes() < (64u << 20)) stream_->SendData(block_, false);
      Carry();
      Read(reads);
    }
    return received_ - before;
  }

  // Begins a further call, of `bytes`, and lets the time pass. Returns how many WINDOW_UPDATE
  // frames the server sends for it.
  int UpdatesOfShortCall(size_t bytes, absl::Duration span) {
    Stream& stream = pair_.StartCall(short_call_);
    stream.SendData(Bytes(std::string(bytes, 'x')), false);
    Run(span);
    EXPECT_EQ(pair_.server.request(1).body.size(), bytes);
    return updates_[stream.id()];
  }

  void SetRoom(int64_t bytes) { pair_.server.pool.SetRoomToGrow(bytes); }

  // Received and not yet read.
  uint64_t waiting() const { return received_ - read_; }

 private:
  struct Piece {
    Instant due;
    std::vector<uint8_t> bytes;
    Side* to;
  };

  RecordingHandler& receiver() { return pair_.server.request(0); }

  void CountUpdates(const std::vector<uint8_t>& frames) {
    for (size_t at = 0; at < frames.size();) {
      const FrameHead head = ReadFrameHead(&frames[at]);
      updates_[head.stream_id] += head.Is(FrameType::kWindowUpdate) ? 1 : 0;
      at += kFrameHeadBytes + head.length;
    }
  }

  // Puts what both sides have to say on the link, and delivers what has come by the next moment.
  void Carry() {
    const std::vector<uint8_t> up = pair_.client.Take();
    for (size_t at = 0; at < up.size(); at += kPiece) {
      const size_t size = std::min(kPiece, up.size() - at);
      free_at_ = std::max(free_at_, pair_.now) + absl::Seconds(static_cast<double>(size) / rate_);
      up_.push_back(
          {free_at_ + one_way_, {up.begin() + at, up.begin() + at + size}, &pair_.server});
    }
    std::vector<uint8_t> down = pair_.server.Take();
    CountUpdates(down);
    if (!down.empty()) down_.push_back({pair_.now + one_way_, std::move(down), &pair_.client});
    pair_.now = pair_.now + kStep;
    for (std::deque<Piece>* link : {&up_, &down_}) {
      for (; !link->empty() && link->front().due <= pair_.now; link->pop_front()) {
        Side& to = *link->front().to;
        ASSERT_TRUE(to.session.Receive(link->front().bytes, pair_.now));
      }
    }
    received_ += receiver().body.size();
    receiver().body.clear();
    receiver().pieces.clear();
  }

  void Read(double rate) {
    allowance_ = std::min(allowance_ + rate * absl::ToDoubleSeconds(kStep), 1e9);
    const auto size = std::min(waiting(), static_cast<uint64_t>(allowance_));
    allowance_ = waiting() == size ? 0 : allowance_ - static_cast<double>(size);
    read_ += size;
    if (size > 0) receiver().stream->Credit(size);
  }

  static constexpr absl::Duration kStep = absl::Microseconds(50);
  static constexpr size_t kPiece = 16 * 1024;

  const absl::Duration one_way_;
  const double rate_;
  const Chunk block_;
  SessionPair pair_;
  RecordingHandler call_;
  Stream* stream_ = nullptr;
  RecordingHandler short_call_;
  std::map<uint32_t, int> updates_;  // sent by the server, by stream
  std::deque<Piece> up_;
  std::deque<Piece> down_;
  Instant free_at_;
  double allowance_ = 0;
  uint64_t received_ = 0;
  uint64_t read_ = 0;
};

TEST(WindowGrowth, AStreamOver20MsRunsAtTheSpeedOfTheLink) {
  constexpr double kRate = 125e6;  // 1 Gbit/s
  Upload upload(absl::Milliseconds(20), kRate);
  upload.Run(absl::Milliseconds(400));
  EXPECT_GE(static_cast<double>(upload.Run(absl::Milliseconds(400))), 0.97 * 0.4 * kRate);
}

TEST(WindowGrowth, LinksOfAllKindsAreFilledAfterAFewRoundTrips) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const double ms = std::exp(random.Uniform() * std::log(40));
    const double most = std::min(100e6, 7e6 / ms * 1e3);  // half of the largest window fills it
    const double rate = std::exp(std::log(1e6) + random.Uniform() * std::log(most / 1e6));
    SCOPED_TRACE(testing::Message() << ms << " ms, " << rate / 1e6 << " MB/s");
    Upload upload(absl::Milliseconds(ms), rate);
    upload.Run(absl::Milliseconds(25 * ms + 100));
    const double seconds = 10 * ms / 1e3;
    EXPECT_GE(static_cast<double>(upload.Run(absl::Seconds(seconds))),
              0.95 * seconds * rate - 16384);
  }
}

TEST(WindowGrowth, AShortCallOfAConnectionWhoseWindowsHaveGrownNeedsNoUpdate) {
  Upload upload(absl::Milliseconds(20), 125e6);
  upload.Run(absl::Milliseconds(400));
  EXPECT_EQ(upload.UpdatesOfShortCall(1000, absl::Milliseconds(400)), 0);
}

TEST(WindowGrowth, AStreamWhoseBytesDoNotLeaveKeepsItsWindow) {
  Upload upload(absl::Milliseconds(20), 125e6);
  upload.Run(absl::Seconds(1), 1e6);
  EXPECT_LE(upload.waiting(), kUsual);
}

TEST(WindowGrowth, AReaderThatStopsHoldsAWindowAtMost) {
  Upload upload(absl::Milliseconds(20), 125e6, (1 << 20) - kUsual);
  upload.Run(absl::Milliseconds(400));
  upload.Run(absl::Milliseconds(400), 0);
  EXPECT_LE(upload.waiting(), 1u << 20);
  EXPECT_GE(upload.waiting(), 1u << 19);
}

TEST(WindowGrowth, AGrownWindowShrinksWhenMemoryIsShort) {
  Upload upload(absl::Milliseconds(20), 125e6);
  upload.Run(absl::Milliseconds(400));
  upload.SetRoom(0);
  EXPECT_GT(upload.Run(absl::Seconds(1)), 256u * 1024 * 20);  // It goes on all the same.
  upload.Run(absl::Milliseconds(400), 0);
  EXPECT_LE(upload.waiting(), kUsual);
}

TEST(WindowGrowth, APeerOnTheSameMachineKeepsItsWindow) {
  Upload upload(absl::Microseconds(100), 1e9);
  upload.Run(absl::Milliseconds(200));
  upload.Run(absl::Milliseconds(200), 0);
  EXPECT_LE(upload.waiting(), kUsual);
}

}  // namespace
}  // namespace levee::h2
