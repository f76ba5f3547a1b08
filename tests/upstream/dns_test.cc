// SPDX-License-Identifier: Apache-2.0
// Endpoints that a name server names.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "upstream/pool_run.h"

namespace levee {
namespace {

// Servers on 127.0.0.1, 127.0.0.2 and 127.0.0.3, all on one port, and a pool that looks cart.test
// up.
class Cart {
 public:
  Cart() {
    const uint16_t port = run.Serve("127.0.0.1").address().port();
    run.Serve("127.0.0.2", port);
    run.Serve("127.0.0.3", port);
    target = {.host = "cart.test", .port = port, .path = ""};
    // The defaults, but without jitter, so that no seed has a short delay by luck.
    run.policy.reconnect = {.initial = absl::Milliseconds(100),
                            .multiplier = 2,
                            .max = absl::Seconds(10),
                            .jitter = Jitter::kNone};
  }

  void Has(const std::vector<std::string>& addresses, uint32_t ttl = 1) {
    run.dns.Set("cart.test", {.addresses = addresses, .ttl = ttl});
  }

  // The server goes, and the pool sees it.
  void Lose(size_t server) {
    const int64_t ready = run.Endpoints(EndpointState::kReady);
    run.servers[server]->Close();
    run.Until([&] { return run.Endpoints(EndpointState::kReady) < ready; });
  }

  // The endpoints that 50 calls go to.
  std::set<std::string> Seen() {
    std::set<std::string> seen;
    for (int i = 0; i < 50; ++i) {
      const std::string name = run.CallOne();
      seen.insert(name.substr(0, name.find(':')));
    }
    return seen;
  }

  PoolRun run;
  Pool::Target target;
};

using Names = std::set<std::string>;

constexpr absl::Duration kBetweenCalls = absl::Milliseconds(100);

// Makes calls for `span`, and returns how many are answered at once.
int CallsAnswered(Cart& cart, Pool& pool, absl::Duration span) {
  int answered = 0;
  for (const Instant end = cart.run.loop.now() + span; cart.run.loop.now() < end;) {
    TestCall call(pool);
    call.Start();
    cart.run.Pass(kBetweenCalls);
    answered += call.answered;
  }
  return answered;
}

// Makes calls until one is answered, and returns how long that takes.
absl::Duration UntilServed(Cart& cart, Pool& pool) {
  const Instant start = cart.run.loop.now();
  while (CallsAnswered(cart, pool, kBetweenCalls) == 0) {
  }
  return cart.run.loop.now() - start;
}

TEST(Dns, EachAddressIsAnEndpoint) {
  Cart cart;
  cart.Has({"127.0.0.1", "127.0.0.2", "127.0.0.3"}, /*ttl=*/600);
  Pool& pool = cart.run.Open({cart.target});
  EXPECT_EQ(pool.size(), 1);
  cart.run.CallOne();
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 3; });
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(cart.Seen(), Names({"127.0.0.1", "127.0.0.2", "127.0.0.3"}));
  EXPECT_EQ(cart.run.dns.Asked("cart.test"), 1);
}

TEST(Dns, AnEndpointKnowsTheNameThatItsAddressCameFrom) {
  Cart cart;
  cart.Has({"127.0.0.2"}, /*ttl=*/600);
  Pool& pool =
      cart.run.Open({cart.target, {.host = "127.0.0.3", .port = cart.target.port, .path = ""}});
  std::map<std::string, std::string> hosts;
  const auto look = [&] {
    hosts.clear();
    for (const EndpointView& view : pool.View()) hosts[view.address] = view.host;
  };
  const std::string port = ":" + std::to_string(cart.target.port);
  look();
  EXPECT_EQ(hosts["cart.test" + port], "cart.test");
  cart.run.CallOne();
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 2; });
  look();
  EXPECT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts["127.0.0.2" + port], "cart.test");
  EXPECT_EQ(hosts["127.0.0.3" + port], "");
}

TEST(Dns, ANameThatDoesNotExistFailsCallsAndSaysSo) {
  Cart cart;
  Pool& pool = cart.run.Open({cart.target});
  TestCall call(pool);
  call.Start();
  cart.run.Until([&] { return call.ended; });
  EXPECT_EQ(call.failure, "cannot resolve cart.test: domain name not found");
  EXPECT_EQ(cart.run.Endpoints(EndpointState::kFailing), 1);
  // It is asked for again, and found at last.
  cart.Has({"127.0.0.2"});
  TestCall again(pool);
  again.Start();
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 1; });
  EXPECT_EQ(cart.Seen(), Names({"127.0.0.2"}));
  EXPECT_EQ(cart.run.Endpoints(EndpointState::kFailing), 0);
}

TEST(Dns, OtherTargetsServeWhileANameIsUnknown) {
  Cart cart;
  cart.run.Open({cart.target, cart.run.TargetOf(*cart.run.servers[0])});
  EXPECT_EQ(cart.Seen(), Names({"127.0.0.1"}));
}

TEST(Dns, AddressesThatVanishDrainAndNewOnesJoin) {
  Cart cart;
  cart.Has({"127.0.0.1", "127.0.0.2"});
  cart.run.servers[0]->Hold();
  Pool& pool = cart.run.Open({cart.target});
  TestCall held(pool);
  held.Start();
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 2; });
  // One call is held by the endpoint that is to leave.
  std::vector<std::unique_ptr<TestCall>> calls;
  while (cart.run.servers[0]->calls() == 0) {
    calls.push_back(std::make_unique<TestCall>(pool));
    calls.back()->Start();
    cart.run.Until([&] { return calls.back()->ended || cart.run.servers[0]->calls() > 0; });
  }
  const std::string leaving = cart.run.servers[0]->address().ToString();
  int64_t left = held.endpoint;
  for (const auto& call : calls) left = call->ended ? left : call->endpoint;
  cart.Has({"127.0.0.2", "127.0.0.3"});
  // The least time between two look-ups passes.
  cart.run.Until([&] {
    TestCall keeps_the_name_in_use(pool);
    keeps_the_name_in_use.Start({}, {left});
    return cart.run.servers[2]->connections() == 1;
  });
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 2; });
  const Names seen = cart.Seen();
  EXPECT_EQ(seen.count("127.0.0.1"), 0u);
  EXPECT_EQ(seen.count("127.0.0.2"), 1u);
  EXPECT_EQ(pool.EndpointName(left), leaving);
  EXPECT_EQ(cart.run.servers[0]->connections(), 1);
  cart.run.servers[0]->Release();
  cart.run.Until([&] { return cart.run.servers[0]->connections() == 0; });
  EXPECT_TRUE(held.answered || calls.back()->answered);
}

TEST(Dns, TheLastGoodAnswerHoldsWhenALookUpFails) {
  Cart cart;
  cart.Has({"127.0.0.1"});
  cart.run.Open({cart.target});
  cart.run.CallOne();
  cart.run.dns.Set("cart.test", {.code = DnsScript::kServerFailure});
  // A lost connection makes it ask again.
  cart.run.servers[0]->GoAway();
  cart.run.Until([&] { return cart.run.dns.Asked("cart.test") >= 2; });
  EXPECT_EQ(cart.Seen(), Names({"127.0.0.1"}));
  // A server that fails is asked twice each time.
  cart.run.Until([&] { return cart.run.dns.Asked("cart.test") >= 4; });
  EXPECT_EQ(cart.run.Endpoints(EndpointState::kFailing), 0);
}

TEST(Dns, S6b_ANameWhoseAddressesAllRefuseIsLookedUpAtOnceAndCallsWaitForTheAnswer) {
  Cart cart;
  cart.Has({"127.0.0.1"}, /*ttl=*/600);
  Pool& pool = cart.run.Open({cart.target});
  cart.run.CallOne();
  cart.Has({"127.0.0.2"}, /*ttl=*/600);
  cart.run.Pass(absl::Seconds(1));  // So that the look-up before is long ago.
  cart.Lose(0);
  const Instant gone = cart.run.loop.now();
  TestCall call(pool);
  call.Start();
  cart.run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered) << call.failure;
  EXPECT_EQ(cart.run.servers[1]->calls(), 1);
  EXPECT_EQ(cart.run.loop.now(), gone);
}

TEST(Dns, S6b_ANameWhoseAddressesAllRefuseIsLookedUpAtMostFiveTimesASecond) {
  Cart cart;
  cart.Has({"127.0.0.1"}, /*ttl=*/600);
  Pool& pool = cart.run.Open({cart.target});
  cart.run.CallOne();
  cart.Lose(0);
  TestCall call(pool);
  call.Start();
  cart.run.Pass(absl::Milliseconds(1500));
  EXPECT_GE(cart.run.dns.Asked("cart.test"), 1 + 5);
  EXPECT_LE(cart.run.dns.Asked("cart.test"), 1 + 1 + 7);
  EXPECT_FALSE(call.ended);
  cart.Has({"127.0.0.2"}, /*ttl=*/600);
  cart.run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered) << call.failure;
}

TEST(Dns, E19_ANameThatHasNoAddressYetServesCallsWithin1500MsOfItsFirst) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Cart cart;
    cart.run.random = Random(seed);
    Pool& pool = cart.run.Open({cart.target});
    // Long enough for every backoff to reach its longest delay.
    EXPECT_EQ(CallsAnswered(cart, pool, absl::Seconds(60)), 0);
    cart.Has({"127.0.0.2"});
    EXPECT_LE(UntilServed(cart, pool), absl::Milliseconds(1500)) << seed;
  }
}

TEST(Dns, E19_ANameThatDoesNotExistIsLookedUpAtMostOnceASecondHoweverManyCallsCome) {
  Cart cart;
  Pool& pool = cart.run.Open({cart.target});
  for (int second = 1; second <= 60; ++second) {
    EXPECT_EQ(CallsAnswered(cart, pool, absl::Seconds(1)), 0);
    EXPECT_LE(cart.run.dns.Asked("cart.test"), second + 1);
  }
  EXPECT_GE(cart.run.dns.Asked("cart.test"), 45);
}

TEST(Dns, E19_ANameThatDoesNotExistIsLookedUpOnceMoreAfterTheLastCall) {
  Cart cart;
  Pool& pool = cart.run.Open({cart.target});
  CallsAnswered(cart, pool, absl::Seconds(10));
  const int asked = cart.run.dns.Asked("cart.test");
  cart.run.Pass(absl::Minutes(10));
  EXPECT_LE(cart.run.dns.Asked("cart.test"), asked + 1);
}

TEST(Dns, E19_ACallWaitsForTheAnswerToALookUpThatIsDue) {
  Cart cart;
  Pool& pool = cart.run.Open({cart.target});
  CallsAnswered(cart, pool, absl::Seconds(60));
  cart.run.Pass(absl::Milliseconds(2600));  // The look-up after the last call, and a pause.
  cart.Has({"127.0.0.2"});
  cart.run.CallOne();
}

TEST(Dns, E19_ANameThatHasLostItsAddressesServesCallsWithin1500MsOfItsNext) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Cart cart;
    cart.run.random = Random(seed);
    cart.Has({"127.0.0.1"}, /*ttl=*/600);
    Pool& pool = cart.run.Open({cart.target});
    cart.run.CallOne();
    cart.Has({});
    cart.Lose(0);
    CallsAnswered(cart, pool, absl::Seconds(60));
    cart.Has({"127.0.0.2"});
    EXPECT_LE(UntilServed(cart, pool), absl::Milliseconds(1500)) << seed;
  }
}

TEST(Dns, E19_TwoSecondsAfterItsLastAddressWasLostANameIsLookedUpAtMostOnceASecond) {
  Cart cart;
  cart.Has({"127.0.0.1"}, /*ttl=*/600);
  Pool& pool = cart.run.Open({cart.target});
  cart.run.CallOne();
  cart.run.Pass(absl::Seconds(10));
  cart.Lose(0);
  CallsAnswered(cart, pool, absl::Seconds(2));
  int asked = cart.run.dns.Asked("cart.test");
  EXPECT_GE(asked, 1 + 8);
  EXPECT_LE(asked, 1 + 1 + 10);
  for (int second = 1; second <= 30; ++second) {
    CallsAnswered(cart, pool, absl::Seconds(1));
    EXPECT_LE(cart.run.dns.Asked("cart.test"), asked + second + 1);
  }
}

TEST(Dns, E19_SidecarsThatBeganTogetherDoNotLookANameUpInStep) {
  const auto look_ups = [](uint64_t seed) {
    Cart cart;
    cart.run.random = Random(seed);
    Pool& pool = cart.run.Open({cart.target});
    const Instant start = cart.run.loop.now();
    std::vector<int64_t> seen;  // in tenths of a second
    while (seen.size() < 50) {
      const int asked = cart.run.dns.Asked("cart.test");
      CallsAnswered(cart, pool, absl::Milliseconds(50));
      if (cart.run.dns.Asked("cart.test") == asked) continue;
      seen.push_back((cart.run.loop.now() - start) / absl::Milliseconds(100));
    }
    return seen;
  };
  const std::vector<int64_t> one = look_ups(1), other = look_ups(2);
  std::vector<int64_t> together;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                        std::back_inserter(together));
  EXPECT_LE(together.size(), 20u);
}

TEST(Dns, ANameThatIsNoTargetAnyMoreTakesItsAddressesAlong) {
  Cart cart;
  cart.Has({"127.0.0.1", "127.0.0.2"});
  const Pool::Target stays = cart.run.TargetOf(cart.run.Serve("127.0.0.4"));
  Pool& pool = cart.run.Open({cart.target, stays});
  cart.run.CallOne();
  cart.run.Until([&] { return cart.run.Endpoints(EndpointState::kReady) == 3; });
  pool.SetTargets({stays});
  EXPECT_EQ(pool.size(), 1);
  EXPECT_EQ(cart.Seen(), Names({"127.0.0.4"}));
  EXPECT_EQ(cart.run.Endpoints(EndpointState::kReady), 1);
}

TEST(Dns, ACallThatWaitsForANameIsServedByWhatTakesItsPlace) {
  Cart cart;  // Nobody answers for cart.test.
  const Pool::Target comes = cart.run.TargetOf(cart.run.Serve("127.0.0.4"));
  cart.run.dns.Set("cart.test", {.silent_for = DnsScript::kA});
  Pool& pool = cart.run.Open({cart.target});
  TestCall call(pool);
  call.Start();
  cart.run.Until([&] { return cart.run.dns.Asked("cart.test") >= 1; });
  EXPECT_EQ(pool.View().at(0).state, "connecting");
  pool.SetTargets({comes});
  cart.run.Until([&] { return call.answered; });
  EXPECT_EQ(cart.run.Endpoints(EndpointState::kConnecting), 0);
}

TEST(Dns, ACallThatWaitsIsServedByANameThatComes) {
  Cart cart;
  cart.Has({"127.0.0.2"});
  TestServer& deaf = cart.run.Serve("127.0.0.4");
  deaf.GoDeaf();
  Pool& pool = cart.run.Open({cart.run.TargetOf(deaf)});
  TestCall call(pool);
  call.Start();
  cart.run.Until([&] { return deaf.accepted() == 1; });
  pool.SetTargets({cart.target});
  cart.run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered) << call.failure;
}

}  // namespace
}  // namespace levee
