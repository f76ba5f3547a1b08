// SPDX-License-Identifier: Apache-2.0
// PINGs, and what peers say who have had too many.
#include <gtest/gtest.h>

#include <string>

#include "h2/session_pair.h"

namespace levee::h2 {
namespace {

std::vector<uint8_t> GoawayFrame(uint8_t error, const std::string& text) {
  std::vector<uint8_t> frame = {
      0, 0, static_cast<uint8_t>(8 + text.size()), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, error};
  frame.insert(frame.end(), text.begin(), text.end());
  return frame;
}

TEST(Ping, IsAcknowledged) {
  SessionPair pair;
  pair.Pump();
  pair.client.session.SendPing();
  const auto ping = pair.client.Take();
  ASSERT_EQ(ping.size(), 17u);
  EXPECT_EQ(ping[3], 6);
  pair.server.session.Receive(ping, Instant());
  const auto answer = pair.server.Take();
  ASSERT_EQ(answer.size(), 17u);
  EXPECT_EQ(answer[3], 6);
  EXPECT_EQ(answer[4], 1);  // ACK
}

TEST(Ping, APeerThatHasHadTooManyIsUnderstood) {
  for (const auto& [error, text, expected] :
       {std::tuple{11, "too_many_pings", true}, {11, "", false}, {0, "too_many_pings", false}}) {
    SessionPair pair;
    pair.Pump();
    pair.client.session.Receive(GoawayFrame(static_cast<uint8_t>(error), text), Instant());
    EXPECT_EQ(pair.client.goaways, 1);
    EXPECT_EQ(pair.client.session.too_many_pings(), expected) << error << text;
  }
}

}  // namespace
}  // namespace levee::h2
