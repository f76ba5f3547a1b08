// SPDX-License-Identifier: Apache-2.0
// Another configuration under a running sidecar, with calls going on.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/descriptors.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using testing::HasSubstr;
using testing::Not;

bool WaitForReloads(const SidecarProcess& sidecar, int count) {
  return sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, count);
}
bool WaitForRefusals(const SidecarProcess& sidecar, int count) {
  return sidecar.WaitForSum("levee_config_reloads_total", {R"(result="failure")"}, count);
}

// Counts its connections, and answers every call.
RawUpstream::Script AnswersAll() {
  return [](UpstreamPeer& peer) {
    peer.Handshake();
    peer.AnswerRest();
  };
}

TEST(Reload, AChangedFileTakesEffectWithoutASignal) {
  FaultyService before, after;
  SidecarProcess sidecar({.endpoints = {before.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  sidecar.Rewrite({.endpoints = {after.address()}});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(before.calls(), 1);
  EXPECT_EQ(after.calls(), 1);
  EXPECT_EQ(sidecar.Metric("levee_config_last_reload_successful"), 1);
}

TEST(Reload, ASignalReadsTheFilesAgainWhetherOrNotTheyHaveChanged) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  sidecar.process().Signal(SIGHUP);
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
}

TEST(Reload, FilesThatSayTheSameInOtherWordsAreNoReload) {
  FaultyService service;
  const ConfigParts parts{.endpoints = {service.address()}};
  SidecarProcess sidecar(parts);
  sidecar.RewriteText("# The same.\n" + SidecarConfigText(parts));
  sidecar.Rewrite({.endpoints = {service.address()}, .retry = "{max_attempts: 2}"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
}

TEST(Reload, ABadFileChangesNothingAndIsCountedAndLoggedOnce) {
  FaultyService service;
  const ConfigParts good{.endpoints = {service.address()}};
  SidecarProcess sidecar(good);
  const ChannelPtr channel = NewChannel(sidecar.address());
  sidecar.Rewrite({.endpoints = {service.address()}, .retry = "{max_atempts: 2}"});
  EXPECT_TRUE(WaitForRefusals(sidecar, 1));
  EXPECT_EQ(sidecar.Metric("levee_config_last_reload_successful"), 0);
  EXPECT_TRUE(CallUnary(channel).status.ok());
  // Touched, but no better: nobody needs to hear it twice.
  sidecar.Rewrite({.endpoints = {service.address()}, .retry = "{max_atempts: 2}"});
  sidecar.Rewrite(good);
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_EQ(sidecar.Metric("levee_config_last_reload_successful"), 1);
  EXPECT_EQ(sidecar.Sum("levee_config_reloads_total", {R"(result="failure")"}), 1);
  const std::string errors = ErrorsWith(sidecar, "did you mean max_attempts?");
  const size_t first = errors.find("did you mean max_attempts?");
  EXPECT_NE(first, std::string::npos) << errors;
  EXPECT_EQ(errors.find("did you mean max_attempts?", first + 1), std::string::npos) << errors;
}

// Writes as a shell does for `generate > levee.yaml`.
TEST(Reload, AFileThatIsEmptyWhileItIsWrittenChangesNothing) {
  FaultyService service;
  const ConfigParts parts{.endpoints = {service.address()}};
  SidecarProcess sidecar(parts);
  sidecar.RewriteText("");
  EXPECT_TRUE(WaitForRefusals(sidecar, 1));
  EXPECT_THAT(ErrorsWith(sidecar, "is empty; for the defaults say {}"),
              HasSubstr("is empty; for the defaults say {}"));
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  sidecar.Rewrite(parts);
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
}

TEST(Reload, AFileThatIsGoneChangesNothing) {
  FaultyService service;
  const std::string text = SidecarConfigText({.endpoints = {service.address()}});
  auto file = std::make_unique<TempFile>(text);
  const auto sidecar = SidecarProcess::Run({"--config", file->path()});
  file.reset();
  EXPECT_TRUE(WaitForRefusals(*sidecar, 1));
  EXPECT_THAT(ErrorsWith(*sidecar, "No such file"), HasSubstr("No such file"));
  EXPECT_TRUE(CallUnary(NewChannel(sidecar->address())).status.ok());
}

// A mounted ConfigMap: kubelet puts another link in the place of ..data.
TEST(Reload, TheLinkSwapOfAConfigMapTakesEffect) {
  FaultyService first, second;
  std::string name = testing::TempDir() + "levee-XXXXXX";
  const fs::path mount = mkdtemp(name.data());
  const auto publish = [&](const std::string& version, const FaultyService& service) {
    fs::create_directory(mount / version);
    std::ofstream(mount / version / "levee.yaml")
        << SidecarConfigText({.endpoints = {service.address()}});
    fs::create_symlink(version, mount / "..data_tmp");
    fs::rename(mount / "..data_tmp", mount / "..data");
  };
  publish("..1", first);
  fs::create_symlink("..data/levee.yaml", mount / "levee.yaml");
  {
    const auto sidecar = SidecarProcess::Run({"--config", mount / "levee.yaml"});
    for (int version = 2; version <= 3; ++version) {
      publish(".." + std::to_string(version), version == 2 ? second : first);
      fs::remove_all(mount / (".." + std::to_string(version - 1)));
      EXPECT_TRUE(WaitForReloads(*sidecar, version - 1));
      EXPECT_TRUE(CallUnary(NewChannel(sidecar->address())).status.ok());
    }
  }
  EXPECT_EQ(first.calls(), 1);
  EXPECT_EQ(second.calls(), 1);
  fs::remove_all(mount);
}

TEST(Reload, CallsInFlightEndByThePolicyTheyBeganWith) {
  FaultyService before([](const SeenCall& call) {
    if (call.number == 1) return Answer();
    Answer answer = Fails(StatusCode::UNAVAILABLE);
    answer.read_first = true;
    return answer;
  });
  FaultyService after;
  SidecarProcess sidecar({.endpoints = {before.address()}, .retry = "{max_attempts: 2}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall stream(channel, "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start());
  ASSERT_TRUE(stream.Write("one"));
  EXPECT_EQ(stream.Read(), "one");
  ByteCall retried(channel, "/test.Echo/Collect");
  ASSERT_TRUE(retried.Start());
  ASSERT_TRUE(retried.Write("body"));
  EXPECT_TRUE(before.WaitFor([&] { return before.calls() == 2; }));
  sidecar.Rewrite({.endpoints = {after.address()}, .retry = "{max_attempts: 1}"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  // Its first attempt fails only now. The second may be made by the policy that the call began
  // with, and goes to an endpoint that there is now.
  ASSERT_TRUE(retried.HalfClose());
  EXPECT_EQ(retried.Read(), "body");
  EXPECT_TRUE(retried.Finish().ok());
  ASSERT_TRUE(stream.Write("two"));
  EXPECT_EQ(stream.Read(), "two");
  ASSERT_TRUE(stream.HalfClose());
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(before.calls(), 2);
  EXPECT_EQ(after.calls(), 1);
}

constexpr char kScarce[] =
    "{backoff: {initial: 1ms, max: 1ms}, "
    "budget: {ratio: 0, window: 1h, floor: {per_second: 0.001, min_success: 0}}";

TEST(Reload, A49_ABudgetThatDoesNotChangeSurvives) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = std::string(kScarce) + "}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 5; ++i) CallUnary(channel);
  EXPECT_EQ(service.calls(), 5 + 3);  // The floor of an hour is 3.6.
  // Everything around it is another: attempts, endpoints, the name of the policy's timeout.
  FaultyService other(AlwaysFail());
  sidecar.Rewrite({.endpoints = {service.address(), other.address()},
                   .retry = std::string(kScarce) + ", max_attempts: 5}",
                   .policy = ", timeout: 9s"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  for (int i = 0; i < 5; ++i) CallUnary(channel);
  EXPECT_EQ(service.calls() + other.calls(), 10 + 3);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_total", {}, 3));
}

TEST(Reload, ABudgetWithOtherNumbersIsAnotherBudget) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = std::string(kScarce) + "}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 5; ++i) CallUnary(channel);
  sidecar.Rewrite({.endpoints = {service.address()},
                   .retry = "{backoff: {initial: 1ms, max: 1ms}, budget: {ratio: 0, window: 1h, "
                            "floor: {per_second: 0.0015, min_success: 0}}}"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  for (int i = 0; i < 5; ++i) CallUnary(channel);
  EXPECT_EQ(service.calls(), 10 + 3 + 5);
  EXPECT_EQ(sidecar.Sum("levee_retry_budget_limit"), 5.4);
}

TEST(Reload, ARateLimitThatDoesNotChangeSurvives) {
  FaultyService service;
  const std::string limit = ", rate_limit: [{name: slow, rate: 1/h, burst: 2}]";
  SidecarProcess sidecar({.endpoints = {service.address()}, .policy = limit});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  sidecar.Rewrite({.endpoints = {service.address()}, .policy = limit + ", timeout: 9s"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_EQ(CallUnary(channel).status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  sidecar.Rewrite({.endpoints = {service.address()},
                   .policy = ", rate_limit: [{name: slow, rate: 1/h, burst: 1}]"});
  EXPECT_TRUE(WaitForReloads(sidecar, 2));
  EXPECT_TRUE(CallUnary(channel).status.ok());
}

TEST(Reload, ConnectionsThatAreStillWantedStay) {
  RawUpstream stays(AnswersAll()), comes(AnswersAll());
  SidecarProcess sidecar({.endpoints = {stays.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  sidecar.Rewrite({.endpoints = {comes.address(), stays.address()},
                   .retry = "{max_attempts: 5, budget: {ratio: 0.3}}",
                   .more = "limits: {method_labels: 3}\n"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(stays.connections(), 1);
  EXPECT_EQ(comes.connections(), 1);
  EXPECT_EQ(sidecar.Sum("levee_downstream_connections"), 1);
  sidecar.Rewrite({.endpoints = {comes.address()}});
  EXPECT_TRUE(WaitForReloads(sidecar, 2));
  EXPECT_TRUE(sidecar.WaitForSum("levee_upstream_connections", {}, 1));
}

TEST(Reload, AnUpstreamThatConnectsInAnotherWayConnectsAnew) {
  RawUpstream upstream(AnswersAll());
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  sidecar.Rewrite({.endpoints = {upstream.address()}, .upstream = ", keepalive: {interval: 10m}"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(upstream.connections(), 2);
  EXPECT_TRUE(sidecar.WaitForSum("levee_upstream_connections", {}, 1));
}

// A sidecar whose listeners are at paths, which a test can choose.
class ReloadListeners : public testing::Test {
 protected:
  ReloadListeners() {
    std::string name = testing::TempDir() + "levee-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ReloadListeners() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return "unix:" + (folder_ / name).string(); }
  std::string Listener(const std::string& name, const std::string& more = "") const {
    return "{name: " + name + ", address: \"" + At(name) + "\"" + more + "}";
  }
  std::string Text(const std::string& listeners, const std::string& more = "") const {
    return "listeners: [" + listeners + "]\nmetrics: {address: \"127.0.0.1:0\"}\n" +
           "admin: {address: none}\nupstreams: [{name: shop, endpoints: [\"" + service_.address() +
           "\"]}]\nroutes: [{upstream: shop}]\n" + more;
  }

  fs::path folder_;
  FaultyService service_;
};

TEST_F(ReloadListeners, OneIsAddedAndOneRemovedWithoutDisturbingTheThird) {
  TempFile file(Text(Listener("stays") + ", " + Listener("goes")));
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  const ChannelPtr stays = NewChannel(At("stays"));
  const ChannelPtr goes = NewChannel(At("goes"));
  ByteCall on_stays(stays, "/test.Echo/Chat");
  ByteCall on_goes(goes, "/test.Echo/Chat");
  for (ByteCall* call : {&on_stays, &on_goes}) {
    ASSERT_TRUE(call->Start());
    ASSERT_TRUE(call->Write("one"));
    EXPECT_EQ(call->Read(), "one");
  }
  RewriteFile(file.path(), Text(Listener("comes") + ", " + Listener("stays")));
  EXPECT_TRUE(WaitForReloads(*sidecar, 1));
  EXPECT_EQ(sidecar->AwaitAddress("comes"), At("comes"));
  EXPECT_TRUE(CallUnary(NewChannel(At("comes"))).status.ok());
  // Nobody can come by the listener that is gone, but what came by it is finished.
  EXPECT_FALSE(fs::exists(folder_ / "goes"));
  for (ByteCall* call : {&on_stays, &on_goes}) {
    ASSERT_TRUE(call->Write("two"));
    EXPECT_EQ(call->Read(), "two");
    ASSERT_TRUE(call->HalfClose());
    EXPECT_TRUE(call->Finish().ok());
  }
  EXPECT_EQ(CallUnary(goes).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_TRUE(CallUnary(stays).status.ok());
}

TEST_F(ReloadListeners, OnesThatCannotBeOpenedLeaveAllAsItWas) {
  const TcpListener busy;
  TempFile file(Text(Listener("stays")));
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  RewriteFile(file.path(),
              Text(Listener("comes") + ", {name: busy, address: \"" + busy.address() + "\"}",
                   "policies: [{name: default, timeout: 1s}]\n"));
  EXPECT_TRUE(WaitForRefusals(*sidecar, 1));
  EXPECT_THAT(ErrorsWith(*sidecar, "listeners[1].address"),
              AllOf(HasSubstr(busy.address()), HasSubstr("listeners[1].address")));
  EXPECT_FALSE(fs::exists(folder_ / "comes"));
  EXPECT_TRUE(CallUnary(NewChannel(At("stays"))).status.ok());
  // A change that was refused because of the machine may succeed another time.
  RewriteFile(file.path(), Text(Listener("comes") + ", " + Listener("stays")));
  EXPECT_TRUE(WaitForReloads(*sidecar, 1));
  EXPECT_TRUE(CallUnary(NewChannel(At("comes"))).status.ok());
}

TEST_F(ReloadListeners, AnotherModeIsThatOfTheSameSocket) {
  TempFile file(Text(Listener("stays")));
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  const ChannelPtr channel = NewChannel(At("stays"));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  RewriteFile(file.path(), Text(Listener("stays", ", mode: '0600'")));
  EXPECT_TRUE(WaitForReloads(*sidecar, 1));
  EXPECT_EQ(fs::status(folder_ / "stays").permissions(), fs::perms(0600));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(sidecar->Sum("levee_downstream_connections"), 1);
}

TEST_F(ReloadListeners, ALoopIsSeenAtListenersThatCame) {
  FaultyService other;
  const auto text = [&](const std::string& listeners, const std::string& endpoint) {
    return "listeners: [" + listeners +
           "]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\nupstreams: [{name: "
           "shop, endpoints: [\"" +
           endpoint + "\"]}]\nroutes: [{upstream: shop}]\n";
  };
  TempFile file(text(Listener("a"), other.address()));
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  const ChannelPtr channel = NewChannel(At("a"));
  RewriteFile(file.path(), text(Listener("a") + ", " + Listener("b"), At("b")));
  EXPECT_TRUE(WaitForReloads(*sidecar, 1));
  EXPECT_EQ(CallUnary(channel).status.error_code(), StatusCode::UNIMPLEMENTED);
  // Somebody else listens there now.
  RewriteFile(file.path(), text(Listener("a"), At("b")));
  EXPECT_TRUE(WaitForReloads(*sidecar, 2));
  FaultyService there([](const SeenCall&) { return Answer(); }, {.at = At("b")});
  EXPECT_TRUE(CallUnary(channel, "x", [](grpc::ClientContext& context) {
                context.set_wait_for_ready(true);
              }).status.ok());
}

// As for Kubernetes, whose kubelet and Prometheus come from outside.
TEST(Reload, APortThatKeepsItsNumberMayGetAnotherHost) {
  FaultyService service;
  const ReservedPort egress, admin;
  const auto text = [&](const std::string& host, const std::string& more = "") {
    return "listeners: [{name: egress, address: \"" + host + std::to_string(egress.port()) + "\"}" +
           more + "]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: \"" + host +
           std::to_string(admin.port()) + "\"}\nupstreams: [{name: shop, endpoints: [\"" +
           service.address() + "\"]}]\nroutes: [{upstream: shop}]\n";
  };
  const auto expect_both = [&] {
    EXPECT_TRUE(CallUnary(NewChannel(egress.address())).status.ok());
    EXPECT_EQ(HttpGet(admin.address(), "/config").status, 200);
  };
  const TempFile file(text("127.0.0.1:"));
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  RewriteFile(file.path(), text("0.0.0.0:"));
  EXPECT_TRUE(WaitForReloads(*sidecar, 1));
  expect_both();
  // A listener that made room is back if the rest of the change fails.
  const TcpListener busy;
  RewriteFile(file.path(),
              text("127.0.0.1:", ", {name: busy, address: \"" + busy.address() + "\"}"));
  EXPECT_TRUE(WaitForRefusals(*sidecar, 1));
  expect_both();
  EXPECT_THAT(HttpGet(admin.address(), "/config").body, HasSubstr("0.0.0.0:"));
}

TEST(Reload, TheAdminPortsComeAndGo) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  sidecar.Rewrite({.endpoints = {service.address()},
                   .admin = "{address: \"127.0.0.1:0\", grpc_address: \"127.0.0.1:0\"}"});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  const std::string admin = sidecar.AwaitAddress("admin");
  sidecar.AwaitAddress("admin-grpc");
  EXPECT_THAT(HttpGet(admin, "/config").body, HasSubstr(service.address()));
  sidecar.Rewrite({.endpoints = {service.address()}});
  EXPECT_TRUE(WaitForReloads(sidecar, 2));
  // It ends when the new configuration is in effect already.
  EXPECT_TRUE(Eventually([&] { return !IsListening(admin); }));
}

TEST(Reload, ABusyAdminPortChangesNothing) {
  FaultyService service, other;
  const TcpListener busy;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  sidecar.Rewrite(
      {.endpoints = {other.address()}, .admin = "{address: \"" + busy.address() + "\"}"});
  EXPECT_TRUE(WaitForRefusals(sidecar, 1));
  EXPECT_THAT(ErrorsWith(sidecar, "admin.address"), HasSubstr("admin.address"));
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_EQ(service.calls(), 1);
}

TEST(Reload, TheAccessLogMoves) {
  FaultyService service;
  const TempFile first(""), second("");
  const auto log = [](const TempFile& file) {
    return "access_log: {path: \"" + file.path() + "\", when: [all]}\n";
  };
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = log(first)});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel, "x", nullptr, "/test.Echo/Unary").status.ok());
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {}, 1));
  sidecar.Rewrite({.endpoints = {service.address()}, .more = log(second)});
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  EXPECT_TRUE(CallUnary(channel, "x", nullptr, "/test.Echo/Collect").status.ok());
  sidecar.Rewrite({.endpoints = {service.address()}});
  EXPECT_TRUE(WaitForReloads(sidecar, 2));
  // A log that is not in use any more has written its rest.
  const auto text = [](const TempFile& file) {
    std::ifstream stream(file.path());
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_THAT(text(first), AllOf(HasSubstr("test.Echo/Unary"), Not(HasSubstr("Collect"))));
  EXPECT_THAT(text(second), AllOf(HasSubstr("test.Echo/Collect"), Not(HasSubstr("Unary"))));
}

TEST(Reload, ADescriptorSetThatChangesIsReadAgain) {
  RawUpstream upstream([](UpstreamPeer& peer) {
    peer.Handshake();
    while (const auto request = peer.NextRequest())
      peer.WriteReset(request->stream, H2Error::kInternal);
  });
  const TempFile methods(Descriptors(/*unary_is=*/false));
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .upstream = ", descriptor_set: \"" + methods.path() + "\""});
  const ChannelPtr channel = NewChannel(sidecar.address());
  CallUnary(channel);
  EXPECT_TRUE(sidecar.WaitForSum("levee_attempts_total", {}, 1));
  const TempFile next(Descriptors());
  fs::rename(next.path(), methods.path());
  EXPECT_TRUE(WaitForReloads(sidecar, 1));
  CallUnary(channel);  // Now it is known to be idempotent.
  EXPECT_TRUE(sidecar.WaitForSum("levee_attempts_total", {}, 1 + 3));
}

TEST(Reload, CallsGoOnThroughManyReloadsWithTwoWorkers) {
  FaultyService first, second;
  SidecarProcess sidecar({.endpoints = {first.address()}}, {"--workers", "2"});
  std::atomic<bool> done = false;
  std::thread reloading([&] {
    for (int i = 0; i < 20; ++i) {
      const FaultyService& service = i % 2 == 0 ? second : first;
      sidecar.Rewrite({.endpoints = {service.address()},
                       .retry = "{max_attempts: " + std::to_string(2 + i) + "}"});
      WaitForReloads(sidecar, i + 1);
    }
    done = true;
  });
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < 4; ++i) channels.push_back(NewChannel(sidecar.address()));
  int calls = 0;
  while (!done) {
    auto codes = RunLoad(channels, {.calls = 200});
    EXPECT_EQ(codes[StatusCode::OK], 200);
    calls += 200;
  }
  reloading.join();
  EXPECT_EQ(first.calls() + second.calls(), calls);
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {R"(code="OK")"}, calls));
  EXPECT_EQ(sidecar.Sum("levee_retries_total"), 0);
}

}  // namespace
}  // namespace levee
