// SPDX-License-Identifier: Apache-2.0
#include "upstream/peer_silence.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

using State = PeerSilence::State;

constexpr absl::Duration kTrip = absl::Milliseconds(1);

Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

// What a watch sees each 100 ms of a peer that acknowledges nothing from `from` on, when the next
// segment is sent; the kernel sends it again after 200, 600 and 1400 ms.
net::PeerSigns Lost(double at, double from, absl::Duration idle_before) {
  const int retransmits = (at >= from + 0.2 ? 1 : 0) + (at >= from + 0.6 ? 1 : 0);
  return {.unacknowledged = at >= from ? 1 : 0,
          .since_ack = absl::Seconds(at - from) + idle_before,
          .retransmits = retransmits,
          .round_trip = kTrip};
}

// The instant at which the state is reached.
double When(State wanted, absl::Duration idle_before) {
  PeerSilence silence;
  for (int step = 0; step < 100; ++step) {
    const double at = 10 + step * 0.1;
    if (silence.Judge(Lost(at, 10.05, idle_before), At(at)) == wanted) return at - 10.05;
  }
  return -1;
}

TEST(PeerSilence, APeerWithoutPowerIsSilentAfterHalfASecondAndGoneAfterOne) {
  for (const absl::Duration idle : {absl::ZeroDuration(), absl::Minutes(10)}) {
    EXPECT_NEAR(When(State::kSilent, idle), 0.55, 0.11) << idle;
    EXPECT_NEAR(When(State::kGone, idle), 1.05, 0.11) << idle;
  }
}

TEST(PeerSilence, APeerThatAcknowledgesAndAnswersNothingLives) {
  PeerSilence silence;
  for (int i = 0; i < 600; ++i) {
    // What was sent lately is under way.
    const net::PeerSigns signs = {.unacknowledged = i % 2,
                                  .since_ack = i % 2 == 1 ? absl::Seconds(9) : kTrip,
                                  .retransmits = 0,
                                  .round_trip = kTrip};
    EXPECT_EQ(silence.Judge(signs, At(i)), State::kLives);
  }
}

TEST(PeerSilence, WhoAnswersAgainLives) {
  PeerSilence silence;
  for (double at = 1; at < 3; at += 0.1) silence.Judge(Lost(at, 1, absl::ZeroDuration()), At(at));
  EXPECT_EQ(silence.Judge(Lost(3, 1, absl::ZeroDuration()), At(3)), State::kGone);
  EXPECT_EQ(silence.Judge({.unacknowledged = 3,
                           .since_ack = absl::Milliseconds(10),
                           .retransmits = 0,
                           .round_trip = kTrip},
                          At(3.1)),
            State::kLives);
  EXPECT_EQ(silence.Judge({}, At(3.2)), State::kLives);
}

TEST(PeerSilence, WhereARoundTripTakesLongSoDoesTheJudgement) {
  PeerSilence silence;
  net::PeerSigns signs = {.unacknowledged = 1,
                          .since_ack = absl::Seconds(5),
                          .retransmits = 2,
                          .round_trip = absl::Seconds(1)};
  EXPECT_EQ(silence.Judge(signs, At(0)), State::kLives);
  EXPECT_EQ(silence.Judge(signs, At(2.9)), State::kLives);
  EXPECT_EQ(silence.Judge(signs, At(3.1)), State::kGone);
}

}  // namespace
}  // namespace levee
