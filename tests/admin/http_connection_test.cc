// SPDX-License-Identifier: Apache-2.0
// What a client that is too slow gets, on virtual time.
#include "admin/http_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "virtual/jumping_time.h"

namespace levee {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(1);

// A connection on a loop, and the client at its other end, which sends a byte now and then.
class HttpConnectionTest : public testing::Test, private net::TurnHandler, private Timer {
 protected:
  HttpConnectionTest() {
    loop_.SetTurnHandler(this);
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    client_ = ends[1];
    connection_.emplace(loop_, wheel_, net::ByteStream(ends[0]), /*number=*/1, events_, timeouts_);
  }
  ~HttpConnectionTest() override {
    connection_.reset();
    close(client_);
  }

  void Send(std::string_view bytes) const {
    send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  // Sends `byte` every 50 ms from now on.
  void Drip(char byte) {
    drip_ = byte;
    wheel_.Arm(*this, loop_.now() + kPause);
  }

  // Runs until the connection has ended. Returns how long that took.
  absl::Duration UntilEnd() {
    const Instant begin = loop_.now();
    loop_.Run();
    EXPECT_FALSE(connection_.has_value());
    return ended_ - begin;
  }

  // What the client has been sent.
  std::string Received() const {
    std::string all;
    std::array<char, 65536> buffer;
    for (ssize_t size; (size = recv(client_, buffer.data(), buffer.size(), 0)) > 0;) {
      all.append(buffer.data(), static_cast<size_t>(size));
    }
    return all;
  }

  const HttpConnection::Timeouts timeouts_;  // those that servers have
  std::string answer_ = "the answer";
  int requests_ = 0;

 private:
  static constexpr absl::Duration kPause = absl::Milliseconds(50);

  Instant OnTurnEnd(Instant now) override {
    wheel_.Advance(now);
    return wheel_.NextWakeup();
  }
  void OnTimer(Instant now) override {
    Send({&drip_, 1});
    wheel_.Arm(*this, now + kPause);
  }

  JumpingTime time_;  // It begins before the loop.
  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  const HttpConnection::Events events_ = {.on_request =
                                              [this](HttpConnection& asked) {
                                                ++requests_;
                                                asked.Send(answer_);
                                              },
                                          .on_end =
                                              [this](HttpConnection&) {
                                                ended_ = loop_.now();
                                                loop_.Stop();
                                                connection_.reset();
                                              }};
  std::optional<HttpConnection> connection_;
  int client_ = -1;
  char drip_ = 0;
  Instant ended_;
};

constexpr char kRequest[] = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";

TEST_F(HttpConnectionTest, WhoSaysNothingIsCutOffAfterTwoSeconds) {
  const absl::Duration took = UntilEnd();
  EXPECT_GE(took, timeouts_.head);
  EXPECT_LE(took, timeouts_.head + kTick);
}

TEST_F(HttpConnectionTest, AHeadThatDripsIsCutOffAfterTwoSeconds) {
  Send("GET /a HTTP/1.1\r\nX: ");
  Drip('x');
  const absl::Duration took = UntilEnd();
  EXPECT_GE(took, timeouts_.head);
  EXPECT_LE(took, timeouts_.head + kTick);
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpConnectionTest, ABodyThatDripsIsCutOffHalfASecondAfterTheAnswer) {
  Send(kRequest);
  Drip('x');
  const absl::Duration took = UntilEnd();
  EXPECT_GE(took, timeouts_.end);
  EXPECT_LE(took, timeouts_.end + kTick);
  EXPECT_EQ(Received(), answer_);
}

TEST_F(HttpConnectionTest, AnAnswerThatIsNotTakenIsGivenUpAfterFiveSeconds) {
  answer_.assign(64 << 20, 'x');
  Send(kRequest);
  const absl::Duration took = UntilEnd();
  EXPECT_GE(took, timeouts_.answer);
  EXPECT_LE(took, timeouts_.answer + kTick);
  EXPECT_LT(Received().size(), answer_.size());
}

}  // namespace
}  // namespace levee
