// SPDX-License-Identifier: Apache-2.0
// What a relay does while it holds; what passes through it is tested with whole tunnels.
#include "net/relay.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/timer_wheel.h"
#include "net/listener.h"

namespace levee::net {
namespace {

ByteSpan Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string Text(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

// Reads what has come; "(end)" at the end of the stream, "" if nothing has.
std::string ReadFrom(ByteStream& stream) {
  std::array<uint8_t, 256> bytes{};
  const ByteStream::Transfer moved = stream.Read(bytes, Instant());
  if (moved.next == ByteStream::Transfer::Next::kEnd) return "(end)";
  return Text(std::span(bytes).first(moved.bytes));
}

// Reads what comes next.
std::string AwaitFrom(ByteStream& stream) {
  pollfd readable{.fd = stream.descriptor(), .events = POLLIN, .revents = 0};
  poll(&readable, 1, /*timeout=*/-1);
  return ReadFrom(stream);
}

class HoldingRelay : public testing::Test, protected RelayHandler {
 protected:
  HoldingRelay() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    caller_ = ByteStream(fds[0]);
    relay_ = std::make_unique<Relay>(loop_, ByteStream(fds[1]), ByteSpan(),
                                     std::vector<Address>{listener_->address()}, /*hold=*/true,
                                     static_cast<RelayHandler&>(*this));
    while (!destination_.has_value() || !relay_->connected()) loop_.Run();
  }

  void OnDialled(const Address&, const Address&) override {}
  void OnHeld(ByteSpan from_caller, ByteSpan from_dialled, bool ended) override {
    of_caller_ = Text(from_caller);
    of_dialled_ = Text(from_dialled);
    ended_ = ended;
    loop_.Stop();
  }
  void OnRelayed(bool, size_t bytes) override { relayed_ += bytes; }
  void OnRelayClosed(const std::string&) override {
    closed_ = true;
    loop_.Stop();
  }

  // Runs until both are held.
  void AwaitHeld(const std::string& of_caller, const std::string& of_dialled) {
    while (of_caller_ != of_caller || of_dialled_ != of_dialled) loop_.Run();
  }

  EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  ByteStream caller_;
  std::optional<ByteStream> destination_;
  std::unique_ptr<Listener> listener_ =
      *Listener::Open(loop_, wheel_, *Address::FromIp("127.0.0.1", 0), [this](ByteStream stream) {
        destination_ = std::move(stream);
        loop_.Stop();
      });
  std::string of_caller_, of_dialled_;
  bool ended_ = false;
  size_t relayed_ = 0;
  bool closed_ = false;
  std::unique_ptr<Relay> relay_;
};

TEST_F(HoldingRelay, ShowsWhatBothSidesHaveSentAndPassesNothingOn) {
  destination_->Write(Bytes("gree"));
  AwaitHeld("", "gree");
  destination_->Write(Bytes("ting"));
  AwaitHeld("", "greeting");
  caller_.Write(Bytes("login"));
  AwaitHeld("login", "greeting");
  EXPECT_EQ(ReadFrom(caller_), "");
  EXPECT_EQ(ReadFrom(*destination_), "");
  EXPECT_EQ(relayed_, 0u);
}

TEST_F(HoldingRelay, LosesNothingOnceItPassesOn) {
  destination_->Write(Bytes("greeting"));
  caller_.Write(Bytes("login"));
  AwaitHeld("login", "greeting");
  relay_->PassOn();
  EXPECT_EQ(AwaitFrom(caller_), "greeting");
  EXPECT_EQ(AwaitFrom(*destination_), "login");
  EXPECT_EQ(relayed_, 13u);
  // Ends are passed on as ever.
  caller_.EndWriting();
  destination_->EndWriting();
  while (!closed_) loop_.Run();
  EXPECT_EQ(AwaitFrom(*destination_), "(end)");
  EXPECT_EQ(AwaitFrom(caller_), "(end)");
}

TEST_F(HoldingRelay, TellsThatASideHasEnded) {
  caller_.EndWriting();
  while (!ended_) loop_.Run();
  relay_->PassOn();
  destination_->Write(Bytes("answer"));
  destination_->EndWriting();
  while (!closed_) loop_.Run();
  EXPECT_EQ(AwaitFrom(*destination_), "(end)");
  EXPECT_EQ(AwaitFrom(caller_), "answer");
}

TEST_F(HoldingRelay, ReadsNoMoreThanTellsAProtocol) {
  const std::string enough(Relay::kPeek, 'x');
  destination_->Write(Bytes(enough));
  AwaitHeld("", enough);
  destination_->Write(Bytes("more"));
  for (const std::string said : {"x", "xy"}) {
    caller_.Write(Bytes(said.substr(said.size() - 1)));
    while (of_caller_ != said) loop_.Run();
  }
  EXPECT_EQ(of_dialled_, enough);
}

TEST_F(HoldingRelay, GivesTheCallersConnectionBackAndClosesTheOther) {
  caller_.Write(Bytes("PRI"));
  AwaitHeld("PRI", "");
  ByteStream back = relay_->ReleaseCaller();
  EXPECT_EQ(AwaitFrom(*destination_), "(end)");
  caller_.Write(Bytes("more"));
  EXPECT_EQ(AwaitFrom(back), "more");
  back.Write(Bytes("answer"));
  EXPECT_EQ(AwaitFrom(caller_), "answer");
}

TEST_F(HoldingRelay, PassesTheLastWordsOfASideThatBreaksTheConnectionOn) {
  destination_->Write(Bytes("too many connections"));
  AwaitHeld("", "too many connections");
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(destination_->descriptor(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  destination_->Close();
  while (!closed_) loop_.Run();
  EXPECT_EQ(AwaitFrom(caller_), "too many connections");
}

}  // namespace
}  // namespace levee::net
