// SPDX-License-Identifier: Apache-2.0
// TLS to the servers that real sentinels, or the nodes of a real cluster, name: by which name each
// is checked.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "certificates/authority.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/client_run.h"
#include "store/key_slot.h"
#include "store/redis_cluster.h"
#include "store/redis_process.h"
#include "store/sentinel_group.h"
#include "tls/client_source.h"

namespace levee {
namespace {

using testing::HasSubstr;

constexpr char kNodeName[] = "redis.test";

class RedisTlsNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  // Arguments of a server that shows a certificate for this name.
  std::vector<std::string> Shows(const std::string& name) const {
    const PemPair pair = authority_.Issue({.names = {name}});
    return {"--tls-cert-file",    folder_.Write(name + ".pem", pair.certificate),
            "--tls-key-file",     folder_.Write(name + ".key", pair.key),
            "--tls-ca-cert-file", folder_.Write("ca.pem", authority_.pem()),
            "--tls-auth-clients", "no"};
  }

  // `server_name`: as configured; empty: not.
  RedisTarget Target(std::vector<ServerAddress> servers, const std::string& server_name) const {
    tls::ContextOptions options = {.trusted = *tls::TrustStore::Parse(authority_.pem()),
                                   .http2 = false};
    return {.servers = std::move(servers),
            .timeout = absl::Seconds(10),
            .patience = kLong,
            .tls = tls::ClientSource{
                .context = *tls::Context::Make(tls::Role::kClient, std::move(options)),
                .server_name = server_name,
                .configured = "x"}};
  }

  void StartCluster(const RedisCluster::More& more) {
    cluster_.emplace(folder_.Path("nodes"), RedisCluster::Size{.primaries = 3}, [&](size_t index) {
      std::vector<std::string> arguments = more(index);
      arguments.insert(arguments.end(),
                       {"--tls-cluster", "yes", "--tls-port", RedisProcess::kTlsPort});
      return arguments;
    });
  }

  // A cluster whose nodes say that they are localhost, with certificates for these names.
  void StartNamedCluster(const std::vector<std::string>& certificates) {
    StartCluster([&](size_t index) {
      std::vector<std::string> arguments = Shows(certificates[index]);
      arguments.insert(arguments.end(), {"--cluster-announce-hostname", "localhost",
                                         "--cluster-preferred-endpoint-type", "hostname"});
      return arguments;
    });
  }

  // A key whose slot the node has.
  std::string KeyAt(size_t node) const {
    for (int i = 0;; ++i) {
      const std::string key = "levee:" + std::to_string(i);
      if (cluster_->OwnerOf(SlotOf(key)) == node) return key;
    }
  }

  SentinelGroup::More TlsBetweenAll() const {
    SentinelGroup::More more = {.tls = Shows(kNodeName)};
    more.tls.insert(more.tls.end(), {"--tls-replication", "yes"});
    return more;
  }

  const TemporaryFolder folder_;
  const Authority authority_;
  std::optional<RedisCluster> cluster_;
};

// Sets the key, again and again while nobody can be asked.
void Set(ClientRun& run, const std::string& value) {
  for (;;) {
    run.UntilConnected();
    const auto reply = run.Ask({"SET", "k", value});
    if (reply.ok() && reply->text == "OK") return;
  }
}

TEST_F(RedisTlsNodesTest, SentinelsLeadToThePrimaryAndAfterAFailoverToTheNext) {
  SentinelGroup group(folder_.Path("group"), TlsBetweenAll());
  RedisTarget target = Target(group.sentinels(), kNodeName);
  target.master = SentinelGroup::kMaster;
  ClientRun run(target);
  Set(run, "one");
  EXPECT_EQ(group.Command(group.primary(), {"GET", "k"}), "one\n");
  ASSERT_EQ(run.client->Nodes().size(), 1);
  EXPECT_EQ(run.client->Nodes()[0].address.port, group.primary().tls_port());
  group.KillPrimary();
  run.UntilConnected(false);
  Set(run, "two");
  EXPECT_EQ(group.Command(group.primary(), {"GET", "k"}), "two\n");
}

TEST_F(RedisTlsNodesTest, SentinelsAreCheckedByTheNameThatIsConfigured) {
  SentinelGroup group(folder_.Path("group"), TlsBetweenAll());
  RedisTarget target = Target(group.sentinels(), "other.test");
  target.master = SentinelGroup::kMaster;
  ClientRun run(target);
  run.Until([&] { return absl::StrContains(run.reason, "certificate"); });
  EXPECT_THAT(run.reason, HasSubstr("the service's certificate is for redis.test and not for "
                                    "other.test"));
  EXPECT_FALSE(run.client->connected());
}

// The sentinels have a name, and name the primary by its address.
TEST_F(RedisTlsNodesTest, APrimaryThatSentinelsNameByItsAddressNeedsAConfiguredName) {
  SentinelGroup::More more = TlsBetweenAll();
  more.tls = Shows("localhost");
  more.tls.insert(more.tls.end(), {"--tls-replication", "yes"});
  SentinelGroup group(folder_.Path("group"), more);
  std::vector<ServerAddress> sentinels = group.sentinels();
  for (ServerAddress& sentinel : sentinels) sentinel.host = "localhost";
  RedisTarget target = Target(sentinels, "");
  target.master = SentinelGroup::kMaster;
  ClientRun run(target);
  run.Until([&] { return absl::StrContains(run.reason, "has an address and no name"); });
  EXPECT_FALSE(run.client->connected());
  target.tls->server_name = "localhost";
  ClientRun named(target);
  Set(named, "one");
}

TEST_F(RedisTlsNodesTest, AClusterIsFollowedByMovedAndAsk) {
  StartCluster([&](size_t) { return Shows(kNodeName); });
  ClientRun run(
      Target({cluster_->address(0)}, kNodeName));  // One, which turns out to be a cluster's.
  run.UntilConnected();
  const std::string key = KeyAt(1);
  EXPECT_EQ(run.Ask({"SET", key, "one"})->text, "OK");
  run.Until([&] { return run.client->cluster() && run.client->connected(); });
  EXPECT_EQ(run.client->Nodes().size(), 3);
  for (const RedisNode& node : run.client->Nodes()) EXPECT_TRUE(node.ready) << node.reason;
  const uint16_t slot = SlotOf(key);
  cluster_->BeginToMove(slot, 1, 2);
  cluster_->MoveKey(key, 1, 2);
  EXPECT_EQ(run.Ask({"GET", key})->text, "one") << "by ASK";
  cluster_->EndMove(slot, 2);
  EXPECT_EQ(run.Ask({"GET", key})->text, "one") << "by MOVED";
}

TEST_F(RedisTlsNodesTest, NodesThatAreNamedByAddressNeedAConfiguredName) {
  StartCluster([&](size_t) { return Shows("localhost"); });
  const ServerAddress first = {"localhost", cluster_->address(0).port};
  ClientRun run(Target({first, {"localhost", cluster_->address(1).port}}, ""));
  run.Until([&] { return absl::StrContains(run.reason, "has an address and no name"); });
  EXPECT_FALSE(run.client->connected());
}

TEST_F(RedisTlsNodesTest, NodesThatAnnounceANameAreCheckedByIt) {
  StartNamedCluster({"localhost", "localhost", "localhost"});
  const ServerAddress first = {"localhost", cluster_->address(0).port};
  ClientRun run(Target({first, {"localhost", cluster_->address(1).port}}, ""));
  run.Until([&] { return run.client->connected() && run.client->Nodes().size() == 3; });
  for (const RedisNode& node : run.client->Nodes()) EXPECT_EQ(node.address.host, "localhost");
  for (size_t node = 0; node < 3; ++node) {
    EXPECT_EQ(run.Ask({"SET", KeyAt(node), "v"})->text, "OK");
  }
}

TEST_F(RedisTlsNodesTest, ANodeWithACertificateForAnotherNameIsNotUsedAndTheOthersAre) {
  StartNamedCluster({"localhost", "localhost", "other.test"});
  const ServerAddress first = {"localhost", cluster_->address(0).port};
  ClientRun run(Target({first, {"localhost", cluster_->address(1).port}}, ""));
  run.Until(
      [&] { return absl::StrContains(run.reason, "is for other.test and not for localhost"); });
  EXPECT_FALSE(run.client->connected());
  EXPECT_EQ(run.Ask({"SET", KeyAt(0), "v"})->text, "OK");
  EXPECT_EQ(run.Ask({"SET", KeyAt(1), "v"})->text, "OK");
  const auto refused = run.Ask({"SET", KeyAt(2), "v"});
  EXPECT_FALSE(refused.ok()) << "nothing was sent to it";
  EXPECT_EQ(cluster_->node(2).Command({"EXISTS", KeyAt(2)}), "0\n");
}

}  // namespace
}  // namespace levee
