// SPDX-License-Identifier: Apache-2.0
// The file that `levee snapshot` writes of a real sidecar, and what is not in it.
#include <google/protobuf/util/json_util.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/child.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {
namespace {

using admin::v1::Snapshot;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr char kAdmin[] = "{address: \"127.0.0.1:0\"}";

Snapshot FromJson(const std::string& json) {
  Snapshot snapshot;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &snapshot).ok()) << json;
  return snapshot;
}

// Takes snapshots until the state has counted a call that was retried or refused.
std::string SnapshotWithACall(const std::string& admin) {
  Ended command;
  Eventually([&] {
    command = RunToEnd(LEVEE_BINARY, {"snapshot", "--address", admin});
    EXPECT_EQ(command.exit, 0) << command.errors;
    return FromJson(command.output).state().calls_size() > 0;
  });
  return command.output;
}

TEST(SnapshotOfASidecar, HasConfigurationHistoryCallsBudgetsAndEndpoints) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kAdmin});
  const std::string admin = sidecar.AwaitAddress("admin");
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());  // Retried once.
  const Snapshot snapshot = FromJson(SnapshotWithACall(admin));
  EXPECT_FALSE(snapshot.version().empty());
  EXPECT_THAT(snapshot.configuration().text(), HasSubstr(service.address()));
  EXPECT_THAT(snapshot.configuration().text(), HasSubstr("# default"));
  const auto& state = snapshot.state();
  EXPECT_EQ(snapshot.configuration().sha256(), state.configuration().sha256());
  EXPECT_FALSE(state.sidecar().version().empty());
  ASSERT_EQ(state.upstreams_size(), 1);
  EXPECT_GT(state.upstreams(0).samples_size(), 0);
  EXPECT_EQ(state.upstreams(0).budget().ratio(), 0.1);
  ASSERT_EQ(state.upstreams(0).endpoints_size(), 1);
  EXPECT_EQ(state.upstreams(0).endpoints(0).address(), service.address());
  ASSERT_EQ(state.calls_size(), 1);
  EXPECT_EQ(state.calls(0).attempts_size(), 2);
  EXPECT_THAT(state.calls(0).why(), HasSubstr("retried once after UNAVAILABLE"));
}

TEST(SnapshotOfASidecar, HasNoSecrets) {
  const Authority authority;
  const PemPair own = authority.Issue({.names = {"caller"}});
  const TempFile certificate(own.certificate), key(own.key);
  FaultyService service([](const SeenCall&) {
    return Answer{.status = {grpc::StatusCode::UNAVAILABLE, "account-of-alice"},
                  .trailers = {{"x-token", "token-in-trailer"}}};
  });
  const TempFile more(
      "upstreams: [{name: bank, endpoints: ['dns:bank.test:1'], tls: {certificate: " +
      certificate.path() + ", key: " + key.path() + "}}]\n");
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kAdmin},
                         {"--config", more.path()});
  const std::string admin = sidecar.AwaitAddress("admin");
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Unary");
  call.context().AddMetadata("authorization", "Bearer token-in-head");
  ASSERT_TRUE(call.Start());
  call.Write("word-of-the-body");
  call.HalfClose();
  EXPECT_FALSE(call.Finish().ok());
  const std::string json = SnapshotWithACall(admin);
  EXPECT_THAT(json, HasSubstr(key.path()));
  for (const std::string& secret :
       {std::string("PRIVATE KEY"), own.key.substr(60, 40), std::string("BEGIN CERTIFICATE"),
        std::string("account-of-alice"), std::string("token-in-"),
        std::string("word-of-the-body")}) {
    EXPECT_THAT(json, Not(HasSubstr(secret)));
  }
}

TEST(SnapshotOfASidecar, GoesToAFileOrSaysWhyNot) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kAdmin});
  const std::string admin = sidecar.AwaitAddress("admin");
  const TempFile file("");
  const Ended written = RunToEnd(LEVEE_BINARY, {"snapshot", "--address", admin, "-o", file.path()});
  EXPECT_EQ(written.exit, 0) << written.errors;
  EXPECT_EQ(written.output, "");
  std::stringstream text;
  text << std::ifstream(file.path()).rdbuf();
  EXPECT_EQ(FromJson(text.str()).state().upstreams_size(), 1);
  const std::string folder = std::filesystem::temp_directory_path();
  const Ended refused = RunToEnd(LEVEE_BINARY, {"snapshot", "--address", admin, "-o", folder});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.errors, HasSubstr(folder + " cannot be written"));
  const Ended silent =
      RunToEnd(LEVEE_BINARY, {"snapshot", "--address", sidecar.address("metrics")});
  EXPECT_EQ(silent.exit, 1);
  EXPECT_THAT(silent.errors, HasSubstr("HTTP status 404"));
}

TEST(PageOfASnapshot, IsThatOfTheSidecarThoughItHasGone) {
  FaultyService service(FailFirst(1));
  std::string json;
  {
    SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kAdmin});
    const std::string admin = sidecar.AwaitAddress("admin");
    EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());  // Retried once.
    json = SnapshotWithACall(admin);
  }
  const TempFile file(json);
  Child page(LEVEE_BINARY, {"page", file.path()});
  const std::string line = page.ReadLine().value_or(page.Errors());
  ASSERT_THAT(line, MatchesRegex(file.path() + ": http://127.0.0.1:[0-9]+/ \\(Ctrl-C ends it\\)"));
  const size_t host = line.find("//") + 2;
  const std::string address = line.substr(host, line.find('/', host) - host);
  EXPECT_THAT(HttpGet(address, "/").body, HasSubstr("<!doctype html>"));
  EXPECT_THAT(HttpGet(address, "/config").body, HasSubstr(service.address()));
  EXPECT_EQ(HttpGet(address, "/config?format=json").status, 404);
  EXPECT_EQ(HttpGet(address, "/drain").status, 404);
  const std::string state = HttpGet(address, "/api/v1/state").body;
  EXPECT_THAT(state, HasSubstr("\"snapshot\":true"));
  EXPECT_THAT(state, HasSubstr("retried once after UNAVAILABLE"));
  page.Signal(SIGINT);
  EXPECT_EQ(page.WaitForExit(), 0);
}

TEST(PageOfASnapshot, IsNotMadeOfAnotherFile) {
  const TempFile file("{\"next\": 1}");
  const Ended page = RunToEnd(LEVEE_BINARY, {"page", file.path()});
  EXPECT_EQ(page.exit, 1);
  EXPECT_EQ(page.errors,
            "levee page: " + file.path() + " is not a snapshot; levee snapshot writes one\n");
}

}  // namespace
}  // namespace levee
