// SPDX-License-Identifier: Apache-2.0
// Handshakes in their own thread, over real connections.
#include "net/handshakes.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/byte_stream.h"
#include "net/tls_connections.h"
#include "tls/session.h"

namespace levee::net {
namespace {

// How a handshake ended, in the order of the ends.
class Outcomes {
 public:
  struct Outcome {
    int number;
    bool refused;
    ByteStream stream;
  };

  void Add(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(std::move(outcome));
    added_.notify_one();
  }

  Outcome Next() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return !outcomes_.empty(); });
    Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Outcome> outcomes_;
};

class HandshakesTest : public TlsConnections {
 protected:
  // Unless `bounds` say otherwise, no handshake takes too long, on whatever machine.
  void Serve(Handshakes::Bounds bounds) {
    if (bounds.timeout == Handshakes::Bounds{}.timeout) bounds.timeout = absl::Hours(1);
    handshakes_.emplace(bounds);
  }

  // Connects the caller of that number, which says nothing.
  void BeginSilent(int number) {
    TlsConnections::Ends ends = Connect();
    callers_.push_back(std::move(ends.client));
    handshakes_->Begin(std::move(ends.server), server_context_,
                       [this, number](ByteStream stream, bool refused) {
                         outcomes_.Add({number, refused, std::move(stream)});
                       });
  }

  // The latest caller sends its ClientHello, and so takes a place.
  void Speak() {
    ByteStream& caller = callers_.back();
    ASSERT_EQ(caller.Continue(), ByteStream::State::kReady);
    caller.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
    caller.Continue();
  }

  void Begin(int number) {
    TlsConnections::Ends ends = Connect();
    callers_.push_back(std::move(ends.client));
    Speak();
    handshakes_->Begin(std::move(ends.server), server_context_,
                       [this, number](ByteStream stream, bool refused) {
                         outcomes_.Add({number, refused, std::move(stream)});
                       });
  }

  // The latest caller, which has spoken, does its part until both are done. Returns how it ended
  // for the server.
  Outcomes::Outcome ShakeHands() {
    while (callers_.back().Continue() == ByteStream::State::kConnecting) continue;
    return outcomes_.Next();
  }

  std::vector<ByteStream> callers_;
  Outcomes outcomes_;
  std::optional<Handshakes> handshakes_;
};

TEST_F(HandshakesTest, T4_ItsThreadGivesWayToThoseThatCarryCalls) {
  Serve({.most = 1});
  TlsConnections::Ends ends = Connect();
  callers_.push_back(std::move(ends.client));
  int nice = 0;
  handshakes_->Begin(std::move(ends.server), server_context_, [&](ByteStream stream, bool refused) {
    nice = getpriority(PRIO_PROCESS, 0);  // of this thread
    outcomes_.Add({0, refused, std::move(stream)});
  });
  Speak();
  ShakeHands();
  // 19 is the lowest priority: a process that runs at it can give way no further.
  EXPECT_EQ(nice, std::min(getpriority(PRIO_PROCESS, 0) + 15, 19));
}

TEST_F(HandshakesTest, T4_AConnectionComesBackWithItsHandshakeDone) {
  Serve({.most = 1});
  for (int i = 0; i < 3; ++i) {
    Begin(i);
    const Outcomes::Outcome end = ShakeHands();
    EXPECT_EQ(end.number, i);
    EXPECT_FALSE(end.refused);
    EXPECT_EQ(end.stream.state(), ByteStream::State::kReady);
  }
}

TEST_F(HandshakesTest, T4_ACallerThatSaysNothingIsGivenUp) {
  Serve({.most = 1, .timeout = absl::Milliseconds(1)});
  BeginSilent(0);
  const Outcomes::Outcome end = outcomes_.Next();
  EXPECT_FALSE(end.refused);
  EXPECT_EQ(end.stream.state(), ByteStream::State::kFailed);
  EXPECT_EQ(end.stream.tls()->failure().result, tls::Result::kTimeout);
}

TEST_F(HandshakesTest, ACallerThatStopsInTheMiddleIsGivenUp) {
  Serve({.most = 1, .timeout = absl::Milliseconds(1)});
  Begin(0);
  const Outcomes::Outcome end = outcomes_.Next();
  EXPECT_FALSE(end.refused);
  EXPECT_EQ(end.stream.tls()->failure().result, tls::Result::kTimeout);
}

TEST_F(HandshakesTest, CallersThatSayNothingTakeNoPlace) {
  Serve({.most = 1, .timeout_if_crowded = absl::Hours(1)});
  for (int i = 0; i < 100; ++i) BeginSilent(i);
  Begin(100);
  const Outcomes::Outcome end = ShakeHands();
  EXPECT_EQ(end.number, 100);
  EXPECT_FALSE(end.refused);
  EXPECT_EQ(end.stream.state(), ByteStream::State::kReady);
}

TEST_F(HandshakesTest, OfCallersThatSayNothingTheOldestMakeRoomForNewOnes) {
  Serve({.most = 1, .silent = 3, .timeout_if_crowded = absl::Hours(1)});
  for (int i = 0; i < 10; ++i) BeginSilent(i);
  for (int i = 0; i < 7; ++i) {
    const Outcomes::Outcome gone = outcomes_.Next();
    EXPECT_EQ(gone.number, i);
    EXPECT_TRUE(gone.refused);
  }
  Speak();
  const Outcomes::Outcome end = ShakeHands();
  EXPECT_EQ(end.number, 9);
  EXPECT_FALSE(end.refused);
}

TEST_F(HandshakesTest, ACallerThatHangsUpBeforeItsFirstByteIsReset) {
  Serve({.most = 1});
  BeginSilent(0);
  callers_.back().Close();
  const Outcomes::Outcome end = outcomes_.Next();
  EXPECT_FALSE(end.refused);
  EXPECT_EQ(end.stream.tls()->failure().result, tls::Result::kReset);
}

TEST_F(HandshakesTest, T4_BeyondTheirBoundANewConnectionIsRefusedWhileNoneIsSlow) {
  Serve({.most = 2, .timeout_if_crowded = absl::Hours(1)});
  Begin(0);
  Begin(1);
  Begin(2);
  const Outcomes::Outcome end = outcomes_.Next();
  EXPECT_EQ(end.number, 2);
  EXPECT_TRUE(end.refused);
}

TEST_F(HandshakesTest, T4_BeyondTheirBoundTheSlowestMakesRoom) {
  Serve({.most = 2, .timeout_if_crowded = absl::ZeroDuration()});
  Begin(0);
  Begin(1);
  Begin(2);
  const Outcomes::Outcome gone = outcomes_.Next();
  EXPECT_EQ(gone.number, 0);
  EXPECT_FALSE(gone.refused);
  EXPECT_EQ(gone.stream.tls()->failure().result, tls::Result::kTimeout);
  EXPECT_EQ(ShakeHands().number, 2);
}

TEST_F(HandshakesTest, T4_TheBoundCanBeRaised) {
  Serve({.most = 1, .timeout_if_crowded = absl::Hours(1)});
  Begin(0);
  handshakes_->SetMost(2, 1);
  Begin(1);
  EXPECT_FALSE(ShakeHands().refused);
}

TEST_F(HandshakesTest, T4_HandshakesThatAreUnderWayAtTheEndAreClosed) {
  Serve({.most = 2});
  Begin(0);
  BeginSilent(1);
  handshakes_.reset();
}

}  // namespace
}  // namespace levee::net
