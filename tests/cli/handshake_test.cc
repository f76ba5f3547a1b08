// SPDX-License-Identifier: Apache-2.0
// Handshakes with openssl's server, and with what is none; tests/docs has more of its faults.
#include "cli/handshake.h"

#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "certificates/authority.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/child.h"
#include "net/closed_port.h"

namespace levee {
namespace {

// No handshake takes so long, on whatever machine.
constexpr absl::Duration kLong = absl::Minutes(10);

class HandshakeTest : public testing::Test {
 protected:
  // Starts `openssl s_server OPTIONS...`, which answers lines behind the handshake, and returns
  // where it listens.
  EndpointSpec Serve(std::vector<std::string> options) {
    const PemPair own = authority_.Issue();
    const std::string certificate = folder_.Write("own.crt", own.certificate);
    const std::string key = folder_.Write("own.key", own.key);
    std::vector<std::string> words = {"s_server", "-rev",      "-accept", "127.0.0.1:0",
                                      "-cert",    certificate, "-key",    key};
    words.insert(words.end(), options.begin(), options.end());
    server_ = std::make_unique<Child>("/usr/bin/openssl", words);
    std::optional<std::string> line = server_->ReadLine();
    while (line.has_value() && !line->starts_with("ACCEPT ")) line = server_->ReadLine();
    int port = 0;
    EXPECT_TRUE(line.has_value() && absl::SimpleAtoi(line->substr(line->rfind(':') + 1), &port));
    return At(static_cast<uint16_t>(port));
  }

  static EndpointSpec At(uint16_t port) {
    EndpointSpec endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = port;
    return endpoint;
  }

  tls::ClientSource Trusting(const std::string& name,
                             std::optional<tls::Credentials> own = {}) const {
    auto context = tls::Context::Make(
        tls::Role::kClient,
        {.credentials = std::move(own), .trusted = *tls::TrustStore::Parse(authority_.pem())});
    return {.context = *context, .server_name = name, .configured = ""};
  }

  const TemporaryFolder folder_;
  const Authority authority_;
  std::unique_ptr<Child> server_;
};

TEST_F(HandshakeTest, SucceedsWithAServerThatIsAsWanted) {
  const EndpointSpec endpoint = Serve({"-alpn", "h2"});
  const auto ended = ShakeHands(endpoint, Trusting("localhost"), kLong);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result, tls::Result::kSuccess) << ended->text;
}

TEST_F(HandshakeTest, FailsWithAServerOfAnotherName) {
  const EndpointSpec endpoint = Serve({"-alpn", "h2"});
  const auto ended = ShakeHands(endpoint, Trusting("cart.shop"), kLong);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result, tls::Result::kWrongName);
}

TEST_F(HandshakeTest, FailsWhereTheServerWantsACertificateBehindTheHandshake) {
  const std::string ca = folder_.Write("ca.pem", authority_.pem());
  const EndpointSpec endpoint =
      Serve({"-alpn", "h2", "-Verify", "1", "-verify_return_error", "-CAfile", ca});
  const auto without = ShakeHands(endpoint, Trusting("localhost"), kLong);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->result, tls::Result::kCertificateRequired) << without->text;
  const PemPair own = authority_.Issue();
  const auto with = ShakeHands(
      endpoint, Trusting("localhost", tls::Credentials{own.certificate, own.key}), kLong);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(with->result, tls::Result::kSuccess) << with->text;
}

TEST_F(HandshakeTest, EndsInTimeBeforeAServerThatSaysNothing) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(listen(silent, 1), 0);  // The system chooses the port, and connects.
  const auto address = [silent] {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    getsockname(silent, reinterpret_cast<sockaddr*>(&at), &size);
    return ntohs(at.sin_port);
  };
  const auto ended = ShakeHands(At(address()), Trusting("localhost"), absl::Milliseconds(50));
  close(silent);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result, tls::Result::kTimeout);
}

TEST_F(HandshakeTest, IsNotMadeWithoutAConnection) {
  const ClosedPort closed;
  const auto ended = ShakeHands(At(closed.port()), Trusting("localhost"), kLong);
  EXPECT_EQ(ended.status().message(), "connection refused");
  EndpointSpec unix;
  unix.kind = EndpointSpec::Kind::kUnix;
  unix.path = folder_.Path("nobody");
  EXPECT_FALSE(ShakeHands(unix, Trusting("localhost"), kLong).ok());
}

}  // namespace
}  // namespace levee
