// SPDX-License-Identifier: Apache-2.0
// The admin port: who may ask what, and what it answers.
#include "admin/admin_server.h"

#include <memory>
#include <string>

#include "admin/fake_sidecar.h"
#include "admin/http_client.h"
#include "admin/page.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class AdminServerTest : public testing::Test {
 protected:
  AdminServerTest() {
    auto server = Start({.host = "127.0.0.1"});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  absl::StatusOr<std::unique_ptr<AdminServer>> Start(const ListenAddress& address) {
    return AdminServer::Start(address, sidecar_, keeper_);
  }
  void LookUntil(int last) {
    for (int second = 0; second <= last; ++second) keeper_.Tick(sidecar_.At(second));
  }
  HttpAnswer Get(std::string_view path, std::string_view more = {}) {
    return Ask(server_->port(), "GET", path, more);
  }
  HttpAnswer GetFrom(std::string_view host) {
    return Ask(server_->port(), "GET", "/config", {}, host);
  }
  HttpAnswer Drain(std::string_view more = {}, std::string_view host = "localhost") {
    return Ask(server_->port(), "POST", "/drain", more, host);
  }
  admin::v1::State State(std::string_view query) {
    admin::v1::State state;
    const HttpAnswer answer = Get("/api/v1/state" + std::string(query));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(answer.body, &state).ok());
    return state;
  }

  FakeSidecar sidecar_;
  StateKeeper keeper_{sidecar_, "instance-1"};
  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminServerTest, ServesEveryFileOfThePage) {
  EXPECT_EQ(Get("/").status, 200);
  for (const PageFile& file : PageFiles()) {
    const HttpAnswer answer = Get(file.path);
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_EQ(answer.body, file.bytes) << file.path;
    EXPECT_THAT(answer.headers, HasSubstr("Content-Type: " + std::string(file.type) + "\r\n"));
  }
}

TEST_F(AdminServerTest, EveryAnswerTellsBrowsersToTrustNothingElse) {
  for (const HttpAnswer& answer : {Get("/"), Get("/config"), Get("/nothing"), GetFrom("a.test")}) {
    EXPECT_THAT(
        answer.headers,
        AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; "
                        "style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri "
                        "'none'; form-action 'none'; frame-ancestors 'none'\r\n"),
              HasSubstr("X-Content-Type-Options: nosniff\r\n"),
              HasSubstr("Referrer-Policy: no-referrer\r\n"),
              HasSubstr("Cache-Control: no-store\r\n"),
              HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"),
              HasSubstr("Cross-Origin-Opener-Policy: same-origin\r\n"),
              Not(HasSubstr("Access-Control-Allow"))));
  }
}

TEST_F(AdminServerTest, OtherPathsAreNotFound) {
  for (const char* path : {"/metrics", "/healthz", "/config/", "/api/v1", "/api/v1/state/"}) {
    const HttpAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body, "not found: /, /config, /api/v1/state, /drain\n") << path;
  }
}

TEST_F(AdminServerTest, OtherMethodsAreNotAllowed) {
  for (const char* path : {"/", "/config", "/api/v1/state"}) {
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
      const HttpAnswer answer = Ask(server_->port(), method, path, "Content-Length: 0\r\n");
      EXPECT_EQ(answer.status, 405) << method << " " << path;
      EXPECT_THAT(answer.headers, HasSubstr("Allow: GET, HEAD\r\n")) << method << " " << path;
    }
  }
}

TEST_F(AdminServerTest, ADrainIsNothingThatALinkCouldAskFor) {
  for (const char* method : {"GET", "HEAD", "PUT", "OPTIONS"}) {
    const HttpAnswer answer = Ask(server_->port(), method, "/drain", "Content-Length: 0\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.headers, HasSubstr("Allow: POST\r\n")) << method;
  }
  EXPECT_FALSE(sidecar_.draining);
}

TEST_F(AdminServerTest, HeadHasTheHeadersOfGetAndNoBody) {
  for (const char* path : {"/", "/config", "/api/v1/state"}) {
    const HttpAnswer head = Ask(server_->port(), "HEAD", path);
    EXPECT_EQ(head.headers, Get(path).headers);
    EXPECT_EQ(head.body, "");
  }
}

TEST_F(AdminServerTest, AddressesAndLocalhostAreItsNames) {
  const std::string port = ":" + std::to_string(server_->port());
  for (const std::string& host :
       {"localhost" + port, std::string("LocalHost"), "127.0.0.1" + port, std::string("127.0.0.1"),
        std::string("localhost:18080"), "10.0.0.7" + port, "[::1]" + port, std::string("[::1]")}) {
    EXPECT_EQ(GetFrom(host).status, 200) << host;
  }
}

TEST_F(AdminServerTest, OtherNamesAreRefused) {
  const std::string port = ":" + std::to_string(server_->port());
  for (const std::string& host :
       {"attacker.test" + port, std::string("attacker.test"), "localhost.attacker.test" + port,
        "127.0.0.1.attacker.test" + port, std::string("[attacker.test]"), std::string("[::1"),
        std::string(":80"), std::string("localhost:80:80"), std::string("127.1")}) {
    const HttpAnswer answer = GetFrom(host);
    EXPECT_EQ(answer.status, 421) << host;
    EXPECT_THAT(answer.headers, StartsWith("HTTP/1.1 421 Misdirected Request\r\n"));
    EXPECT_EQ(answer.body, "not served under this name; use localhost or the IP address\n");
  }
}

TEST_F(AdminServerTest, OneHostIsNeeded) {
  EXPECT_EQ(GetFrom("").status, 400);
  EXPECT_EQ(Get("/config", "Host: attacker.test\r\n").status, 400);
}

TEST_F(AdminServerTest, ShowsTheConfigurationAsYaml) {
  const HttpAnswer answer = Get("/config");
  const auto snapshot = sidecar_.status().snapshot;
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(answer.headers, HasSubstr("ETag: W/\"" + snapshot->sha256 + "\"\r\n"));
  EXPECT_EQ(answer.body, "# sha256 " + snapshot->sha256 + "\n" + snapshot->effective.yaml);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("  - name: cart\n"), HasSubstr("# default\n")));
  EXPECT_EQ(Get("/config?format=yaml", "Accept: application/json\r\n").body, answer.body);
}

TEST_F(AdminServerTest, ShowsTheConfigurationAsJson) {
  const HttpAnswer answer = Get("/config?format=json");
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer.body, StartsWith("{\"sha256\": \"" + sidecar_.status().snapshot->sha256 +
                                      "\", \"config\":"));
  EXPECT_THAT(answer.body, HasSubstr("\"defaults\":"));
  EXPECT_EQ(Get("/config", "Accept: application/json\r\n").body, answer.body);
}

TEST_F(AdminServerTest, WhatItCannotFormatIsRefused) {
  EXPECT_EQ(Get("/config?format=xml").status, 400);
  EXPECT_EQ(Get("/config?format=xml").body, "format is yaml or json\n");
  EXPECT_EQ(Get("/config?form=json").body, "unknown parameter \"form\"; there is format\n");
}

TEST_F(AdminServerTest, TheStateIsJsonInWhichNothingIsLeftOut) {
  LookUntil(1);
  const HttpAnswer answer = Get("/api/v1/state");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer.body,
              AllOf(HasSubstr("\"next\":1,"), HasSubstr("\"phase\":\"PHASE_SERVING\""),
                    HasSubstr("\"downstream_connections\":0"), HasSubstr("\"limit_hits\":{}"),
                    HasSubstr("\"calls\":[]"), HasSubstr("\"severity\":\"SEVERITY_CALM\"")));
}

TEST_F(AdminServerTest, TheStateSinceASecondIsWhatHasBeenAdded) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Remember(0.1, 0.5);
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(2));
  sidecar_.Remember(2.1, 2.5);
  keeper_.Tick(sidecar_.At(3));
  EXPECT_EQ(State("").upstreams(0).samples_size(), 3);
  EXPECT_EQ(State("?since=0").calls_size(), 2);
  const admin::v1::State later = State("?since=2");
  EXPECT_EQ(later.next(), 3);
  ASSERT_EQ(later.upstreams(0).samples_size(), 1);
  EXPECT_EQ(later.upstreams(0).samples(0).number(), 3);
  ASSERT_EQ(later.calls_size(), 1);
  EXPECT_EQ(later.calls(0).number(), 3);
  EXPECT_EQ(State("?since=3").calls_size(), 0);
}

TEST_F(AdminServerTest, TheStateCanBeThatOfOneUpstream) {
  LookUntil(1);
  EXPECT_EQ(State("?upstream=c%61rt&since=1").upstreams_size(), 1);
  const HttpAnswer answer = Get("/api/v1/state?upstream=card");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "there is no upstream \"card\"\n");
}

TEST_F(AdminServerTest, SinceIsANumberOfASecond) {
  for (const char* since :
       {"", "-1", "+1", "%201", "1.0", "1e3", "0x1", "4294967296", "1%00", "x"}) {
    const HttpAnswer answer = Get("/api/v1/state?since=" + std::string(since));
    EXPECT_EQ(answer.status, 400) << since;
    EXPECT_EQ(answer.body, "since is a number of a second: 0 to 4294967295\n") << since;
  }
  EXPECT_EQ(Get("/api/v1/state?since=4294967295").status, 200);
}

TEST_F(AdminServerTest, ParametersComeOnceAndAreKnown) {
  EXPECT_EQ(Get("/api/v1/state?since=1&since=2").body, "parameter since is given twice\n");
  EXPECT_EQ(Get("/api/v1/state?from=1").body,
            "unknown parameter \"from\"; there is since, upstream, details_of\n");
}

TEST_F(AdminServerTest, APostDrainsOnce) {
  const HttpAnswer first = Drain();
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(first.body, "{\"began\":true}\n");
  EXPECT_TRUE(sidecar_.draining);
  const HttpAnswer second = Drain("Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, "{\"began\":false}\n");
}

TEST_F(AdminServerTest, ADrainMayGoOnUntilTheSidecarIsToldToStop) {
  EXPECT_EQ(Ask(server_->port(), "POST", "/drain?until=noon").status, 400);
  EXPECT_FALSE(sidecar_.draining);
  EXPECT_EQ(Ask(server_->port(), "POST", "/drain?until=signal").status, 202);
  EXPECT_TRUE(sidecar_.drains_until_signal);
}

TEST_F(AdminServerTest, OtherPagesInABrowserDoNotDrain) {
  for (const char* header :
       {"Origin: http://attacker.test\r\n", "Origin: null\r\n", "Origin: http://localhost:1\r\n",
        "Origin: https://localhost\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n", "Origin: http://localhost\r\nOrigin: http://a.test\r\n",
        "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"}) {
    EXPECT_EQ(Drain(header).status, 403) << header;
  }
  EXPECT_FALSE(sidecar_.draining);
}

TEST_F(AdminServerTest, ItsOwnPageMayDrain) {
  EXPECT_EQ(
      Drain("Origin: http://127.0.0.1:9462\r\nSec-Fetch-Site: same-origin\r\n", "127.0.0.1:9462")
          .status,
      202);
  EXPECT_EQ(Drain("Sec-Fetch-Site: none\r\n").status, 200);
}

TEST_F(AdminServerTest, ADrainUnderAForeignNameIsRefused) {
  EXPECT_EQ(Drain("Origin: http://attacker.test\r\n", "attacker.test").status, 421);
  EXPECT_FALSE(sidecar_.draining);
}

TEST_F(AdminServerTest, ABusyPortIsAnErrorThatNamesTheFieldToChange) {
  const std::string port = std::to_string(server_->port());
  EXPECT_EQ(Start({.host = "127.0.0.1", .port = server_->port()}).status().message(),
            "admin.address: cannot listen on 127.0.0.1:" + port +
                ": Address already in use; choose another port or free this one");
}

TEST_F(AdminServerTest, AnotherOneMayStartBeforeItStops) {
  auto second = Start({.host = "127.0.0.1"});
  ASSERT_TRUE(second.ok()) << second.status();
  server_->Stop();
  EXPECT_EQ(Ask((*second)->port(), "GET", "/config").status, 200);
}

}  // namespace
}  // namespace levee
