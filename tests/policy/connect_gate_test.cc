// SPDX-License-Identifier: Apache-2.0
#include "policy/connect_gate.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

// Lets as many calls go as may, and returns how many run then.
int Release(ConnectGate& gate, int active) {
  while (active < 1000 && gate.MayGo(active)) ++active;
  return active;
}

TEST(ConnectGate, TenGoFirstAndTwoForEachThatIsAnswered) {
  ConnectGate gate;
  gate.OnHeld();
  EXPECT_EQ(Release(gate, 0), 10);
  gate.OnAnswer();
  EXPECT_EQ(Release(gate, 9), 11);
  for (int i = 0; i < 3; ++i) gate.OnAnswer();
  EXPECT_EQ(Release(gate, 8), 14);
}

TEST(ConnectGate, ACallThatFailsMakesRoomForOne) {
  ConnectGate gate;
  gate.OnHeld();
  EXPECT_EQ(Release(gate, 0), 10);
  EXPECT_EQ(Release(gate, 0), 10);
}

TEST(ConnectGate, CallsThatRanBeforeTakeNoRoom) {
  ConnectGate gate;
  gate.OnHeld();
  EXPECT_EQ(Release(gate, 50), 60);
  EXPECT_EQ(Release(gate, 20), 30);  // Some of them have ended.
}

TEST(ConnectGate, WithoutAnybodyWhoWaitsAllMayGo) {
  ConnectGate gate;
  EXPECT_EQ(Release(gate, 0), 1000);
  gate.OnHeld();
  gate.OnEmpty();
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(Release(gate, 0), 1000);
}

TEST(ConnectGate, WhoseServiceVanishesAgainItBeginsAnew) {
  ConnectGate gate;
  gate.OnHeld();
  for (int i = 0; i < 100; ++i) gate.OnAnswer();
  gate.OnHeld();
  EXPECT_EQ(Release(gate, 0), 10);
}

TEST(PatientUntil, TheWaitCountsFromTheFirstAttemptAndEndsBeforeTheDeadline) {
  const Instant now = Instant() + absl::Seconds(100);
  const Instant begun = now - absl::Seconds(3);
  const absl::Duration wait = absl::Seconds(10);
  EXPECT_EQ(PatientUntil(wait, begun, Instant::Infinite(), now), begun + wait);
  EXPECT_EQ(PatientUntil(wait, begun, now + absl::Seconds(2), now), now + absl::Milliseconds(1900));
  EXPECT_EQ(PatientUntil(wait, begun, now + absl::Milliseconds(50), now),
            now + absl::Milliseconds(40));
  EXPECT_EQ(PatientUntil(absl::ZeroDuration(), begun, Instant::Infinite(), now), now);
}

}  // namespace
}  // namespace levee
