// SPDX-License-Identifier: Apache-2.0
// The listening sockets from one configuration to the next.
#include "sidecar/listener_set.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "admin/http_client.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/listener.h"
#include "net/socket.h"
#include "sidecar/busy_port.h"

namespace levee {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ListenerSetTest : public testing::Test {
 protected:
  static ListenerSpec Spec(const std::string& name, uint16_t port = 0,
                           const std::string& host = "127.0.0.1") {
    return {.name = name, .address = {.host = host, .port = port, .path = "", .position = name}};
  }
  static ListenerSpec At(const std::string& path, int mode) {
    return {.name = "unix", .address = {.path = path, .position = "unix"}, .mode = mode};
  }
  static bool Listens(uint16_t port) { return HttpClient(port).connected(); }
  static fs::perms ModeOf(const std::string& path) { return fs::status(path).permissions(); }

  // The numbers of the sockets that were closed.
  std::vector<int> Replace(const std::vector<ListenerSpec>& specs) {
    auto closed = set_.Replace(specs);
    EXPECT_TRUE(closed.ok()) << closed.status();
    return *std::move(closed);
  }
  std::string Refusal(const std::vector<ListenerSpec>& specs) {
    return std::string(set_.Replace(specs).status().message());
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const ListenerSet::Bound& bound : set_.bound()) names.push_back(bound.name);
    return names;
  }
  std::vector<std::string> Addresses() const {
    std::vector<std::string> addresses;
    for (const auto& bound : set_.bound()) addresses.push_back(bound.address.ToString());
    return addresses;
  }
  uint16_t Port(const std::string& name) const {
    for (const ListenerSet::Bound& bound : set_.bound()) {
      if (bound.name == name) return bound.address.port();
    }
    return 0;
  }

  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  ListenerSet set_{loop_, wheel_, [](const net::ByteStream&, const ConnectionOrigin&) {}, [] {}};
};

TEST_F(ListenerSetTest, ListensWhereTheConfigurationSaysAndNowhereElse) {
  EXPECT_THAT(Replace({Spec("goes"), Spec("stays")}), IsEmpty());
  const uint16_t goes = Port("goes"), stays = Port("stays");
  EXPECT_TRUE(Listens(goes));
  EXPECT_THAT(Replace({Spec("comes"), Spec("stays")}), ElementsAre(0));
  EXPECT_THAT(Names(), testing::UnorderedElementsAre("comes", "stays"));
  EXPECT_FALSE(Listens(goes));
  EXPECT_TRUE(Listens(Port("comes")));
  EXPECT_EQ(Port("stays"), stays);
  set_.Close();
  EXPECT_FALSE(Listens(stays));
}

TEST_F(ListenerSetTest, LocalhostIsTheSamePortOfBothLoopbackAddresses) {
  if (!net::HasIpv6Loopback()) GTEST_SKIP() << "this system has no ::1";
  ListenerSpec both = Spec("both");
  both.address.ipv6_loopback = true;
  Replace({both});
  const std::string port = std::to_string(Port("both"));
  EXPECT_THAT(Addresses(), ElementsAre("127.0.0.1:" + port, "[::1]:" + port));
  EXPECT_THAT(Replace({both}), IsEmpty());
  EXPECT_THAT(Addresses(), ElementsAre("127.0.0.1:" + port, "[::1]:" + port));
  EXPECT_THAT(Replace({Spec("both")}), ElementsAre(1));
  EXPECT_THAT(Addresses(), ElementsAre("127.0.0.1:" + port));
}

TEST_F(ListenerSetTest, ASocketStaysWhenItsNameChangesAlone) {
  Replace({Spec("a")});
  const uint16_t port = Port("a");
  // It is another address now: a fixed port is not one of the system's choice.
  EXPECT_THAT(Replace({Spec("b", port)}), ElementsAre(0));
  EXPECT_THAT(Replace({Spec("c", port)}), IsEmpty());
  EXPECT_EQ(Port("c"), port);
}

TEST_F(ListenerSetTest, ASocketStaysWhenItsAddressIsSpelledInAnotherWay) {
  Replace({Spec("a", 0, "::1")});
  const uint16_t port = Port("a");
  Replace({Spec("a", port, "::1")});
  EXPECT_THAT(Replace({Spec("a", port, "0:0::0001")}), IsEmpty());
  EXPECT_EQ(Port("a"), port);
}

TEST_F(ListenerSetTest, AnotherHostMayHaveTheSamePort) {
  Replace({Spec("a")});
  const uint16_t port = Port("a");
  EXPECT_THAT(Replace({Spec("a", port, "0.0.0.0")}), ElementsAre(0));
  EXPECT_EQ(Port("a"), port);
  EXPECT_TRUE(Listens(port));
}

TEST_F(ListenerSetTest, AfterAnErrorAllIsAsItWas) {
  const BusyPort busy;
  Replace({Spec("a"), Spec("b")});
  const uint16_t a = Port("a"), b = Port("b");
  EXPECT_THAT(Refusal({Spec("new"), Spec("a", a, "0.0.0.0"), Spec("busy", busy.port())}),
              HasSubstr("(set at busy)"));
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  EXPECT_EQ(Port("a"), a);
  EXPECT_TRUE(Listens(a));
  EXPECT_TRUE(Listens(b));
  // Nothing is left behind that would be in the way the next time.
  EXPECT_THAT(Replace({Spec("a", a, "0.0.0.0")}), ElementsAre(0, 1));
}

TEST_F(ListenerSetTest, AnotherModeIsThatOfTheSameSocketUntilAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("socket");
  const BusyPort busy;
  Replace({At(path, 0660)});
  EXPECT_EQ(ModeOf(path), fs::perms(0660));
  EXPECT_THAT(Replace({At(path, 0600)}), IsEmpty());
  EXPECT_EQ(ModeOf(path), fs::perms(0600));
  EXPECT_THAT(Refusal({At(path, 0666), Spec("busy", busy.port())}), HasSubstr("(set at busy)"));
  EXPECT_EQ(ModeOf(path), fs::perms(0600));
}

}  // namespace
}  // namespace levee
