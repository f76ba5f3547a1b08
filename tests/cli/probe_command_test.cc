// SPDX-License-Identifier: Apache-2.0
// The answers of `levee probe` about servers in every condition.
#include "cli/probe_command.h"

#include <atomic>
#include <memory>
#include <string>

#include "admin/metrics_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace levee {
namespace {

using testing::HasSubstr;

class ProbeTest : public testing::Test {
 protected:
  ProbeTest() : metrics_(Metrics::Options{}) {
    auto server =
        MetricsServer::Start({.host = "127.0.0.1"}, metrics_, [this] { return ready_.load(); });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string address() const { return server_->address().ToString(); }
  // The answer or the reason why there is none.
  static std::string Ask(const std::string& address, bool ready = false,
                         absl::Duration timeout = absl::Minutes(10)) {
    const auto answer = Probe({.ready = ready, .address = address}, timeout);
    return answer.ok() ? *answer : std::string(answer.status().message());
  }

  Metrics metrics_;
  std::atomic<bool> ready_ = true;
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(ProbeTest, ASidecarThatRunsIsHealthy) { EXPECT_EQ(Ask(address()), "healthy"); }

TEST_F(ProbeTest, ReadinessIsAskedForByAnOption) {
  EXPECT_EQ(Ask(address(), true), "ready");
  ready_ = false;
  EXPECT_EQ(Ask(address(), true), address() + "/readyz: 503 not ready");
  EXPECT_EQ(Ask(address()), "healthy");
}

TEST_F(ProbeTest, NobodyListens) {
  const std::string address = server_->address().ToString();
  server_->Stop();
  EXPECT_EQ(Ask(address), address + "/healthz: Connection refused");
}

TEST_F(ProbeTest, SilenceIsCutOff) {
  net::EventLoop loop;
  TimerWheel wheel(loop.now());
  const auto silent = net::Listener::Open(loop, wheel, *net::Address::FromIp("127.0.0.1", 0),
                                          [](const net::ByteStream&) {});
  ASSERT_TRUE(silent.ok()) << silent.status();
  const std::string address = (*silent)->address().ToString();
  EXPECT_EQ(Ask(address, false, absl::Milliseconds(500)),
            address + "/healthz: no answer within 500ms");
}

TEST_F(ProbeTest, AnAddressHasAHostAndAPort) {
  EXPECT_EQ(Ask("localhost"), "\"localhost\" is not HOST:PORT");
}

TEST_F(ProbeTest, TheCommandPrintsOneLineAndReturnsTheExitCode) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunProbe({.ready = true, .address = address()}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "ready\n");
  ready_ = false;
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunProbe({.ready = true, .address = address()}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "levee: " + address() + "/readyz: 503 not ready\n");
}

}  // namespace
}  // namespace levee
