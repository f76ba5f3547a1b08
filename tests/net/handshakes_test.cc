// SPDX-License-Identifier: Apache-2.0
// Handshakes in their own thread, over real connections.
#include "net/handshakes.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/timer_wheel.h"
#include "certificates/authority.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "tls/session.h"

namespace levee::net {
namespace {

// How a handshake ended, in the order of the ends.
class Ends {
 public:
  struct End {
    int number;
    bool refused;
    ByteStream stream;
  };

  void Add(End end) {
    const std::lock_guard lock(mutex_);
    ends_.push_back(std::move(end));
    added_.notify_one();
  }

  End Next() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return !ends_.empty(); });
    End end = std::move(ends_.front());
    ends_.pop_front();
    return end;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<End> ends_;
};

class HandshakesTest : public ::testing::Test {
 protected:
  void Serve(const Handshakes::Bounds& bounds) { handshakes_.emplace(bounds); }

  // Connects the caller of that number, whose handshake begins on the server's side.
  void Connect(int number) {
    callers_.push_back(ByteStream::Dial(listener_->address()));
    while (!accepted_.has_value()) loop_.Run();
    handshakes_->Begin(*std::exchange(accepted_, std::nullopt), server_context_,
                       [this, number](ByteStream stream, bool refused) {
                         ends_.Add({number, refused, std::move(stream)});
                       });
  }

  // The latest caller does its part until both are done. Returns how it ended for the server.
  Ends::End ShakeHands() {
    ByteStream& caller = callers_.back();
    caller.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
    while (caller.Continue() == ByteStream::State::kConnecting) continue;
    return ends_.Next();
  }

  EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  Authority authority_;
  std::shared_ptr<const tls::Context> client_context_ = *tls::Context::Make(
      tls::Role::kClient, {.trusted = *tls::TrustStore::Parse(authority_.pem())});
  const PemPair pair_ = authority_.Issue();
  std::shared_ptr<const tls::Context> server_context_ = *tls::Context::Make(
      tls::Role::kServer, {.credentials = tls::Credentials{pair_.certificate, pair_.key}});
  std::optional<ByteStream> accepted_;
  std::unique_ptr<Listener> listener_ =
      *Listener::Open(loop_, wheel_, *Address::FromIp("127.0.0.1", 0), [this](ByteStream stream) {
        accepted_ = std::move(stream);
        loop_.Stop();
      });
  std::vector<ByteStream> callers_;
  Ends ends_;
  std::optional<Handshakes> handshakes_;
};

TEST_F(HandshakesTest, T4_AConnectionComesBackWithItsHandshakeDone) {
  Serve({.most = 1});
  for (int i = 0; i < 3; ++i) {
    Connect(i);
    const Ends::End end = ShakeHands();
    EXPECT_EQ(end.number, i);
    EXPECT_FALSE(end.refused);
    EXPECT_EQ(end.stream.state(), ByteStream::State::kReady);
  }
}

TEST_F(HandshakesTest, T4_ACallerThatSaysNothingIsGivenUp) {
  Serve({.most = 1, .timeout = absl::Milliseconds(1)});
  Connect(0);
  const Ends::End end = ends_.Next();
  EXPECT_FALSE(end.refused);
  EXPECT_EQ(end.stream.state(), ByteStream::State::kFailed);
  EXPECT_EQ(end.stream.tls()->failure().result, tls::Result::kTimeout);
}

TEST_F(HandshakesTest, T4_BeyondTheirBoundANewConnectionIsRefusedWhileNoneIsSlow) {
  Serve({.most = 2, .timeout_if_crowded = absl::Hours(1)});
  Connect(0);
  Connect(1);
  Connect(2);
  const Ends::End end = ends_.Next();
  EXPECT_EQ(end.number, 2);
  EXPECT_TRUE(end.refused);
}

TEST_F(HandshakesTest, T4_BeyondTheirBoundTheSlowestMakesRoom) {
  Serve({.most = 2, .timeout_if_crowded = absl::ZeroDuration()});
  Connect(0);
  Connect(1);
  Connect(2);
  const Ends::End gone = ends_.Next();
  EXPECT_EQ(gone.number, 0);
  EXPECT_FALSE(gone.refused);
  EXPECT_EQ(gone.stream.tls()->failure().result, tls::Result::kTimeout);
  EXPECT_EQ(ShakeHands().number, 2);
}

TEST_F(HandshakesTest, T4_TheBoundCanBeRaised) {
  Serve({.most = 1, .timeout_if_crowded = absl::Hours(1)});
  Connect(0);
  handshakes_->SetMost(2);
  Connect(1);
  EXPECT_FALSE(ShakeHands().refused);
}

TEST_F(HandshakesTest, T4_HandshakesThatAreUnderWayAtTheEndAreClosed) {
  Serve({.most = 2});
  Connect(0);
  Connect(1);
  handshakes_.reset();
}

}  // namespace
}  // namespace levee::net
