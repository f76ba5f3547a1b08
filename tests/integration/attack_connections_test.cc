// SPDX-License-Identifier: Apache-2.0
// More connections than a sidecar may have.
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "integration/attacker.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string CallStatus(RawClient& client) { return client.AnswerTo(client.Call()).grpc_status(); }

int Occurrences(const std::string& text, const std::string& of) {
  int count = 0;
  for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

// How many lines of the log tell of the limit; waits for the first one.
int LinesAbout(const SidecarProcess& sidecar, const std::string& limit) {
  int lines = 0;
  Eventually([&] {
    lines = Occurrences(sidecar.process().Errors(), "limit=" + limit + " ");
    return lines > 0;
  });
  return lines;
}

ConfigParts WithConnections(const RawUpstream& upstream, int limit) {
  return {.endpoints = {upstream.address()},
          .more = "limits: {connections: " + std::to_string(limit) + "}\n"};
}

TEST(Connections, OneAboveTheLimitIsClosedAtOnce) {
  RawUpstream upstream(ForEach(AnswerWell));
  SidecarProcess sidecar(WithConnections(upstream, 2), {"--workers", "2"});
  RawClient first(sidecar.address());
  auto second = std::make_unique<RawClient>(sidecar.address());
  EXPECT_EQ(CallStatus(first), "0");
  EXPECT_EQ(CallStatus(*second), "0");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TcpConnection(sidecar.address()).Read(1), "");
  EXPECT_EQ(CallStatus(first), "0");
  EXPECT_EQ(CallStatus(*second), "0");
  EXPECT_EQ(Hits(sidecar, "connections"), 3);
  EXPECT_EQ(LinesAbout(sidecar, "connections"), 1);

  second.reset();
  EXPECT_TRUE(sidecar.WaitForSum("levee_downstream_connections", {}, 1));
  RawClient third(sidecar.address());
  EXPECT_EQ(CallStatus(third), "0");
}

TEST(Connections, TunnelsCountAndSilentOnesToo) {
  RawUpstream upstream(ForEach(AnswerWell));
  SidecarProcess sidecar(WithConnections(upstream, 2));
  TcpConnection tunnel(sidecar.address());
  EXPECT_TRUE(OpenTunnel(tunnel, upstream.address()));
  TcpConnection silent(sidecar.address());
  EXPECT_EQ(TcpConnection(sidecar.address()).Read(1), "");
  EXPECT_EQ(Hits(sidecar, "connections"), 1);
}

TEST(Connections, AReloadChangesHowManyThereMayBe) {
  RawUpstream upstream(ForEach(AnswerWell));
  SidecarProcess sidecar(WithConnections(upstream, 1));
  RawClient first(sidecar.address());
  EXPECT_EQ(CallStatus(first), "0");
  sidecar.Rewrite(WithConnections(upstream, 2));
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  RawClient second(sidecar.address());
  EXPECT_EQ(CallStatus(second), "0");
  EXPECT_EQ(CallStatus(first), "0");
}

// Each of which stays.
TEST(Connections, H5_EmptyOnesAtTheMetricsPortLeaveProbesTheirAnswers) {
  SidecarProcess sidecar({.endpoints = {"127.0.0.1:1"}});
  std::vector<std::unique_ptr<TcpConnection>> empty;
  while (empty.size() < 900) {
    empty.push_back(std::make_unique<TcpConnection>(sidecar.address("metrics")));
    if (empty.size() % 30 != 0) continue;
    EXPECT_EQ(sidecar.HttpStatus("/readyz"), 200) << "beside " << empty.size();
  }
}

// Leaves a process so many descriptors beside those that it has open; the destructor gives the
// others back.
class FewDescriptors {
 public:
  FewDescriptors(int pid, rlim_t more) : pid_(pid) {
    EXPECT_EQ(prlimit(pid_, RLIMIT_NOFILE, nullptr, &before_), 0);
    rlimit few = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    const std::string folder = "/proc/" + std::to_string(pid_) + "/fd/";
    while (std::filesystem::is_symlink(folder + std::to_string(few.rlim_cur))) ++few.rlim_cur;
    few.rlim_cur += more;
    EXPECT_EQ(prlimit(pid_, RLIMIT_NOFILE, &few, nullptr), 0);
  }
  ~FewDescriptors() { prlimit(pid_, RLIMIT_NOFILE, &before_, nullptr); }

 private:
  const int pid_;
  rlimit before_{};
};

TEST(Descriptors, H7_CallersLeaveSomeForUpstreamsAndProbes) {
  RawUpstream upstream(ForEach(AnswerWell));
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  RawClient client(sidecar.address());
  std::vector<std::unique_ptr<TcpConnection>> callers;
  const FewDescriptors few(sidecar.process().pid(), 200);
  for (int i = 0; i < 300; ++i) {
    callers.push_back(std::make_unique<TcpConnection>(sidecar.address()));
  }
  // The upstream is dialled for this call.
  EXPECT_EQ(CallStatus(client), "0");
  EXPECT_EQ(sidecar.HttpStatus("/healthz"), 200);
  EXPECT_GE(Hits(sidecar, "descriptors"), 300 - 200 + 64);
}

// Callers that come with one descriptor each, and want a second one each. Ten upstreams are dialled
// after that.
TEST(Descriptors, H7_TunnelsLeaveSomeToo) {
  RawUpstream destination([](UpstreamPeer& peer) {
    peer.connection().Send("!");
    peer.ReadToEnd();
  });
  std::vector<std::unique_ptr<RawUpstream>> upstreams;
  for (int i = 0; i < 10; ++i) {
    upstreams.push_back(std::make_unique<RawUpstream>(ForEach(AnswerWell)));
  }
  SidecarProcess sidecar({.endpoints = {"authority:"}});
  RawClient client(sidecar.address());
  std::vector<std::unique_ptr<TcpConnection>> callers;
  const FewDescriptors few(sidecar.process().pid(), 200);
  for (int i = 0; i < 136; ++i) {
    callers.push_back(std::make_unique<TcpConnection>(sidecar.address()));
  }
  for (const auto& caller : callers) {
    if (!OpenTunnel(*caller, destination.address()) || !caller->Send("\x16")) continue;
    caller->Read(1);  // It is dialled, or closed.
  }
  for (const auto& upstream : upstreams) {
    HeaderList head = RawClient::CallHead();
    head[3].second = upstream->address();
    EXPECT_EQ(client.AnswerTo(client.Open(head, true)).grpc_status(), "0");
  }
  EXPECT_EQ(sidecar.HttpStatus("/healthz"), 200);
  EXPECT_GE(destination.connections(), 30);
}

TEST(Descriptors, AHardLimitBelowTheConnectionsIsToldAtTheStart) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit soft = {.rlim_cur = 1024, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &soft), 0);
  SidecarProcess fits({.endpoints = {"127.0.0.1:1"}, .more = "limits: {connections: 1000}\n"});
  SidecarProcess not_so({.endpoints = {"127.0.0.1:1"}, .more = "limits: {connections: 1000000}\n"});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(fits.process().Errors(), Not(HasSubstr("descriptors_few")));
  if (before.rlim_max < 1'000'000) {
    EXPECT_THAT(ErrorsWith(not_so, "connections=1000000"), HasSubstr("connections=1000000"));
  }
}

// `levee run --config FILE` in a process that may have no more descriptors than `limit`.
Child RunWith(int limit, const TempFile& config) {
  return Child("/bin/sh", {"-c", absl::StrCat("ulimit -n ", limit, "; exec ", LEVEE_BINARY,
                                              " run --config ", config.path())});
}

TEST(Descriptors, SixtyFourAreEnoughToServe) {
  RawUpstream upstream(ForEach(AnswerWell));
  const TempFile config(SidecarConfigText({.endpoints = {upstream.address()}}));
  Child sidecar = RunWith(64, config);
  const std::string line = sidecar.ReadLine().value_or("");
  constexpr std::string_view kListening = "listening egress ";
  ASSERT_THAT(line, StartsWith(kListening)) << sidecar.Errors();
  std::vector<std::unique_ptr<RawClient>> callers;
  for (int i = 0; i < 5; ++i) {
    callers.push_back(std::make_unique<RawClient>(line.substr(kListening.size())));
    EXPECT_EQ(CallStatus(*callers.back()), "0");
  }
}

TEST(Descriptors, TooFewForAnyCallerAreToldAtTheStartWithWhatIsNeeded) {
  const TempFile config(SidecarConfigText({.endpoints = {"127.0.0.1:1"}}));
  Child sidecar = RunWith(40, config);
  EXPECT_EQ(sidecar.WaitForExit(), 1);
  EXPECT_EQ(sidecar.ReadLine(), std::nullopt);
  EXPECT_EQ(sidecar.Errors(),
            "levee: this process may have 40 file descriptors (RLIMIT_NOFILE), which leaves too "
            "few for callers: a sidecar of 1 worker needs at least 64 here. Raise the limit: "
            "`ulimit -n`, LimitNOFILE of systemd, `--ulimit nofile` of Docker.\n");
}

TEST(Descriptors, PortsThatLeaveNoneForCallersAreToldAtTheStart) {
  std::string listeners;
  for (int i = 0; i < 15; ++i) {
    absl::StrAppend(&listeners, "  - {name: port-", i, ", address: \"127.0.0.1:0\"}\n");
  }
  const TempFile config(absl::StrCat("metrics: {address: none}\nadmin: {address: none}\n",
                                     "listeners:\n", listeners));
  Child sidecar = RunWith(64, config);
  EXPECT_EQ(sidecar.WaitForExit(), 1);
  EXPECT_THAT(sidecar.Errors(), HasSubstr("may have 64 file descriptors (RLIMIT_NOFILE), which "
                                          "leaves too few for callers"));
}

TEST(Descriptors, WithoutOneLeftCallersAreTurnedAwayAndOthersGoOn) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "without descriptors the sanitizer cannot look at objects";
#endif
  RawUpstream upstream(ForEach(AnswerWell));
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  RawClient client(sidecar.address());
  EXPECT_EQ(CallStatus(client), "0");
  {
    const FewDescriptors none(sidecar.process().pid(), 0);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(TcpConnection(sidecar.address()).Read(1), "");
      EXPECT_EQ(CallStatus(client), "0");
    }
  }
  EXPECT_EQ(Hits(sidecar, "descriptors"), 50);
  EXPECT_EQ(LinesAbout(sidecar, "descriptors"), 1);
  RawClient after(sidecar.address());
  EXPECT_EQ(CallStatus(after), "0");
}

}  // namespace
}  // namespace levee
