// SPDX-License-Identifier: Apache-2.0
// Which redirected connections are Levee's own, and how often that is told.
#include "server/capture_loops.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

net::Address AddressAt(const char* ip, uint16_t port) { return *net::Address::FromIp(ip, port); }

class CaptureLoopsTest : public testing::Test {
 protected:
  std::vector<std::string> told_;  // the destinations
  EventLog log_{LogLevel::kError, [this](const LogEvent& event) {
                  for (const LogField& field : event.fields) {
                    if (field.name == "destination") told_.push_back(field.text);
                  }
                }};
  CaptureLoops loops_{log_};
};

TEST_F(CaptureLoopsTest, AConnectionIsOwnFromItsDialToItsEnd) {
  const net::Address from = AddressAt("10.0.0.1", 40000);
  {
    CaptureLoops::Dialled dialled(loops_);
    EXPECT_FALSE(loops_.Has(from, "10.0.0.2:9090"));
    dialled.Set(from, AddressAt("10.0.0.2", 9090));
    EXPECT_TRUE(loops_.Has(from, "10.0.0.2:9090"));
    // Another address of the same name is tried.
    dialled.Set(from, AddressAt("10.0.0.3", 9090));
    EXPECT_FALSE(loops_.Has(from, "10.0.0.2:9090"));
    EXPECT_TRUE(loops_.Has(from, "10.0.0.3:9090"));
  }
  EXPECT_FALSE(loops_.Has(from, "10.0.0.3:9090"));
}

TEST_F(CaptureLoopsTest, AConnectionOfTheApplicationFromTheSamePortToAnotherPlaceIsNone) {
  CaptureLoops::Dialled dialled(loops_);
  dialled.Set(AddressAt("10.0.0.1", 40000), AddressAt("10.0.0.2", 9090));
  EXPECT_FALSE(loops_.Has(AddressAt("10.0.0.1", 40000), "10.0.0.4:9090"));
  EXPECT_FALSE(loops_.Has(AddressAt("10.0.0.1", 40001), "10.0.0.2:9090"));
}

TEST_F(CaptureLoopsTest, AnIpv4AddressInIpv6IsTheSame) {
  CaptureLoops::Dialled dialled(loops_);
  dialled.Set(AddressAt("10.0.0.1", 40000), AddressAt("10.0.0.2", 9090));
  EXPECT_TRUE(loops_.Has(AddressAt("::ffff:10.0.0.1", 40000), "10.0.0.2:9090"));
}

TEST_F(CaptureLoopsTest, ALoopIsToldOnceAMinute) {
  const auto listener = std::make_shared<const ListenerSpec>();
  const auto origin = [&](const char* original) {
    return ConnectionOrigin{.listener = listener, .original = original};
  };
  const Instant start = Instant::FromNanos(0);
  loops_.Tell(origin("a:1"), start);
  loops_.Tell(origin("b:1"), start + CaptureLoops::kSpacing - absl::Milliseconds(1));
  loops_.Tell(origin("c:1"), start + CaptureLoops::kSpacing);
  EXPECT_EQ(told_, (std::vector<std::string>{"a:1", "c:1"}));
}

TEST_F(CaptureLoopsTest, ACallThatCameBackIsTheFirewallsDoingOnlyIfItWasRedirected) {
  const auto listener = std::make_shared<const ListenerSpec>();
  const std::string direct = loops_.OnCameBack({.listener = listener}, Instant::FromNanos(0));
  EXPECT_NE(direct.find("endpoints"), std::string::npos);
  EXPECT_EQ(told_.size(), 0u);
  const std::string redirected =
      loops_.OnCameBack({.listener = listener, .original = "a:1"}, Instant::FromNanos(0));
  EXPECT_NE(redirected.find("--uid"), std::string::npos);
  EXPECT_EQ(told_.size(), 1u);
}

}  // namespace
}  // namespace levee
