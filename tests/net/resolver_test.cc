// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "net/dns_on_loop.h"
#include "virtual/jumping_time.h"

namespace levee::net {
namespace {

// A loop with a wheel, and a resolver that asks the scripted server.
class Lookups final : private TurnHandler {
 public:
  Lookups() { loop.SetTurnHandler(this); }

  // Runs the loop until the answer is there; its addresses, sorted, or its error.
  std::string Resolve(const std::string& host) { return Resolve(host, resolver); }
  std::string Resolve(const std::string& host, Resolver& by, Asker asker = kKnownName) {
    std::string text;
    const auto query = by.Resolve(host, 80, asker, [&](absl::StatusOr<Resolver::Found> answer) {
      text = answer.ok() ? TextOf(answer->addresses) : std::string(answer.status().message());
      if (answer.ok()) ttl = answer->ttl;
      loop.Stop();
    });
    EXPECT_EQ(text, "");  // Never from within Resolve.
    loop.Run();
    return text;
  }

  static std::string TextOf(const std::vector<Address>& addresses) {
    std::vector<std::string> texts;
    for (const Address& address : addresses) texts.push_back(address.ToString());
    std::sort(texts.begin(), texts.end());
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
    return all;
  }

  JumpingTime time;  // It begins before the loop.
  EventLoop loop;
  DnsOnLoop dns{loop};
  TimerWheel wheel{loop.now()};
  Resolver resolver{loop, wheel, dns.address()};
  absl::Duration ttl;  // of the last good answer

 private:
  Instant OnTurnEnd(Instant now) override {
    wheel.Advance(now);
    return wheel.NextWakeup();
  }
};

TEST(Resolver, FindsAllAddressesAndTheLeastTimeToLive) {
  Lookups run;
  run.dns.Set("cart.test", {.addresses = {"10.0.0.1", "10.0.0.2"}, .ttl = 7});
  EXPECT_EQ(run.Resolve("cart.test"), "10.0.0.1:80 10.0.0.2:80");
  EXPECT_EQ(run.ttl, absl::Seconds(7));
}

TEST(Resolver, FindsBothFamilies) {
  Lookups run;
  run.dns.Set("both.test", {.addresses = {"127.0.0.7", "::1"}});
  const std::string found = run.Resolve("both.test");
  // A machine without IPv6 is given no address that it cannot reach.
  EXPECT_TRUE(found == "127.0.0.7:80 [::1]:80" || found == "127.0.0.7:80") << found;
}

TEST(Resolver, LeavesOutAFamilyThatThisMachineHasNoRouteFor) {
  Lookups run;
  run.dns.Set("both.test", {.addresses = {"127.0.0.7", "2001:db8::7"}});
  const Address remote = *Address::FromIp("2001:db8::7", 80);
  const int fd = socket(AF_INET6, SOCK_DGRAM, 0);
  const bool routed = fd >= 0 && connect(fd, remote.get(), remote.size()) == 0;
  if (fd >= 0) close(fd);
  EXPECT_EQ(run.Resolve("both.test"), routed ? "127.0.0.7:80 [2001:db8::7]:80" : "127.0.0.7:80");
}

TEST(Resolver, ANameThatDoesNotExistIsAnErrorThatNamesIt) {
  Lookups run;
  EXPECT_EQ(run.Resolve("nowhere.test"), "cannot resolve nowhere.test: domain name not found");
}

TEST(Resolver, AnEmptyAnswerIsAnError) {
  Lookups run;
  run.dns.Set("empty.test", {});
  EXPECT_EQ(run.Resolve("empty.test"),
            "cannot resolve empty.test: DNS server returned answer with no data");
}

TEST(Resolver, AMalformedNameIsAnError) {
  Lookups run;
  EXPECT_EQ(run.Resolve("no..host").find("cannot resolve no..host: "), 0u);
}

TEST(Resolver, LocalhostIsLoopbackWhateverTheServersSay) {
  for (const std::string name : {"localhost", "a.localhost"}) {
    Lookups run;
    run.dns.Set(name, {.addresses = {"10.0.0.1"}});
    EXPECT_EQ(run.Resolve(name).find("127.0.0.1:80"), 0u);
    EXPECT_EQ(run.dns.Asked(name), 0);
  }
}

TEST(Resolver, AnIpLiteralIsItself) {
  Lookups run;
  EXPECT_EQ(run.Resolve("::1"), "[::1]:80");
  EXPECT_EQ(run.ttl, absl::InfiniteDuration());
}

TEST(Resolver, OneFamilyIsEnoughIfNoServerEverAnswersForTheOther) {
  Lookups run;
  run.dns.Set("half.test", {.addresses = {"10.0.0.4"}, .silent_for = DnsScript::kAaaa});
  const std::string& server = run.dns.address();
  Resolver several(run.loop, run.wheel, server + "," + server + "," + server);
  const Instant start = run.loop.now();
  EXPECT_EQ(run.Resolve("half.test", several), "10.0.0.4:80");
  // Each of the servers would be asked twice, for nine seconds in all.
  EXPECT_GE(run.loop.now() - start, absl::Seconds(5));
  EXPECT_LE(run.loop.now() - start, absl::Seconds(5) + absl::Milliseconds(1));
}

TEST(Resolver, AQueryThatIsDestroyedIsNotAnswered) {
  Lookups run;
  run.dns.Set("gone.test", {.addresses = {"10.0.0.1"}});
  bool answered = false;
  auto query = run.resolver.Resolve("gone.test", 80, kKnownName, [&](auto) { answered = true; });
  query.reset();
  EXPECT_EQ(run.Resolve("localhost").find("127.0.0.1:80"), 0u);
  EXPECT_FALSE(answered);
}

TEST(Resolver, MoreQueriesThanRunAtATimeAreAllAnswered) {
  Lookups run;
  run.dns.Set("cart.test", {.addresses = {"10.0.0.1"}});
  int left = 200;
  std::vector<std::unique_ptr<Resolver::Query>> queries;
  for (int i = 0; i < 200; ++i) {
    queries.push_back(run.resolver.Resolve("cart.test", 80, kKnownName, [&](auto answer) {
      EXPECT_TRUE(answer.ok());
      if (--left == 0) run.loop.Stop();
    }));
  }
  run.loop.Run();
  EXPECT_EQ(left, 0);
}

TEST(Resolver, AServerThatHangsHoldsUpNeitherOthersNorTheEnd) {
  Lookups run;
  run.dns.Set("hangs.test", {.silent_for = DnsScript::kA});
  run.dns.Set("fine.test", {.addresses = {"10.0.0.5"}});
  const auto query = run.resolver.Resolve("hangs.test", 80, kKnownName, [](auto) { FAIL(); });
  EXPECT_EQ(run.Resolve("fine.test"), "10.0.0.5:80");
}

TEST(Resolver, H13_MadeUpNamesOfOneCallerKeepNobodyElseWaiting) {
  Lookups run;
  run.dns.Set("made-up.test", {.silent_for = DnsScript::kA});
  run.dns.Set("honest.test", {.addresses = {"10.0.0.5"}});
  std::vector<std::unique_ptr<Resolver::Query>> made_up;
  for (int i = 0; i < 900; ++i) {
    made_up.push_back(run.resolver.Resolve("made-up.test", 80, /*asker=*/1, [](auto) { FAIL(); }));
  }
  // None of those is over before the answers are there.
  EXPECT_EQ(run.Resolve("honest.test", run.resolver, /*asker=*/2), "10.0.0.5:80");
  EXPECT_EQ(run.Resolve("honest.test", run.resolver, kKnownName), "10.0.0.5:80");
}

}  // namespace
}  // namespace levee::net
