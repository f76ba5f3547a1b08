// SPDX-License-Identifier: Apache-2.0
// The gate before a library that never lets go of a connection by itself.
#include "admin_grpc/gate.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "admin_grpc/http2_bytes.h"
#include "gtest/gtest.h"
#include "virtual/jumping_time.h"

namespace levee {
namespace {

// Reads what has come.
std::string ReadNow(int fd) {
  std::string all;
  std::array<char, 4096> some;
  for (;;) {
    const ssize_t size = recv(fd, some.data(), some.size(), MSG_DONTWAIT);
    if (size <= 0) return all;
    all.append(some.data(), static_cast<size_t>(size));
  }
}

bool AtEnd(int fd) {
  char byte;
  return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

size_t HeadsIn(const std::string& bytes) {
  size_t heads = 0;
  for (size_t at = kHttp2Preface.size(); at < bytes.size();) {
    const h2::FrameHead head =
        h2::ReadFrameHead(reinterpret_cast<const uint8_t*>(bytes.data()) + at);
    heads += head.Is(h2::FrameType::kHeaders) ? 1 : 0;
    at += h2::kFrameHeadBytes + head.length;
  }
  return heads;
}

class GateTest : public testing::Test, private net::TurnHandler, private Timer {
 protected:
  GateTest() { loop_.SetTurnHandler(this); }
  ~GateTest() override {
    for (const int fd : library_) close(fd);
    for (const int fd : peers_) close(fd);
  }

  // Returns the peer's end of a new connection.
  int Connect() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    gate_.Add(net::ByteStream(fds[0]));
    peers_.push_back(fds[1]);
    return fds[1];
  }
  void Leave(size_t peer) { close(std::exchange(peers_[peer], -1)); }
  void LetGo(size_t given) { close(std::exchange(library_[given], -1)); }

  // Returns how many of `bytes` the connection takes now.
  static size_t Send(int fd, const std::string& bytes) {
    const ssize_t size = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return size > 0 ? static_cast<size_t>(size) : 0;
  }

  // Lets all happen that happens within the time.
  void Wait(absl::Duration time = 3 * Gate::kLook) {
    wheel_.Arm(*this, loop_.now() + time);
    loop_.Run();
  }

  JumpingTime time_;
  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  std::vector<int> library_;  // what it was given
  std::vector<int> peers_;
  Gate gate_{loop_, wheel_, [this](int descriptor) { library_.push_back(descriptor); }};

 private:
  void OnTimer(Instant) override { loop_.Stop(); }
  Instant OnTurnEnd(Instant now) override {
    wheel_.Advance(now);
    return wheel_.NextWakeup();
  }
};

TEST_F(GateTest, AConnectionKeepsItsPlaceUntilTheLibraryHasLetGoOfIt) {
  for (size_t i = 0; i < Gate::kMostConnections; ++i) {
    Send(Connect(), kHttp2Preface);
    Wait();
    Leave(i);
  }
  Wait();
  for (size_t i = 0; i < 10; ++i) Connect();
  Wait(absl::Minutes(1));
  EXPECT_EQ(library_.size(), Gate::kMostConnections);
  EXPECT_EQ(gate_.connections(), Gate::kMostConnections);
  for (size_t i = 0; i < 3; ++i) LetGo(i);
  Wait();
  EXPECT_EQ(library_.size(), Gate::kMostConnections + 3);
}

TEST_F(GateTest, TheOldestMakesRoomAsSoonAsTheLibraryHasLetGoOfIt) {
  for (size_t i = 0; i < Gate::kMostConnections + 1; ++i) Connect();
  Wait();
  EXPECT_EQ(library_.size(), Gate::kMostConnections);
  EXPECT_TRUE(AtEnd(peers_[0]));
  EXPECT_TRUE(AtEnd(library_[0]));
  EXPECT_FALSE(AtEnd(peers_[1]));
  LetGo(0);
  Wait();
  EXPECT_EQ(library_.size(), Gate::kMostConnections + 1);
  Send(peers_.back(), kHttp2Preface);
  Wait();
  EXPECT_EQ(ReadNow(library_.back()), kHttp2Preface);
}

TEST_F(GateTest, AConnectionWhosePeerHasLeftMakesRoomBeforeTheOldest) {
  for (size_t i = 0; i < Gate::kMostConnections; ++i) Connect();
  const std::string pings(170'000, '\0');  // of frames without payload
  Send(peers_[7], kHttp2Preface + pings);
  Leave(7);
  Connect();
  Wait();
  EXPECT_FALSE(AtEnd(peers_[0]));
  LetGo(7);
  Wait();
  EXPECT_EQ(library_.size(), Gate::kMostConnections + 1);
}

TEST_F(GateTest, AConnectionThatEndsWhileItWaitsNeverReachesTheLibrary) {
  for (size_t i = 0; i < Gate::kMostConnections + 3; ++i) Connect();
  Leave(Gate::kMostConnections);
  Leave(Gate::kMostConnections + 2);
  for (size_t i = 0; i < 3; ++i) LetGo(i);
  Wait();
  EXPECT_EQ(library_.size(), Gate::kMostConnections + 1);
}

TEST_F(GateTest, OfManyConnectionsThatWaitTheOldestIsClosed) {
  constexpr size_t kTooMany = 5;
  constexpr size_t kAll = Gate::kMostConnections + Gate::kMostWaiting + kTooMany;
  for (size_t i = 0; i < kAll; ++i) Connect();
  Wait();
  for (size_t i = 0; i < kAll; ++i) {
    const bool served = i >= Gate::kMostConnections;
    const bool waits = i >= Gate::kMostConnections + kTooMany;
    EXPECT_EQ(AtEnd(peers_[i]), !(served && waits)) << i;
  }
  EXPECT_EQ(library_.size(), Gate::kMostConnections);
}

TEST_F(GateTest, CallsThatAreCancelledAtOnceAreFewUntilTheLibraryHasLetGoOfThem) {
  const int peer = Connect();
  std::string calls = kHttp2Preface;
  for (uint32_t i = 0; i < 2 * Gate::kMostCalls; ++i) calls += Cancelled(2 * i + 1);
  std::string taken;
  while (!AtEnd(peer)) {
    calls.erase(0, Send(peer, calls));
    Wait(absl::Milliseconds(1));
    taken += ReadNow(library_[0]);
  }
  // Some were taken for gone meanwhile.
  EXPECT_EQ(gate_.calls(), Gate::kMostCalls);
  EXPECT_LT(HeadsIn(taken), Gate::kMostCalls + 20);
  EXPECT_TRUE(AtEnd(library_[0])) << "it has more than all others";
  Wait(absl::Minutes(1));
  EXPECT_EQ(gate_.calls(), Gate::kMostCalls);
  LetGo(0);
  Wait();
  EXPECT_EQ(gate_.calls(), 0);
}

TEST_F(GateTest, ACallThatFindsNoRoomGetsThatOfTheConnectionWithMostCalls) {
  for (size_t i = 0; i < Gate::kMostCalls / CallCount::kMostOpen; ++i) {
    std::string calls = kHttp2Preface;
    for (uint32_t call = 0; call < CallCount::kMostOpen; ++call) calls += Head(2 * call + 1);
    Send(Connect(), calls);
    Wait();
  }
  const int honest = Connect();
  Send(honest, kHttp2Preface + Head(1));
  Wait();
  EXPECT_EQ(gate_.calls(), Gate::kMostCalls);
  EXPECT_EQ(ReadNow(library_.back()), kHttp2Preface);
  EXPECT_TRUE(AtEnd(peers_[0]));
  EXPECT_FALSE(AtEnd(peers_[1]));
  LetGo(0);
  Wait();
  EXPECT_EQ(ReadNow(library_.back()), Head(1));
}

TEST_F(GateTest, BytesThatTheLibraryDoesNotTakeStayWithTheirPeer) {
  const int peer = Connect();
  Send(peer, kHttp2Preface);
  const std::string pings(1700, '\0');  // of frames without payload
  size_t taken = 0;
  for (size_t sent = 1; sent > 0; taken += sent) {
    sent = Send(peer, pings);
    Wait(absl::Milliseconds(1));
  }
  EXPECT_LT(taken, 600'000);
}

TEST_F(GateTest, APeerThatTakesNoAnswersIsNotRead) {
  const int peer = Connect();
  Send(peer, kHttp2Preface);
  Wait();
  const std::string answers(9000, '\0');
  for (size_t sent = 1; sent > 0;) {
    sent = Send(library_[0], answers);
    Wait(absl::Milliseconds(1));
  }
  ReadNow(library_[0]);
  Send(peer, Head(1));
  Wait();
  EXPECT_EQ(ReadNow(library_[0]), "");
  ReadNow(peer);
  Wait();
  ReadNow(peer);
  Wait();
  EXPECT_EQ(ReadNow(library_[0]), Head(1));
}

TEST_F(GateTest, WhatTheLibrarySaysBeforeItEndsReachesThePeer) {
  const int peer = Connect();
  const std::string goaway = Frame(h2::FrameType::kGoaway, 0, 0, 8);
  Send(library_[0], goaway);
  LetGo(0);
  Wait();
  EXPECT_EQ(ReadNow(peer), goaway);
  EXPECT_TRUE(AtEnd(peer));
  EXPECT_EQ(gate_.connections(), 0);
}

}  // namespace
}  // namespace levee
