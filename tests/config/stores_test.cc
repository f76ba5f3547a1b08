// SPDX-License-Identifier: Apache-2.0
// Stores, and the rate limits that are kept in them.
#include <fstream>
#include <string>

#include "absl/time/time.h"
#include "config/faults_of.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr char kStores[] =
    "stores: [{name: shared, redis: [\"redis.shop:6379\"], timeout: 20ms}]\n";

// The faults of a limit whose further fields begin in line 4, column 1.
std::string LimitFaults(const std::string& fields) {
  return FaultsOf(kStores + PolicyText("rate_limit: [{name: a, rate: 1/s,\n" + fields + "}]"));
}

TEST(Stores, EveryFieldArrives) {
  TemporaryFolder folder;
  const std::string password = folder.Write("password", "secret\n");
  const auto snapshot =
      SnapshotOf("stores: [{name: a, redis: [\"[::1]:7000\"], username: levee, password_file: \"" +
                 password + "\", prefix: \"x:\", timeout: 20ms}]\n");
  ASSERT_EQ(snapshot->stores.size(), 1U);
  EXPECT_EQ(snapshot->stores[0], (StoreSpec{.name = "a",
                                            .servers = {{"::1", 7000}},
                                            .login = {"levee", "secret"},
                                            .prefix = "x:",
                                            .timeout = absl::Milliseconds(20)}));
}

TEST(Stores, ThereIsNoneByDefaultAndOneHasThoseOfTheContract) {
  EXPECT_TRUE(SnapshotOf("")->stores.empty());
  const auto snapshot = SnapshotOf("stores: [{name: a, redis: [\"redis.shop:6379\"]}]\n");
  EXPECT_EQ(snapshot->stores[0], (StoreSpec{.name = "a",
                                            .servers = {{"redis.shop", 6379}},
                                            .prefix = "levee:",
                                            .timeout = absl::Milliseconds(50)}));
}

TEST(Stores, TheHashFollowsThePassword) {
  TemporaryFolder folder;
  const auto hash = [&](const std::string& password) {
    const std::string file = folder.Write("password", password);
    return SnapshotOf("stores: [{name: a, redis: [\"r:1\"], password_file: \"" + file + "\"}]\n")
        ->sha256;
  };
  EXPECT_NE(hash("one"), hash("two"));
  EXPECT_EQ(hash("one"), hash("one\n"));
}

TEST(Stores, AGlobalLimitKnowsItsStore) {
  const auto snapshot = SnapshotOf(
      kStores + PolicyText("rate_limit: [{name: a, rate: 1/s, scope: global, store: shared, "
                           "grace: 5s}, {name: b, rate: 1/s}, {name: c, rate: 1/s, scope: global, "
                           "store: shared, on_failure: deny}]"));
  const auto& limits = snapshot->policies[0].rate_limits;
  EXPECT_EQ(limits[0].shared, (SharedRate{.name = "default/a",
                                          .store = "shared",
                                          .timeout = absl::Milliseconds(20),
                                          .away = StoreAway::kLast,
                                          .grace = absl::Seconds(5)}));
  EXPECT_FALSE(limits[1].shared.has_value());
  EXPECT_EQ(limits[2].shared->away, StoreAway::kDeny);
}

TEST(Stores, SeveralNodesAreThoseOfACluster) {
  const auto snapshot = SnapshotOf("stores: [{name: a, redis: [\"a:1\", \"[::1]:2\"]}]\n");
  EXPECT_EQ(snapshot->stores[0].servers, (std::vector<ServerAddress>{{"a", 1}, {"::1", 2}}));
  EXPECT_EQ(snapshot->stores[0].master, "");
}

TEST(Stores, SentinelsStandInPlaceOfRedis) {
  TemporaryFolder folder;
  const std::string mine = folder.Write("mine", "one");
  const std::string theirs = folder.Write("theirs", "two");
  const auto snapshot = SnapshotOf(
      "stores: [{name: a, sentinel: {master: main, nodes: [\"s:26379\", \"t:26379\"], username: "
      "watcher, password_file: \"" +
      theirs + "\"}, password_file: \"" + mine + "\"}]\n");
  const StoreSpec& store = snapshot->stores[0];
  EXPECT_EQ(store.servers, (std::vector<ServerAddress>{{"s", 26379}, {"t", 26379}}));
  EXPECT_EQ(store.master, "main");
  EXPECT_EQ(store.login, (StoreLogin{"", "one"}));
  EXPECT_EQ(store.sentinel_login, (StoreLogin{"watcher", "two"}));
}

TEST(Stores, AStoreIsEitherWhatRedisOrWhatSentinelsSay) {
  EXPECT_EQ(FaultsOf("stores: [{name: a}]\n"),
            "f:1:10: LV322 stores[0]: has no server; give redis or sentinel");
  EXPECT_THAT(FaultsOf("stores: [{name: a, redis: [\"r:1\"],\nsentinel: {master: m, nodes: "
                       "[\"s:1\"]}}]\n"),
              testing::HasSubstr("stores[0].sentinel: excludes redis"));
  EXPECT_THAT(FaultsOf("stores: [{name: a, sentinel: {nodes: [\"s:1\"]}}]\n"),
              testing::HasSubstr("stores[0].sentinel.master: "));
  EXPECT_THAT(FaultsOf("stores: [{name: a, sentinel: {master: m}}]\n"),
              testing::HasSubstr("stores[0].sentinel.nodes: "));
  EXPECT_THAT(FaultsOf("stores: [{name: a, sentinel: {master: m, nodes: [\"s:1\"], username: "
                       "u}}]\n"),
              testing::HasSubstr("LV305 stores[0].sentinel.username: "));
  EXPECT_THAT(FaultsOf("stores: [{name: a, redis: [\"r:1\"], username: u}]\n"),
              testing::HasSubstr("LV305 stores[0].username: "));
}

TEST(Stores, ANodeIsAnAddressThatIsListedOnce) {
  EXPECT_EQ(FaultsOf("stores: [{name: a, redis:\n[redis]}]\n"),
            "f:2:2: LV322 stores[0].redis[0]: \"redis\" is not HOST:PORT, such as redis.shop:6379");
  EXPECT_EQ(FaultsOf("stores: [{name: a, redis:\n[\"a:1\", \"a:1\"]}]\n"),
            "f:2:9: LV322 stores[0].redis[1]: \"a:1\" is listed twice");
  EXPECT_EQ(FaultsOf("stores: [{name: a, sentinel: {master: m, nodes:\n[s]}}]\n"),
            "f:2:2: LV322 stores[0].sentinel.nodes[0]: \"s\" is not HOST:PORT, such as "
            "redis.shop:6379");
}

TEST(Stores, APasswordThatCannotBeReadIsAFault) {
  EXPECT_THAT(
      FaultsOf("stores: [{name: a, redis: [\"a:1\"],\npassword_file: /nonexistent/password}]\n"),
      testing::HasSubstr("LV401 stores[0].password_file: /nonexistent/password"));
}

TEST(Stores, AGlobalLimitNeedsAStoreThatIsThere) {
  EXPECT_THAT(LimitFaults("scope: global"),
              testing::HasSubstr("f:4:8: LV323 policies[0].rate_limit[0].scope: is global, but"));
  EXPECT_THAT(LimitFaults("scope: global, store: other"),
              testing::HasSubstr(
                  "LV301 policies[0].rate_limit[0].store: \"other\" is not the name of a store"));
  EXPECT_THAT(LimitFaults("store: shared"),
              testing::HasSubstr("LV323 policies[0].rate_limit[0].store: is not used"));
}

TEST(Stores, NoCallWaitsInOrderForAGlobalLimitAndNoSidecarLowersIt) {
  const std::string global = "scope: global, store: shared, ";
  EXPECT_THAT(LimitFaults(global + "max_wait: 1s"),
              testing::HasSubstr("LV323 policies[0].rate_limit[0].max_wait"));
  EXPECT_THAT(LimitFaults(global + "adaptive: true"),
              testing::HasSubstr("LV323 policies[0].rate_limit[0].adaptive"));
}

TEST(Stores, NoneIsCalledAsThePlaceOfKeysWithoutAStore) {
  EXPECT_EQ(FaultsOf("stores: [{name:\nmemory, redis: [\"a:1\"]}]\n"),
            "f:2:1: LV218 stores[0].name: \"memory\" is where guard.dedupe keeps keys without a "
            "store; choose another");
  EXPECT_THAT(FaultsOf("stores: [{name: a, redis: [\"a:1\"]}, {name: a, redis: [\"b:1\"]}]\n"),
              testing::HasSubstr("LV303 stores[1].name"));
}

TEST(Stores, OnlyALimitThatGoesOnAtItsLastRateHasAGrace) {
  const std::string global = "scope: global, store: shared, grace: 1s, on_failure: ";
  EXPECT_EQ(LimitFaults(global + "last"), "");
  for (const char* other : {"allow", "deny"}) {
    EXPECT_EQ(LimitFaults(global + other),
              "f:4:38: LV323 policies[0].rate_limit[0].grace: has no effect with this on_failure; "
              "only last keeps the last rate for a while");
  }
}

// The warnings of stores, one per line: code and place.
std::string StoreWarningsOf(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  std::string brief;
  for (const Fault& warning : checked.warnings) {
    const int code = static_cast<int>(warning.code);
    if (code >= 927 && code <= 929) brief += std::to_string(code) + " " + warning.path + "\n";
  }
  return brief;
}

TEST(Stores, OneThatNothingUsesIsWarnedOf) {
  EXPECT_EQ(StoreWarningsOf(kStores), "927 stores[0].name\n");
  EXPECT_EQ(StoreWarningsOf(kStores +
                            PolicyText("rate_limit: [{name: a, rate: 1/s, scope: global, store: "
                                       "shared}]")),
            "");
}

TEST(Stores, OneTooSlowForTheClaimsInItIsWarnedOf) {
  const auto warnings = [](const std::string& timeout) {
    return StoreWarningsOf(
        "stores: [{name: shared, redis: [\"r:1\"], timeout: " + timeout +
        "}]\n"
        "listeners: [{name: in, address: \"127.0.0.1:1\", direction: inbound}]\n"
        "upstreams: [{name: app, endpoints: [\"127.0.0.1:2\"]}]\n"
        "routes: [{match: {listener: in}, upstream: app, policy: once}]\n"
        "policies: [{name: once, guard: {dedupe: {store: shared, claim: 1s}}}]\n");
  };
  EXPECT_EQ(warnings("333ms"), "");
  EXPECT_EQ(warnings("334ms"), "928 policies[0].guard.dedupe.claim\n");
}

TEST(Stores, AKeyWithoutTheRetriesThatItIsForIsWarnedOf) {
  const auto warnings = [](const std::string& retry) {
    return StoreWarningsOf(
        PolicyText("idempotency: {key: {header: x-key}}, retry: {" + retry + "}"));
  };
  EXPECT_EQ(warnings("codes: [], failures: [refused, connect]"),
            "929 policies[0].idempotency.key\n");
  EXPECT_EQ(warnings("max_attempts: 1"), "929 policies[0].idempotency.key\n");
  EXPECT_EQ(warnings("codes: [], failures: [refused, connect, reset]"), "");
  EXPECT_EQ(warnings("codes: [UNAVAILABLE]"), "");
  EXPECT_EQ(warnings("codes: [], failures: [refused], mode: observe"), "");
  EXPECT_EQ(StoreWarningsOf(PolicyText("idempotency: {mode: never, key: {header: x-key}}, retry: "
                                       "{codes: [], failures: [refused]}")),
            "");
}

TEST(Stores, WhatHappensWithoutAStoreIsSaidOnlyOfALimitThatHasOne) {
  EXPECT_THAT(LimitFaults("on_failure: deny"), testing::HasSubstr("LV305"));
  EXPECT_THAT(LimitFaults("grace: 1s"), testing::HasSubstr("LV305"));
}

}  // namespace
}  // namespace levee
