// SPDX-License-Identifier: Apache-2.0
// TLS to a real redis-server: what is taken, and the words for each certificate that is not.
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "certificates/authority.h"
#include "config/temporary_folder.h"
#include "gtest/gtest.h"
#include "store/client_run.h"
#include "store/redis_process.h"
#include "tls/client_source.h"

namespace levee {
namespace {

constexpr char kServerName[] = "redis.test";

class RedisTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  // A server that shows this certificate, and takes clients of the CA `clients`.
  std::unique_ptr<RedisProcess> Server(const PemPair& pair, const std::string& clients,
                                       std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "--tls-port",         RedisProcess::kOtherPort,
        "--tls-cert-file",    folder_.Write("cert.pem", pair.certificate),
        "--tls-key-file",     folder_.Write("key.pem", pair.key),
        "--tls-ca-cert-file", folder_.Write("ca.pem", clients)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<RedisProcess>(arguments);
  }
  std::unique_ptr<RedisProcess> OpenServer(const PemPair& pair) {
    return Server(pair, authority_.pem(), {"--tls-auth-clients", "no"});
  }

  tls::ClientSource Source(const std::optional<PemPair>& own = std::nullopt,
                           tls::Version version = tls::Version::k13) {
    tls::ContextOptions options = {.trusted = *tls::TrustStore::Parse(authority_.pem()),
                                   .min_version = version,
                                   .http2 = false};
    if (own.has_value()) options.credentials = tls::Credentials{own->certificate, own->key};
    return {.context = *tls::Context::Make(tls::Role::kClient, std::move(options)),
            .server_name = kServerName,
            .configured = "x"};
  }

  static RedisTarget Target(uint16_t port, tls::ClientSource source) {
    return {
        .servers = {{"127.0.0.1", port}}, .timeout = absl::Seconds(10), .tls = std::move(source)};
  }

  // Why a client is not connected.
  std::string Refusal(uint16_t port, tls::ClientSource source) {
    ClientRun run(Target(port, std::move(source)));
    run.Until([&] { return !run.reason.empty(); });
    EXPECT_FALSE(run.client->connected());
    return run.reason;
  }

  PemPair Good() { return authority_.Issue({.names = {kServerName}}); }

  const TemporaryFolder folder_;
  const Authority authority_;
  const Authority other_authority_;
};

TEST_F(RedisTlsTest, CommandsAndLargeRepliesPass) {
  const auto redis = OpenServer(Good());
  ClientRun run(Target(redis->other_port(), Source()));
  run.UntilConnected();
  const std::string value(1'000'000, 'x');
  EXPECT_EQ(run.Ask({"SET", "k", value})->text, "OK");
  EXPECT_EQ(run.Ask({"GET", "k"})->text, value);
  EXPECT_EQ(redis->Command({"STRLEN", "k"}), "1000000\n");
}

TEST_F(RedisTlsTest, BothSidesShowACertificateAndThePasswordGoesInside) {
  const auto redis = Server(Good(), authority_.pem(), {"--requirepass", "secret"});
  RedisTarget target = Target(redis->other_port(), Source(authority_.Issue({.names = {"levee"}})));
  target.login.password = "secret";
  ClientRun run(target);
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
}

TEST_F(RedisTlsTest, EachWrongCertificateHasItsOwnWords) {
  struct Case {
    PemPair pair;
    std::string words;
  };
  const std::vector<Case> cases = {
      {authority_.Issue(
           {.names = {kServerName}, .begins_in = -absl::Hours(2), .ends_in = -absl::Hours(1)}),
       "the service's certificate has expired"},
      {authority_.Issue(
           {.names = {kServerName}, .begins_in = absl::Hours(1), .ends_in = absl::Hours(2)}),
       "the service's certificate is not yet valid"},
      {authority_.Issue({.names = {"other.test"}}),
       "the service's certificate is for other.test and not for redis.test"},
      {other_authority_.Issue({.names = {kServerName}}),
       "the service's certificate is not signed by a trusted CA"}};
  for (const Case& c : cases) {
    const auto redis = OpenServer(c.pair);
    EXPECT_EQ(Refusal(redis->other_port(), Source()), c.words);
  }
}

TEST_F(RedisTlsTest, EachHandshakeIsToldOnceWithItsResult) {
  const auto first = [&](uint16_t port) {
    ClientRun run(Target(port, Source()));
    run.Until([&] { return !run.handshakes.empty(); });
    return run.handshakes.front();
  };
  const auto good = OpenServer(Good());
  ClientRun run(Target(good->other_port(), Source()));
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
  EXPECT_EQ(run.handshakes, std::vector{tls::Result::kSuccess});
  good->Command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  run.Until([&] { return run.handshakes.size() == 2; });
  EXPECT_EQ(run.handshakes.back(), tls::Result::kSuccess);
  EXPECT_EQ(first(good->port()), tls::Result::kTimeout);
  EXPECT_EQ(first(OpenServer(authority_.Issue({.names = {"other.test"}}))->other_port()),
            tls::Result::kWrongName);
  // It says so after the last step of this side.
  EXPECT_EQ(first(Server(Good(), authority_.pem())->other_port()),
            tls::Result::kCertificateRequired);
}

TEST_F(RedisTlsTest, WithoutAConnectionThereIsNoHandshake) {
  auto redis = OpenServer(Good());
  const uint16_t port = redis->other_port();
  redis->Kill();
  ClientRun run(Target(port, Source()));
  run.Until([&] { return !run.reason.empty(); });
  EXPECT_TRUE(run.handshakes.empty());
}

TEST_F(RedisTlsTest, AServerThatWantsACertificateSaysSo) {
  const auto redis = Server(Good(), authority_.pem());
  EXPECT_EQ(Refusal(redis->other_port(), Source()), "the service wants a client certificate");
}

TEST_F(RedisTlsTest, AServerThatDoesNotTrustTheClientSaysSo) {
  const auto redis = Server(Good(), authority_.pem());
  EXPECT_EQ(Refusal(redis->other_port(), Source(other_authority_.Issue({.names = {"levee"}}))),
            "the service does not trust the CA of Levee's certificate");
}

TEST_F(RedisTlsTest, AnOldVersionIsTakenOnlyIfItIsAllowed) {
  const auto redis =
      Server(Good(), authority_.pem(), {"--tls-auth-clients", "no", "--tls-protocols", "TLSv1.2"});
  EXPECT_EQ(Refusal(redis->other_port(), Source()),
            "the service speaks no version of TLS that is allowed here");
  ClientRun run(Target(redis->other_port(), Source(std::nullopt, tls::Version::k12)));
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
}

// A server without TLS waits for the rest of a command, and one that is stopped says nothing
// either.
TEST_F(RedisTlsTest, AServerThatSaysNothingInTheHandshakeIsTold) {
  const auto redis = OpenServer(Good());
  EXPECT_EQ(Refusal(redis->port(), Source()), "the TLS handshake took too long");
  redis->Signal(SIGSTOP);
  EXPECT_EQ(Refusal(redis->other_port(), Source()), "the TLS handshake took too long");
  redis->Signal(SIGCONT);
}

TEST_F(RedisTlsTest, ACertificateThatIsReplacedIsThatOfTheNextConnection) {
  const auto redis = Server(Good(), authority_.pem());
  ClientRun run(Target(redis->other_port(), Source(authority_.Issue({.names = {"one"}}))));
  run.UntilConnected();
  run.client->SetTls(Source());  // Without one the server takes nobody.
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
  redis->Command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  run.Until([&] { return run.reason == "the service wants a client certificate"; });
  run.client->SetTls(Source(authority_.Issue({.names = {"two"}})));
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
}

}  // namespace
}  // namespace levee
