// SPDX-License-Identifier: Apache-2.0
// Listeners: where, for whom, and for what.
#include <string>

#include "config/faults_of.h"
#include "config/load.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Listener(const std::string& fields) {
  return "listeners: [{name: a, " + fields + "}]\n";
}

ListenerSpec Loaded(const std::string& fields) {
  const auto snapshot = ParseConfig("f", Listener(fields));
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return (*snapshot)->listeners.at(0);
}

TEST(Listeners, AUnixSocketHasAPathAndAMode) {
  const ListenerSpec spec = Loaded("address: \"unix:/run/levee/egress.sock\", mode: 0606");
  EXPECT_EQ(spec.address.path, "/run/levee/egress.sock");
  EXPECT_EQ(spec.address.host, "");
  EXPECT_EQ(spec.mode, 0606);
}

TEST(Listeners, AUnixSocketIsForOwnerAndGroupUnlessSaidOtherwise) {
  EXPECT_EQ(Loaded("address: \"unix:/run/a.sock\"").mode, 0660);
}

TEST(Listeners, ByDefaultBothProtocolsAreTaken) {
  const ListenerSpec spec = Loaded("address: \"127.0.0.1:1\"");
  EXPECT_TRUE(spec.capture.h2c);
  EXPECT_TRUE(spec.capture.connect);
}

TEST(Listeners, CaptureChoosesProtocols) {
  const ListenerSpec spec = Loaded("address: \"127.0.0.1:1\", capture: [connect]");
  EXPECT_FALSE(spec.capture.h2c);
  EXPECT_TRUE(spec.capture.connect);
}

TEST(Listeners, CaptureOfNothingIsRefused) {
  EXPECT_EQ(FaultsOf(Listener("address: \"127.0.0.1:1\", capture: []")),
            "f:1:47: LV111 listeners[0].capture: is empty; give at least one");
}

TEST(Listeners, APathIsAbsoluteAndFits) {
  EXPECT_EQ(FaultsOf(Listener("address: \"unix:egress.sock\"")),
            "f:1:32: LV209 listeners[0].address: \"unix:egress.sock\" has no absolute path; say "
            "unix:/run/levee/egress.sock");
  EXPECT_EQ(FaultsOf(Listener("address: \"unix:/" + std::string(106, 'p') + "\"")), "");
  EXPECT_TRUE(FaultsOf(Listener("address: \"unix:/" + std::string(107, 'p') + "\""))
                  .ends_with("has a path of 108 bytes; a Unix socket's has at most 107"));
}

TEST(Listeners, AModeIsOctal) {
  EXPECT_EQ(FaultsOf(Listener("address: \"unix:/a\", mode: 0999")),
            "f:1:49: LV216 listeners[0].mode: \"0999\" is not a file mode; say 0660 (octal)");
}

TEST(Listeners, OnlyAUnixSocketHasAMode) {
  EXPECT_EQ(FaultsOf(Listener("address: \"127.0.0.1:1\", mode: 0660")),
            "f:1:53: LV309 listeners[0].mode: is for Unix sockets, and the address is not one; "
            "leave it out");
}

TEST(Listeners, APathIsUsedOnce) {
  EXPECT_NE(FaultsOf("listeners: [{name: a, address: \"unix:/a\"}, {name: b, address: "
                     "\"unix:/a\"}]\n"),
            "");
}

TEST(Listeners, MetricsAreServedOverTcp) {
  EXPECT_EQ(
      FaultsOf("metrics: {address: \"unix:/a\"}\n"),
      "f:1:20: LV209 metrics.address: \"unix:/a\" is a Unix socket, which HTTP clients do not "
      "reach; say 127.0.0.1:9461");
}

}  // namespace
}  // namespace levee
