// SPDX-License-Identifier: Apache-2.0
// The bounds on requests, answers and connections of both HTTP ports.
#include "admin/http_server.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "admin/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kLargeBody = 64 << 20;
constexpr int kPatienceMs = 20'000;  // only tests that fail get there

// Answers /large with more than any buffer on the way takes, everything else with what was asked.
class HttpServerTest : public testing::Test {
 protected:
  std::unique_ptr<HttpServer> Start(int threads) {
    auto server = HttpServer::Start({.address = {.host = "127.0.0.1"},
                                     .field = "admin.address",
                                     .subject = "the page is",
                                     .threads = threads,
                                     .headers = "X-Everywhere: yes\r\n",
                                     .answer = [this](const HttpRequest& request) {
                                       ++answered_;
                                       return Answer(request);
                                     }});
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
  const std::unique_ptr<HttpServer> server_ = Start(2);
};

TEST_F(HttpServerTest, HandsOverMethodPathAndQuery) {
  EXPECT_EQ(Ask(port(), "GET", "/a%20b?c=%20d").body, "GET /a b?c=%20d\n");
  EXPECT_EQ(Ask(port(), "POST", "/a/../b").body, "POST /b?\n");
}

TEST_F(HttpServerTest, EveryAnswerHasTheCommonHeaders) {
  const auto common =
      AllOf(HasSubstr("X-Everywhere: yes\r\n"), HasSubstr("Cache-Control: no-store\r\n"),
            HasSubstr("X-Content-Type-Options: nosniff\r\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(Ask(port(), "GET", "/").headers, common);
  EXPECT_THAT(Send("nonsense\r\n\r\n"), AllOf(HasSubstr(" 400 "), common));
}

TEST_F(HttpServerTest, ARequestForAnotherServerIsNotAnswered) {
  EXPECT_EQ(Send("GET http://elsewhere.test/a HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
  EXPECT_EQ(answered_, 0);
}

TEST_F(HttpServerTest, OnlyTheFirstOfPipelinedRequestsIsAnswered) {
  const std::string request =
      "GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
  const std::string answers = Send(request + request + "\x16\x03\x01 no HTTP \r\n\r\n");
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(answers.ends_with("\r\n\r\nGET /a?\n")) << answers;
}

TEST_F(HttpServerTest, ALongRequestLineIsRefused) {
  EXPECT_THAT(Send("GET /" + std::string(8192 - 5, 'x')), HasSubstr("HTTP/1.1 400 "));
  EXPECT_EQ(answered_, 0);
}

TEST_F(HttpServerTest, ManyHeadersAreRefused) {
  std::string request = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 64; ++i) request += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_THAT(Send(request + "\r\n"), HasSubstr("HTTP/1.1 431 "));
  EXPECT_EQ(answered_, 0);
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

TEST_F(HttpServerTest, AnImpossibleLengthIsRefused) {
  EXPECT_EQ(Ask(port(), "POST", "/a", "Content-Length: -1\r\n").status, 411);
  EXPECT_EQ(Ask(port(), "POST", "/a", "Content-Length: x\r\n").status, 411);
  EXPECT_EQ(answered_, 0);
}

// Sends a byte every 50 ms; true once the server had enough.
bool DripsUntilCutOff(HttpClient& client, char byte) {
  const Instant start = net::ReadClock();
  while (!client.Ended(50)) {
    if (net::ReadClock() - start > absl::Milliseconds(kPatienceMs)) return false;
    client.Send({&byte, 1});
  }
  return true;
}

TEST_F(HttpServerTest, AHeadThatDripsIsCutOff) {
  HttpClient slow(port());
  slow.Send("GET /a HTTP/1.1\r\nX: ");
  EXPECT_TRUE(DripsUntilCutOff(slow, 'x'));
  EXPECT_EQ(answered_, 0);
}

TEST_F(HttpServerTest, ABodyThatDripsIsCutOff) {
  HttpClient slow(port());
  slow.Send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  std::string answer;
  while (!answer.ends_with("POST /a?\n")) {
    const std::string more = slow.ReadSome(kPatienceMs);
    ASSERT_NE(more, "") << answer;
    answer += more;
  }
  EXPECT_TRUE(DripsUntilCutOff(slow, 'x'));
}

TEST_F(HttpServerTest, ASlowReaderDoesNotKeepItsThread) {
  const auto server = Start(1);
  HttpClient slow(server->port());
  slow.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(slow.ReadSome(kPatienceMs), "");
  HttpClient next(server->port());
  next.Send("GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string answer;
  const Instant start = net::ReadClock();
  // At 80 KB/s all of it would take a quarter of an hour.
  while (answer.empty() && net::ReadClock() - start < absl::Seconds(20)) {
    slow.ReadSome(0);
    answer = next.ReadSome(50);
  }
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_LT(net::ReadClock() - start, absl::Seconds(9));
}

TEST_F(HttpServerTest, AClientThatTakesNothingDoesNotKeepItsThread) {
  const auto server = Start(1);
  HttpClient silent(server->port());
  silent.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(Ask(server->port(), "GET", "/next").status, 200);
}

TEST_F(HttpServerTest, AnswersBesideIdleConnectionsBeforeAProbeGivesUp) {
  const auto server = Start(8);
  std::deque<HttpClient> idle;
  for (int i = 0; i < 15; ++i) idle.emplace_back(server->port());
  const Instant start = net::ReadClock();
  EXPECT_EQ(Ask(server->port(), "GET", "/a").status, 200);
  // Half a second, until the first of them are cut off; `levee probe` waits for two.
  EXPECT_LT(net::ReadClock() - start, absl::Seconds(2));
}

TEST_F(HttpServerTest, ConnectionsThatWereGivenUpTakeNoTime) {
  // More than threads and queue hold.
  for (int i = 0; i < 100; ++i) HttpClient given_up(port());
  EXPECT_EQ(Ask(port(), "GET", "/a").status, 200);
}

TEST_F(HttpServerTest, StopsWhileClientsDawdle) {
  const auto server = Start(8);
  HttpClient silent(server->port());
  HttpClient reader(server->port());
  reader.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(reader.ReadSome(kPatienceMs), "");
  EXPECT_TRUE(HttpClient(server->port()).Ended(kPatienceMs));  // By then no more fits on the way.
  const Instant start = net::ReadClock();
  server->Stop();
  // At once. Had it waited, it would be until an answer that nobody takes is given up, five
  // seconds.
  EXPECT_LT(net::ReadClock() - start, absl::Seconds(4));
}

TEST_F(HttpServerTest, StopsWhileClientsSendSlowly) {
  const auto server = Start(8);
  HttpClient head(server->port());
  head.Send("GET /a HTTP/1.1\r\nX: ");
  HttpClient body(server->port());
  body.Send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_NE(body.ReadSome(kPatienceMs), "");
  std::atomic<bool> stopped = false;
  std::thread dripping([&] {
    while (!stopped) {
      head.Send("x");
      body.Send("x");
      body.Ended(20);
    }
  });
  const Instant start = net::ReadClock();
  server->Stop();
  EXPECT_LT(net::ReadClock() - start, absl::Seconds(4));
  stopped = true;
  dripping.join();
}

TEST_F(HttpServerTest, ALineThatStallsForAMomentIsNotCutOff) {
  HttpClient reader(port());
  reader.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(reader.ReadSome(kPatienceMs), "");
  // One after the other is cut off by the other thread when it has been silent for long.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(HttpClient(port()).Ended(kPatienceMs));
  EXPECT_GT(reader.ReadAll().size(), kLargeBody - (1 << 20));
}

}  // namespace
}  // namespace levee
