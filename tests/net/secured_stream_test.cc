// SPDX-License-Identifier: Apache-2.0
// Sockets with TLS, on a real loop and a real connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/timer_wheel.h"
#include "certificates/authority.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/socket.h"
#include "tls/session.h"

namespace levee::net {
namespace {

// Writes a text, and keeps what comes and how it ends.
class Side final : public SocketHandler {
 public:
  Side(EventLoop& loop, ByteStream stream, std::string to_send)
      : loop_(loop), left_(std::move(to_send)), socket_(loop, std::move(stream), *this) {}

  void OnConnected() override {
    connected = true;
    OnWritable();
    loop_.Stop();
  }
  void OnBytes(ByteSpan bytes, const Chunk&) override {
    received.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    loop_.Stop();
  }
  void OnWritable() override {
    const size_t size =
        socket_.Write(ByteSpan(reinterpret_cast<const uint8_t*>(left_.data()), left_.size()));
    left_.erase(0, size);
  }
  void OnClosed(const std::string& reason) override {
    closed = reason;
    loop_.Stop();
  }

  Socket& socket() { return socket_; }

  bool connected = false;
  std::string received;
  std::string closed;

 private:
  EventLoop& loop_;
  std::string left_;
  Socket socket_;
};

class SecuredStream : public ::testing::Test {
 protected:
  // Connects a client and a server that send these texts.
  void Connect(std::string from_client, std::string from_server) {
    ByteStream dialled = ByteStream::Dial(listener_->address());
    dialled.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
    client_.emplace(loop_, std::move(dialled), std::move(from_client));
    while (!accepted_.has_value()) loop_.Run();
    accepted_->Secure(std::make_unique<tls::Session>(server_context_, ""));
    server_.emplace(loop_, *std::exchange(accepted_, std::nullopt), std::move(from_server));
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
  std::optional<Side> client_;
  std::optional<Side> server_;
};

TEST_F(SecuredStream, T5_CarriesMoreThanTheKernelTakesAtOnceInBothDirections) {
  std::string large(20 << 20, 'x');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i % 251);
  Connect(large, large);
  while (client_->received.size() < large.size() || server_->received.size() < large.size()) {
    loop_.Run();
  }
  EXPECT_TRUE(client_->received == large);
  EXPECT_TRUE(server_->received == large);
}

TEST_F(SecuredStream, T5_GoesFromHandToHandWithWhatItHasDecrypted) {
  Connect(std::string(100'000, 'x'), "");
  server_->socket().SetReadLimit(10);  // A record is larger.
  while (server_->received.empty()) loop_.Run();
  const size_t before = server_->received.size();
  Side next(loop_, server_->socket().Release(), "");
  while (next.received.size() + before < 100'000) loop_.Run();
  EXPECT_EQ(next.received, std::string(100'000 - before, 'x'));
  EXPECT_FALSE(next.connected);  // It was ready from the start.
}

TEST_F(SecuredStream, TellsThePeerThatItsEndIsMeant) {
  Connect("last words", "");
  while (server_->received.empty()) loop_.Run();
  client_.reset();
  while (server_->closed.empty()) loop_.Run();
  EXPECT_EQ(server_->closed, "connection closed by the peer");
  EXPECT_EQ(server_->socket().tls()->state(), tls::Session::State::kEnded);
}

TEST_F(SecuredStream, BothEndsSayWhyTheHandshakeFailed) {
  const Authority other;
  client_context_ =
      *tls::Context::Make(tls::Role::kClient, {.trusted = *tls::TrustStore::Parse(other.pem())});
  Connect("never sent", "");
  while (client_->closed.empty() || server_->closed.empty()) loop_.Run();
  EXPECT_EQ(client_->closed, "the service's certificate is not signed by a trusted CA");
  EXPECT_EQ(server_->closed, "the caller does not trust the CA of this certificate");
  EXPECT_FALSE(client_->connected);
}

TEST_F(SecuredStream, SaysThatThePeerClosedInTheHandshake) {
  ByteStream dialled = ByteStream::Dial(listener_->address());
  dialled.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
  client_.emplace(loop_, std::move(dialled), "never sent");
  while (!accepted_.has_value()) loop_.Run();
  accepted_.reset();
  while (client_->closed.empty()) loop_.Run();
  EXPECT_EQ(client_->closed, "the connection was closed in the TLS handshake");
  EXPECT_EQ(client_->socket().tls()->failure().result, tls::Result::kReset);
}

}  // namespace
}  // namespace levee::net
