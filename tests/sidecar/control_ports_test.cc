// SPDX-License-Identifier: Apache-2.0
// The control ports from one configuration to the next.
#include "sidecar/control_ports.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "admin/fake_sidecar.h"
#include "admin/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sidecar/busy_port.h"
#include "sidecar/fake_grpc_port.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ControlPortsTest : public testing::Test {
 protected:
  static std::optional<ListenAddress> On(const std::string& host, uint16_t port = 0) {
    return ListenAddress{.host = host, .port = port, .path = "", .position = ""};
  }

  // Both steps. False if the first one fails; then all is rolled back.
  bool Change(const Snapshot& snapshot) {
    if (absl::Status prepared = ports_.Prepare(snapshot); !prepared.ok()) {
      error_ = std::string(prepared.message());
      EXPECT_TRUE(ports_.RollBack().ok());
      return false;
    }
    ports_.Commit();
    return true;
  }

  // The number of the port that a line names; 0: it is not open.
  uint16_t Port(const std::string& name) const {
    for (const std::string& line : ports_.Lines()) {
      if (!line.starts_with("listening " + name + " ")) continue;
      return static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
    }
    return 0;
  }
  static bool Answers(uint16_t port) {
    return HttpClient(port).connected() && Ask(port, "GET", "/").status != 0;
  }

  FakeSidecar sidecar_;
  StateKeeper keeper_{sidecar_, "instance"};
  FakeGrpc grpc_;
  ControlPorts ports_{sidecar_, keeper_, grpc_.Opener()};
  Snapshot snapshot_;
  std::string error_;
};

TEST_F(ControlPortsTest, OpensThoseThatTheConfigurationHasAndNamesThem) {
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_THAT(ports_.Lines(), IsEmpty());
  snapshot_.metrics = snapshot_.admin = On("127.0.0.1");
  snapshot_.grpc_admin = On("127.0.0.1", 9463);
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_THAT(ports_.Lines(), ElementsAre(StartsWith("listening metrics 127.0.0.1:"),
                                          StartsWith("listening admin 127.0.0.1:"),
                                          "listening admin-grpc 127.0.0.1:9463"));
  EXPECT_EQ(Ask(Port("metrics"), "GET", "/healthz").status, 200);
  EXPECT_EQ(Ask(Port("admin"), "GET", "/config").status, 200);
}

TEST_F(ControlPortsTest, OnesAtTheSameAddressStay) {
  snapshot_.metrics = On("127.0.0.1");
  snapshot_.grpc_admin = On("127.0.0.1", 9463);
  EXPECT_TRUE(Change(snapshot_));
  const uint16_t metrics = Port("metrics");
  snapshot_.admin = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_EQ(Port("metrics"), metrics);
  EXPECT_EQ(grpc_.opened, 1);
  EXPECT_EQ(grpc_.stopped, 0);
}

TEST_F(ControlPortsTest, OneThatIsGoneServesUntilTheCommit) {
  snapshot_.metrics = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  const uint16_t before = Port("metrics");
  snapshot_.metrics.reset();
  EXPECT_TRUE(ports_.Prepare(snapshot_).ok());
  EXPECT_TRUE(Answers(before));
  {
    const auto gone = ports_.Commit();
    EXPECT_EQ(gone.size(), 1u);
    EXPECT_THAT(ports_.Lines(), IsEmpty());
  }
  EXPECT_FALSE(HttpClient(before).connected());
}

TEST_F(ControlPortsTest, AfterAnErrorAllIsAsItWas) {
  snapshot_.metrics = On("127.0.0.1");
  snapshot_.grpc_admin = On("127.0.0.1", 9463);
  EXPECT_TRUE(Change(snapshot_));
  const auto lines = ports_.Lines();
  const BusyPort busy;
  Snapshot next;
  next.metrics = On("127.0.0.2");
  next.admin = On("127.0.0.1", busy.port());
  EXPECT_FALSE(Change(next));
  EXPECT_THAT(error_, HasSubstr("admin.address"));
  EXPECT_EQ(ports_.Lines(), lines);
  EXPECT_TRUE(Answers(Port("metrics")));
  EXPECT_EQ(grpc_.stopped, 0);
  // What was refused because of the machine may go another time.
  next.admin = On("127.0.0.1");
  EXPECT_TRUE(Change(next));
  EXPECT_THAT(ports_.Lines(), ElementsAre(StartsWith("listening metrics 127.0.0.2:"),
                                          StartsWith("listening admin 127.0.0.1:")));
  EXPECT_EQ(grpc_.stopped, 1);
}

TEST_F(ControlPortsTest, OneThatKeepsItsNumberMayGetAnotherHost) {
  snapshot_.metrics = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  const uint16_t port = Port("metrics");
  snapshot_.metrics = On("0.0.0.0", port);
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_THAT(ports_.Lines(), ElementsAre(absl::StrCat("listening metrics 0.0.0.0:", port)));
  EXPECT_TRUE(Answers(port));
}

TEST_F(ControlPortsTest, OneThatHasMadeRoomIsBackAfterAnError) {
  snapshot_.metrics = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  const auto lines = ports_.Lines();
  Snapshot next;
  next.metrics = On("0.0.0.0", Port("metrics"));
  next.grpc_admin = On("127.0.0.1", 9463);
  grpc_.fails = true;
  EXPECT_FALSE(Change(next));
  EXPECT_EQ(error_, "the gRPC port fails");
  EXPECT_EQ(ports_.Lines(), lines);
  EXPECT_TRUE(Answers(Port("metrics")));
}

TEST_F(ControlPortsTest, OneWhosePortWasTakenWhileItMadeRoomIsOpenedByTheNextChange) {
  snapshot_.metrics = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  const uint16_t port = Port("metrics");
  snapshot_.metrics = On("127.0.0.1", port);
  EXPECT_TRUE(Change(snapshot_));
  {
    Snapshot next;
    next.metrics = On("127.0.0.2", port);
    EXPECT_TRUE(ports_.Prepare(next).ok());
    const BusyPort thief(port);
    const absl::Status restored = ports_.RollBack();
    EXPECT_THAT(std::string(restored.message()), HasSubstr("metrics.address"));
    EXPECT_EQ(Port("metrics"), 0);
  }
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_EQ(Port("metrics"), port);
  EXPECT_TRUE(Answers(port));
}

TEST_F(ControlPortsTest, CallsAreRememberedWhileAPortIsOpenThatShowsThem) {
  snapshot_.metrics = On("127.0.0.1");
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_FALSE(sidecar_.calls.enabled());
  Snapshot next = snapshot_;
  next.grpc_admin = On("127.0.0.1", 9463);
  grpc_.fails = true;
  EXPECT_FALSE(Change(next));
  EXPECT_FALSE(sidecar_.calls.enabled());
  grpc_.fails = false;
  EXPECT_TRUE(Change(next));
  EXPECT_TRUE(sidecar_.calls.enabled());
  EXPECT_TRUE(Change(snapshot_));
  EXPECT_FALSE(sidecar_.calls.enabled());
}

}  // namespace
}  // namespace levee
