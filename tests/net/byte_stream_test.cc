// SPDX-License-Identifier: Apache-2.0
#include "net/byte_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/socket.h"

namespace levee::net {
namespace {

// A connection and the test's end of it.
struct Ends {
  ByteStream stream, other;
};

Ends Connected() {
  std::array<int, 2> fds{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
  return {ByteStream(fds[0]), ByteStream(fds[1])};
}

// Whether the other end has been closed.
bool Ended(ByteStream& stream) {
  std::array<uint8_t, 8> bytes{};
  return stream.Read(bytes, Instant()).next == ByteStream::Transfer::Next::kEnd;
}

TEST(ByteStream, IsClosedWhereverItEnds) {
  Ends ends = Connected();
  ByteStream moved = std::move(ends.stream);
  EXPECT_FALSE(Ended(ends.other));
  moved = ByteStream();
  EXPECT_TRUE(Ended(ends.other));
}

TEST(ByteStream, IsClosedIfTheLoopThatItWasPostedToRunsNoMore) {
  Ends ends = Connected();
  {
    EventLoop loop;
    loop.Post([stream = std::move(ends.stream)] { ADD_FAILURE() << "the loop does not run"; });
    EXPECT_FALSE(Ended(ends.other));
  }
  EXPECT_TRUE(Ended(ends.other));
}

TEST(ByteStream, TakesAsManyBytesAsTheKernelDoes) {
  Ends ends = Connected();
  const std::vector<uint8_t> bytes(1 << 20, 'x');
  const std::vector<ByteSpan> pieces(100, bytes);
  const ByteStream::Transfer moved = ends.stream.Write(pieces);
  EXPECT_GT(moved.bytes, 0u);
  EXPECT_LT(moved.bytes, 100u << 20);
  EXPECT_EQ(moved.next, ByteStream::Transfer::Next::kWait);
}

// Waits for one event of a socket.
class Waiter final : public SocketHandler {
 public:
  explicit Waiter(EventLoop& loop) : loop_(loop) {}
  void OnConnected() override {
    connected = true;
    loop_.Stop();
  }
  void OnBytes(ByteSpan bytes, const Chunk&) override {
    received.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    loop_.Stop();
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

class DialledStream : public testing::Test {
 protected:
  EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  std::optional<ByteStream> accepted_;
  std::unique_ptr<Listener> listener_ =
      *Listener::Open(loop_, wheel_, *Address::FromIp("127.0.0.1", 0), [this](ByteStream stream) {
        accepted_ = std::move(stream);
        loop_.Stop();
      });
};

TEST_F(DialledStream, GoesFromHandToHandBeforeAndAfterItIsReady) {
  ByteStream dialled = ByteStream::Dial(listener_->address());
  EXPECT_EQ(dialled.state(), ByteStream::State::kConnecting);
  ByteStream handed_over = std::move(dialled);
  Waiter first(loop_);
  Socket socket(loop_, std::move(handed_over), first);
  while (!first.connected || !accepted_.has_value()) loop_.Run();
  Waiter second(loop_);
  Socket next(loop_, socket.Release(), second);
  EXPECT_TRUE(next.open());
  const std::string text = "hello";
  accepted_->Write({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  while (second.received.empty()) loop_.Run();
  EXPECT_EQ(second.received, "hello");
  EXPECT_FALSE(second.connected);  // It was ready from the start.
  EXPECT_EQ(first.received, "");
}

TEST_F(DialledStream, BothEndsKnowWhereTheOtherIs) {
  Waiter waiter(loop_);
  ByteStream dialled = ByteStream::Dial(listener_->address());
  EXPECT_EQ(dialled.peer(), listener_->address());
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  ASSERT_EQ(getsockname(dialled.descriptor(), address, &size), 0);
  while (!accepted_.has_value()) loop_.Run();
  EXPECT_EQ(accepted_->peer(), Address(address, size));
}

}  // namespace
}  // namespace levee::net
