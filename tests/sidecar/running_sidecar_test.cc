// SPDX-License-Identifier: Apache-2.0
// A whole sidecar but for the gRPC port: its start, its reloads and its end.
#include "sidecar/running_sidecar.h"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "admin/http_client.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "sidecar/fake_exporter.h"
#include "sidecar/fake_grpc_port.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunningTest : public testing::Test {
 protected:
  // A signal that comes after the end must not end the test.
  RunningTest() {
    loop_.OnSignal(SIGTERM, [] {});
  }
  ~RunningTest() override {
    if (thread_.joinable()) End();
  }

  // The parts of a configuration that the tests change. Ports are the system's choice.
  struct Parts {
    std::string listeners = "{name: egress, address: \"127.0.0.1:0\"}";
    std::string metrics = "127.0.0.1:0";
    std::string admin = "{address: \"127.0.0.1:0\", grpc_address: \"127.0.0.1:9463\"}";
    int attempts = 2;
    std::string endpoint = "127.0.0.1:1";
    std::string more;  // more sections
  };
  static std::string Text(const Parts& parts) {
    return absl::StrCat("listeners: [", parts.listeners, "]\nmetrics: {address: \"", parts.metrics,
                        "\"}\nadmin: ", parts.admin, "\nupstreams: [{name: shop, endpoints: [\"",
                        parts.endpoint,
                        "\"]}]\nroutes: [{upstream: shop}]\npolicies: [{name: default, retry: "
                        "{max_attempts: ",
                        parts.attempts, "}}]\n", parts.more);
  }
  void Write(const Parts& parts) { file_ = folder_.Write("levee.yaml", Text(parts)); }

  // Opens and runs a sidecar in a thread of its own. Returns why it could not be opened.
  absl::Status Start(const Parts& parts, int workers = 1) {
    Write(parts);
    std::promise<absl::Status> opened;
    thread_ = std::thread([this, workers, &opened] { Run(workers, opened); });
    absl::Status status = opened.get_future().get();
    if (!status.ok()) Join();
    return status;
  }

  // SIGTERM ends it at once the second time; the first one has to be noticed before.
  void End() {
    const uint16_t metrics = Port("metrics");
    raise(SIGTERM);
    while (!ended_ && Ask(metrics, "GET", "/readyz").status == 200) continue;
    raise(SIGTERM);
    Join();
  }
  void Join() { thread_.join(); }

  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  // The number of the port that was announced last under this name; waits for it.
  uint16_t Port(const std::string& name) {
    const std::string start = "listening " + name + " ";
    std::unique_lock lock(mutex_);
    std::string found;
    changed_.wait(lock, [&] {
      for (const std::string& line : lines_) {
        if (line.starts_with(start)) found = line;
      }
      return !found.empty();
    });
    return static_cast<uint16_t>(std::stoi("0" + found.substr(found.rfind(':') + 1)));
  }

  // Scrapes until as many reloads have been counted.
  void AwaitReloads(const char* result, int count) {
    const std::string line =
        absl::StrCat("levee_config_reloads_total{result=\"", result, "\"} ", count, "\n");
    while (!absl::StrContains(Ask(Port("metrics"), "GET", "/metrics").body, line)) {
    }
  }

  static bool Listens(uint16_t port) { return HttpClient(port).connected(); }

  FakeGrpc grpc_;
  FakeExporters exporters_;

 private:
  void Run(int workers, std::promise<absl::Status>& opened) {
    const ConfigInput input{.files = {file_}, .to = {}};
    auto running = RunningSidecar::Open({.config = input,
                                         .workers = workers,
                                         .version = "0.1.0",
                                         .commit = "abc",
                                         .open_grpc = grpc_.Opener(),
                                         .make_exporter = exporters_.Maker(),
                                         .announce = [this](const auto& line) { Hear(line); }},
                                        CheckConfig(input), log_);
    if (!running.ok()) return opened.set_value(running.status());
    opened.set_value(absl::OkStatus());
    (*running)->Run();
    running->reset();
    ended_ = true;
  }

  void Hear(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
    changed_.notify_all();
  }

  EventLog log_;
  net::EventLoop loop_;
  TemporaryFolder folder_;
  std::string file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

TEST_F(RunningTest, OpensEveryPortAndSaysWhere) {
  ASSERT_TRUE(Start({}).ok());
  Port("admin-grpc");
  EXPECT_THAT(lines(), ElementsAre(StartsWith("listening egress 127.0.0.1:"),
                                   StartsWith("listening metrics 127.0.0.1:"),
                                   StartsWith("listening admin 127.0.0.1:"),
                                   "listening admin-grpc 127.0.0.1:9463"));
  EXPECT_TRUE(Listens(Port("egress")));
  EXPECT_EQ(Ask(Port("metrics"), "GET", "/readyz").status, 200);
  EXPECT_EQ(Ask(Port("admin"), "GET", "/config").status, 200);
  EXPECT_THAT(Ask(Port("admin"), "GET", "/api/v1/state").body,
              HasSubstr(absl::StrCat("egress 127.0.0.1:", Port("egress"))));
}

TEST_F(RunningTest, TheExporterOfSpansFollowsTheConfiguration) {
  ASSERT_TRUE(Start({}).ok());
  Port("metrics");
  EXPECT_EQ(exporters_.port, 0);
  Write({.more = "otlp: {address: \"otel:4317\"}\n"});
  AwaitReloads("success", 1);
  EXPECT_EQ(exporters_.port, 4317);
  Write({});
  AwaitReloads("success", 2);
  EXPECT_EQ(exporters_.port, 0);
  EXPECT_EQ(exporters_.configured, 3);
  EXPECT_EQ(exporters_.stopped, 0);
  End();
  EXPECT_EQ(exporters_.stopped, 1);
}

TEST_F(RunningTest, DoesNotStartWhenAPortCannotBeHad) {
  grpc_.fails = true;
  EXPECT_EQ(Start({}).message(), "the gRPC port fails");
  grpc_.fails = false;
  ASSERT_TRUE(Start({}).ok());
}

TEST_F(RunningTest, AReloadOpensAndClosesListenersAndSaysWhichOnesCame) {
  ASSERT_TRUE(Start({.listeners = "{name: stays, address: \"127.0.0.1:0\"}, "
                                  "{name: goes, address: \"127.0.0.1:0\"}"},
                    /*workers=*/2)
                  .ok());
  Port("admin-grpc");
  const size_t before = lines().size();
  Write({.listeners = "{name: comes, address: \"127.0.0.1:0\"}, "
                      "{name: stays, address: \"127.0.0.1:0\"}"});
  AwaitReloads("success", 1);
  EXPECT_EQ(lines().size(), before + 1);
  EXPECT_TRUE(Listens(Port("comes")));
  EXPECT_TRUE(Listens(Port("stays")));
  EXPECT_FALSE(Listens(Port("goes")));
  EXPECT_EQ(grpc_.opened, 1);
}

TEST_F(RunningTest, AListenerThatCannotBeOpenedChangesNothing) {
  ASSERT_TRUE(Start({}).ok());
  const uint16_t metrics = Port("metrics"), admin = Port("admin");
  Port("admin-grpc");
  const auto before = lines();
  // Another port is opened first, and one makes room, before the listener fails.
  Write({.listeners = absl::StrCat("{name: egress, address: \"127.0.0.1:0\"}, "
                                   "{name: busy, address: \"127.0.0.1:",
                                   metrics, "\"}"),
         .admin =
             absl::StrCat("{address: \"0.0.0.0:", admin, "\", grpc_address: \"127.0.0.1:9464\"}"),
         .attempts = 5});
  AwaitReloads("failure", 1);
  EXPECT_EQ(lines(), before);
  const HttpAnswer config = Ask(admin, "GET", "/config");
  EXPECT_THAT(config.body, HasSubstr("127.0.0.1:9463"));
  EXPECT_THAT(Ask(admin, "GET", "/api/v1/state").body, HasSubstr("listeners[1].address"));
  EXPECT_TRUE(Listens(Port("egress")));
  EXPECT_EQ(grpc_.opened, 2);
  EXPECT_EQ(grpc_.stopped, 1);
  Write({.attempts = 5});
  AwaitReloads("success", 1);
}

TEST_F(RunningTest, AControlPortThatCannotBeOpenedChangesNothing) {
  ASSERT_TRUE(Start({.admin = "{address: none}"}).ok());
  const uint16_t egress = Port("egress");
  const uint16_t metrics = Port("metrics");
  grpc_.fails = true;
  Write({.listeners = "{name: other, address: \"127.0.0.1:0\"}"});
  AwaitReloads("failure", 1);
  EXPECT_TRUE(Listens(egress));
  grpc_.fails = false;
  raise(SIGHUP);
  AwaitReloads("success", 1);
  EXPECT_FALSE(Listens(egress));
  EXPECT_TRUE(Listens(Port("other")));
  EXPECT_EQ(Port("metrics"), metrics);
}

TEST_F(RunningTest, AReloadOfEndpointsAloneIsShownAsAnyOtherReload) {
  ASSERT_TRUE(Start({.endpoint = "127.0.0.1:1"}).ok());
  const uint16_t metrics = Port("metrics"), admin = Port("admin");
  const std::string before = Ask(admin, "GET", "/config").body;
  EXPECT_THAT(before, HasSubstr("\"127.0.0.1:1\""));
  Write({.endpoint = "127.0.0.1:2"});
  AwaitReloads("success", 1);
  const std::string after = Ask(admin, "GET", "/config").body;
  EXPECT_THAT(after, HasSubstr("\"127.0.0.1:2\""));
  EXPECT_THAT(after, Not(HasSubstr("\"127.0.0.1:1\"")));
  const std::string head = "# sha256 ";
  ASSERT_THAT(after, StartsWith(head));
  const std::string sha256 = after.substr(head.size(), 64);
  EXPECT_NE(before.substr(head.size(), 64), sha256);
  EXPECT_THAT(Ask(metrics, "GET", "/metrics").body, HasSubstr(sha256));
  EXPECT_THAT(Ask(admin, "GET", "/api/v1/state").body, HasSubstr(sha256));
}

TEST_F(RunningTest, DrainsWhenTheAdminPortAsksForIt) {
  ASSERT_TRUE(Start({}, /*workers=*/2).ok());
  const uint16_t egress = Port("egress"), admin = Port("admin"), metrics = Port("metrics");
  EXPECT_EQ(Ask(admin, "POST", "/drain").status, 202);
  EXPECT_EQ(Ask(admin, "POST", "/drain").status, 200);
  while (Ask(metrics, "GET", "/readyz").status == 200) continue;
  // Who has not heard of it may still come.
  EXPECT_TRUE(Listens(egress));
  Join();
  EXPECT_FALSE(Listens(egress));
}

TEST_F(RunningTest, EndsInTheMiddleOfAReload) {
  ASSERT_TRUE(Start({.admin = "{address: none}"}, /*workers=*/2).ok());
  const uint16_t egress = Port("egress");
  // The reload waits until the workers have ended.
  std::promise<void> begun;
  grpc_.on_open = [&] {
    begun.set_value();
    while (Listens(egress)) continue;
  };
  Write({});
  begun.get_future().wait();
  End();
  EXPECT_EQ(grpc_.stopped, grpc_.opened);
}

TEST_F(RunningTest, IsReloadedManyTimesWhileItIsLookedAt) {
  ASSERT_TRUE(Start({}, /*workers=*/2).ok());
  const uint16_t admin = Port("admin");
  std::atomic<bool> done = false;
  std::thread looking([&] {
    while (!done) EXPECT_EQ(Ask(admin, "GET", "/api/v1/state").status, 200);
  });
  for (int i = 1; i <= 5; ++i) {
    Write({.attempts = 2 + i});
    raise(SIGHUP);
    AwaitReloads("success", i);
  }
  done = true;
  looking.join();
}

}  // namespace
}  // namespace levee
