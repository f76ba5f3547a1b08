// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/block_cache.h"
#include "net/closed_port.h"
#include "net/listener.h"
#include "net/socket.h"

namespace levee::net {
namespace {

// Asks for a wakeup a little later, several times, and for the same instant again if it was woken
// too early.
class WakeupCounter final : public TurnHandler {
 public:
  explicit WakeupCounter(EventLoop& loop) : loop_(loop) {}

  Instant OnTurnEnd(Instant now) override {
    if (next_ == Instant()) next_ = now + absl::Milliseconds(3);
    if (now >= next_) {
      if (++wakeups == 20) loop_.Stop();
      next_ = now + absl::Milliseconds(1);
    }
    return next_;
  }

  int wakeups = 0;

 private:
  EventLoop& loop_;
  Instant next_;
};

TEST(EventLoop, WakesAgainAndAgainWithoutAnyInputOrOutput) {
  EventLoop loop;
  WakeupCounter counter(loop);
  loop.SetTurnHandler(&counter);
  loop.Run();
  EXPECT_EQ(counter.wakeups, 20);
}

// Asks for one wakeup, and ends the loop when it comes.
class OneWakeup final : public TurnHandler {
 public:
  explicit OneWakeup(EventLoop& loop) : loop_(loop) {}

  Instant OnTurnEnd(Instant now) override {
    if (now < due_) return due_;
    loop_.Stop();
    return Instant::Infinite();
  }

  // From one turn to the next, since the timer is armed at the end of a turn.
  void AskAndWorkBeyondIt() {
    due_ = loop_.now() + absl::Milliseconds(20);
    loop_.Post([this] { WorkBeyondIt(); });
  }

 private:
  // Like a turn with much to do: begins before the wakeup is due and ends after it.
  void WorkBeyondIt() {
    // A busy machine may take longer from the one turn to the other.
    if (loop_.now() >= due_) return AskAndWorkBeyondIt();
    while (ReadClock() < due_ + absl::Milliseconds(10)) continue;
  }

  EventLoop& loop_;
  Instant due_ = Instant::Infinite();
};

TEST(EventLoop, AWakeupThatFallsDueDuringATurnIsNotLost) {
  EventLoop loop;
  OneWakeup wakeup(loop);
  loop.SetTurnHandler(&wakeup);
  loop.Post([&] { wakeup.AskAndWorkBeyondIt(); });
  loop.Run();
}

TEST(EventLoop, RunsWhatOtherThreadsPostInTheirOrder) {
  EventLoop loop;
  std::vector<int> order;
  std::thread poster([&] {
    for (int i = 0; i < 100; ++i) loop.Post([&order, i] { order.push_back(i); });
    loop.Stop();
  });
  loop.Run();
  poster.join();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(EventLoop, RunsEveryTaskOfManyThreadsThatPostWhileItWorks) {
  constexpr int kThreads = 4;
  constexpr int kTasks = 20'000;
  EventLoop loop;
  int run = 0;
  const auto count = [&] {
    if (++run == kThreads * kTasks) loop.Stop();
  };
  std::vector<std::thread> posters;
  for (int i = 0; i < kThreads; ++i) {
    posters.emplace_back([&] {
      for (int task = 0; task < kTasks; ++task) loop.Post(count);
    });
  }
  loop.Run();
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(run, kThreads * kTasks);
}

// Ends the loop when its socket is closed, and remembers what came before.
class Recorder final : public SocketHandler {
 public:
  explicit Recorder(EventLoop& loop) : loop_(loop) {}
  void OnConnected() override { connected = true; }
  void OnBytes(ByteSpan bytes, const Chunk&) override {
    received.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void OnWritable() override {}
  void OnClosed(const std::string& reason) override {
    closed = reason;
    loop_.Stop();
  }

  bool connected = false;
  std::string received;
  std::string closed;

 private:
  EventLoop& loop_;
};

TEST(Socket, ReceivesWhatThePeerWritesUntilItCloses) {
  EventLoop loop;
  TimerWheel wheel(loop.now());
  const auto listener = Listener::Open(
      loop, wheel, *Address::FromIp("127.0.0.1", 0),
      [](ByteStream stream) { EXPECT_EQ(send(stream.descriptor(), "hello", 5, MSG_NOSIGNAL), 5); });
  ASSERT_TRUE(listener.ok());
  Recorder recorder(loop);
  Socket socket(loop, ByteStream::Dial((*listener)->address()), recorder);
  loop.Run();
  EXPECT_TRUE(recorder.connected);
  EXPECT_EQ(recorder.received, "hello");
  EXPECT_EQ(recorder.closed, "connection closed by the peer");
}

TEST(Socket, ReceivesWhatCameBeforeAResetAndThenIsToldOfIt) {
  EventLoop loop;
  TimerWheel wheel(loop.now());
  const auto listener =
      Listener::Open(loop, wheel, *Address::FromIp("127.0.0.1", 0), [](ByteStream stream) {
        EXPECT_EQ(send(stream.descriptor(), "hello", 5, MSG_NOSIGNAL), 5);
        const linger reset = {.l_onoff = 1, .l_linger = 0};
        setsockopt(stream.descriptor(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      });
  ASSERT_TRUE(listener.ok());
  Recorder recorder(loop);
  // Opened on a connection of which both are there already, so that one poll sees them together.
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Address to = (*listener)->address();
  ASSERT_EQ(connect(fd, to.get(), to.size()), 0);
  std::optional<Socket> opened;
  loop.Post([&] { loop.Post([&] { opened.emplace(loop, ByteStream(fd), recorder); }); });
  loop.Run();
  EXPECT_EQ(recorder.received, "hello");
  EXPECT_EQ(recorder.closed, "connection reset by peer");
}

TEST(Socket, TellsWhyItCouldNotConnect) {
  EventLoop loop;
  const ClosedPort closed;
  Recorder recorder(loop);
  Socket socket(loop, ByteStream::Dial(*Address::FromIp("127.0.0.1", closed.port())), recorder);
  loop.Run();
  EXPECT_FALSE(recorder.connected);
  EXPECT_EQ(recorder.closed, "connection refused");
}

// Counts turns, for each of which the thread may make as much as for the one before.
class TurnCounter final : public TurnHandler {
 public:
  Instant OnTurnEnd(Instant) override {
    ++ended;
    AllowBlocks(1'000'000);
    return Instant::Infinite();
  }

  int ended = 0;
};

TEST(EventLoop, ATurnEndsWhereATaskHasUsedUpItsMemoryAndTheNextTaskRunsInAnotherOne) {
  EventLoop loop;
  TurnCounter turns;
  loop.SetTurnHandler(&turns);
  std::vector<int> ended;  // turns, when each of the tasks ran
  for (const bool dear : {true, true, false, false, true, false}) {
    loop.Post([&, dear] {
      ended.push_back(turns.ended);
      if (dear) AllowBlocks(0);
    });
  }
  loop.Stop();
  loop.Run();
  AllowBlocks(INT64_MAX);
  EXPECT_EQ(ended, std::vector<int>({0, 1, 2, 2, 2, 3}));
}

// Remembers in how large parts bytes came.
class PartSizes final : public SocketHandler {
 public:
  explicit PartSizes(EventLoop& loop) : loop_(loop) {}
  void OnConnected() override {}
  void OnBytes(ByteSpan bytes, const Chunk&) override { sizes.push_back(bytes.size()); }
  void OnWritable() override {}
  void OnClosed(const std::string&) override { loop_.Stop(); }

  std::vector<size_t> sizes;

 private:
  EventLoop& loop_;
};

TEST(Socket, ReadsNoMoreAtATimeThanItsLoopAllows) {
  EventLoop loop;
  TimerWheel wheel(loop.now());
  const std::string sent(10'000, 'x');
  const auto listener =
      Listener::Open(loop, wheel, *Address::FromIp("127.0.0.1", 0), [&](ByteStream stream) {
        EXPECT_EQ(send(stream.descriptor(), sent.data(), sent.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(sent.size()));
      });
  ASSERT_TRUE(listener.ok());
  loop.SetReadMost(3000);
  PartSizes parts(loop);
  Socket socket(loop, ByteStream::Dial((*listener)->address()), parts);
  loop.Run();
  EXPECT_EQ(std::accumulate(parts.sizes.begin(), parts.sizes.end(), size_t{0}), sent.size());
  EXPECT_LE(std::ranges::max(parts.sizes), 3000u);
}

// Reads one byte each time, as some peer does that is never done.
class Reader final : public ReadyHandler {
 public:
  Reader(EventLoop& loop, int fd) : loop_(loop), fd_(fd), watch_(loop, fd, *this) {
    watch_.Set(true, false);
  }
  void OnReady(bool, bool) override {
    char byte = 0;
    read += recv(fd_, &byte, 1, 0) == 1 ? 1 : 0;
    loop_.CountRead(1);
  }

  int read = 0;

 private:
  EventLoop& loop_;
  const int fd_;
  EventLoop::Watch watch_;
};

// Many sockets are ready all the time: with turns that read from some of them only, those that come
// last would wait for all that the others have.
TEST(EventLoop, ATurnEndsWhenAsMuchWasReadAsATurnMayAndEverySocketHasItsPart) {
  static constexpr int kSockets = 100, kEach = 10, kAllowance = 7;
  class Turns final : public TurnHandler {
   public:
    explicit Turns(EventLoop& loop, std::vector<std::unique_ptr<Reader>>& readers)
        : loop_(loop), readers_(readers) {}
    Instant OnTurnEnd(Instant) override {
      int all = 0, least = kEach, most = 0;
      for (const auto& reader : readers_) {
        all += reader->read;
        least = std::min(least, reader->read);
        most = std::max(most, reader->read);
      }
      EXPECT_LE(all - before_, kAllowance);
      EXPECT_LE(most - least, 2);
      before_ = all;
      if (all == kSockets * kEach) loop_.Stop();
      return Instant::Infinite();
    }

   private:
    EventLoop& loop_;
    std::vector<std::unique_ptr<Reader>>& readers_;
    int before_ = 0;
  };
  EventLoop loop;
  loop.SetReadAllowance(kAllowance);
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<int> sockets;
  for (int i = 0; i < kSockets; ++i) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ASSERT_EQ(send(pair[1], "0123456789", kEach, 0), kEach);
    readers.push_back(std::make_unique<Reader>(loop, pair[0]));
    sockets.insert(sockets.end(), {pair[0], pair[1]});
  }
  Turns turns(loop, readers);
  loop.SetTurnHandler(&turns);
  loop.Run();
  readers.clear();
  for (const int socket : sockets) close(socket);
}

TEST(Listener, BusyPortIsAnErrorThatNamesIt) {
  EventLoop loop;
  TimerWheel wheel(loop.now());
  const auto first =
      Listener::Open(loop, wheel, *Address::FromIp("127.0.0.1", 0), [](const ByteStream&) {});
  ASSERT_TRUE(first.ok());
  const auto second = Listener::Open(loop, wheel, (*first)->address(), [](const ByteStream&) {});
  ASSERT_FALSE(second.ok());
  const std::string message(second.status().message());
  EXPECT_EQ(message,
            "cannot listen on " + (*first)->address().ToString() + ": Address already in use");
}

}  // namespace
}  // namespace levee::net
