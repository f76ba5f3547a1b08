// SPDX-License-Identifier: Apache-2.0
// The bounds on answers and connections of both HTTP ports.
#include "admin/http_server.h"

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "admin/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kLargeBody = 64 << 20;

// No client is cut off for being slow, so a server that waited for one would do so for as long.
constexpr absl::Duration kNever = absl::Hours(1);

// Answers /large with more than any buffer on the way takes, everything else with what was asked.
class HttpServerTest : public testing::Test {
 protected:
  std::unique_ptr<HttpServer> Start(HttpServer::Options options = {}) {
    options.address = {.host = "127.0.0.1"};
    options.field = "admin.address";
    options.headers = "X-Everywhere: yes\r\n";
    options.timeouts = {.head = kNever, .answer = kNever, .end = kNever};
    options.answer = [this](const HttpRequest& request) {
      ++answered_;
      on_answer_();
      return Answer(request);
    };
    auto server = HttpServer::Start(std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  static HttpResponse Answer(const HttpRequest& request) {
    if (request.path == "/large") return {.body = std::string(kLargeBody, 'x')};
    return {.body = request.method + " " + request.path + "?" + request.query + "\n"};
  }

  uint16_t port() const { return server_->port(); }
  std::string Send(std::string_view bytes) {
    HttpClient client(port());
    client.Send(bytes);
    return client.ReadAll();
  }

  std::atomic<int> answered_ = 0;
  std::function<void()> on_answer_ = [] {};  // set before the first request
  const std::unique_ptr<HttpServer> server_ = Start();
};

TEST_F(HttpServerTest, HandsOverMethodPathAndQuery) {
  EXPECT_EQ(Ask(port(), "GET", "/a%20b?c=%20d").body, "GET /a b?c=%20d\n");
  EXPECT_EQ(Ask(port(), "POST", "/a/../b").body, "POST /a/../b?\n");
}

TEST_F(HttpServerTest, EveryAnswerHasTheCommonHeaders) {
  const auto common =
      AllOf(HasSubstr("X-Everywhere: yes\r\n"), HasSubstr("Cache-Control: no-store\r\n"),
            HasSubstr("X-Content-Type-Options: nosniff\r\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(Ask(port(), "GET", "/").headers, common);
  EXPECT_THAT(Send("nonsense\r\n\r\n"), AllOf(HasSubstr(" 400 "), common));
}

TEST_F(HttpServerTest, OnlyTheFirstOfPipelinedRequestsIsAnswered) {
  const std::string request =
      "GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
  const std::string answers = Send(request + request + "\x16\x03\x01 no HTTP \r\n\r\n");
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(answers.ends_with("\r\n\r\nGET /a?\n")) << answers;
}

TEST_F(HttpServerTest, ASmallBodyIsIgnored) {
  EXPECT_EQ(Ask(port(), "POST", "/a", "Content-Length: 4\r\n\r\nbody").body, "POST /a?\n");
}

TEST_F(HttpServerTest, ALargeBodyIsRefused) {
  const std::string body(2000, 'x');
  EXPECT_EQ(Ask(port(), "POST", "/a", "Content-Length: 2000\r\n\r\n" + body).status, 413);
  EXPECT_EQ(Ask(port(), "POST", "/a", "Content-Length: 99999999999\r\n").status, 413);
  EXPECT_EQ(Ask(port(), "POST", "/a", "Transfer-Encoding: chunked\r\n").status, 413);
  EXPECT_EQ(answered_, 0);
}

// Asks for the large answer and does not take it.
class DeafClient {
 public:
  explicit DeafClient(uint16_t port) : client_(port) {
    client_.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(client_.ReadSome(), "");
  }
  HttpClient& operator*() { return client_; }
  HttpClient* operator->() { return &client_; }

 private:
  HttpClient client_;
};

TEST_F(HttpServerTest, OthersAreAnsweredBesideAClientThatSendsItsRequestSlowly) {
  HttpClient slow(port());
  slow.Send("GET /a HTTP/1.1\r\n");
  EXPECT_EQ(Ask(port(), "GET", "/next").status, 200);
  slow.Send("Host: localhost\r\n\r\n");
  EXPECT_THAT(slow.ReadAll(), HasSubstr(" 200 "));
}

TEST_F(HttpServerTest, OthersAreAnsweredBesideAClientThatTakesItsAnswerSlowly) {
  DeafClient slow(port());
  EXPECT_EQ(Ask(port(), "GET", "/next").status, 200);
  EXPECT_NE(slow->ReadSome(), "");
}

TEST_F(HttpServerTest, TheOldestOfManyUntakenAnswersMakesRoom) {
  DeafClient oldest(port()), newest(port());
  EXPECT_LT(oldest->ReadAll().size(), kLargeBody);
  EXPECT_GT(newest->ReadAll().size(), kLargeBody - (1 << 20));
}

TEST_F(HttpServerTest, H5_TheOldestOfManyConnectionsMakesRoom) {
  std::deque<HttpClient> idle;
  for (size_t i = 0; i < HttpServer::kMaxConnections; ++i) idle.emplace_back(port());
  EXPECT_EQ(Ask(port(), "GET", "/a").status, 200);
  EXPECT_EQ(idle.front().ReadAll(), "");
  idle.back().Send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(idle.back().ReadAll(), HasSubstr(" 200 "));
}

TEST_F(HttpServerTest, H5_AnUrgentAnswerDoesNotWaitForOneThatTakesTime) {
  std::promise<void> go_on;
  HttpServer::Options options;
  options.at_once = [](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path != "/urgent") return std::nullopt;
    return HttpResponse{.body = "at once\n"};
  };
  const auto server = Start(std::move(options));
  on_answer_ = [&] { go_on.get_future().wait(); };
  HttpClient waits(server->port());
  waits.Send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(Ask(server->port(), "GET", "/urgent").body, "at once\n");
  go_on.set_value();
  EXPECT_THAT(waits.ReadAll(), HasSubstr("GET /a?"));
}

TEST_F(HttpServerTest, WhoLeavesBeforeItsAnswerIsMadeIsForgotten) {
  for (int i = 0; i < 100; ++i) {
    HttpClient leaves(port());
    leaves.Send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(Ask(port(), "GET", "/b").status, 200);
}

TEST_F(HttpServerTest, StopsWhileClientsDawdle) {
  const auto server = Start();
  HttpClient silent(server->port());
  HttpClient head(server->port());
  head.Send("GET /a HTTP/1.1\r\nX: ");
  HttpClient body(server->port());
  body.Send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_NE(body.ReadSome(), "");
  DeafClient deaf(server->port());
  server->Stop();
}

TEST_F(HttpServerTest, ServesOverIpv6) {
  HttpServer::Options options = {.address = {.host = "::1"},
                                 .answer = [](const HttpRequest&) { return HttpResponse{}; }};
  const auto server = HttpServer::Start(std::move(options));
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ((*server)->address().ToString().substr(0, 6), "[::1]:");
}

}  // namespace
}  // namespace levee
