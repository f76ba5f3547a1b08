// SPDX-License-Identifier: Apache-2.0
// Sockets with TLS, on a real loop and a real connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/relay.h"
#include "net/socket.h"
#include "net/tls_connections.h"
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

class SecuredStream : public TlsConnections {
 protected:
  // Connects a client and a server that send these texts.
  void Connect(std::string from_client, std::string from_server) {
    Ends ends = TlsConnections::Connect();
    ends.client.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
    client_.emplace(loop_, std::move(ends.client), std::move(from_client));
    ends.server.Secure(std::make_unique<tls::Session>(server_context_, ""));
    server_.emplace(loop_, std::move(ends.server), std::move(from_server));
  }

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

// All that the peer has sent is in TLS by then, and makes no descriptor readable.
TEST_F(SecuredStream, WhatIsDecryptedWhileNobodyReadsComesOnceReadingGoesOn) {
  Connect(std::string(10'000, 'x'), "");
  server_->socket().SetReadLimit(10);
  while (server_->received.empty()) loop_.Run();
  server_->socket().SetReading(false);
  for (int turn = 0; turn < 3; ++turn) {
    loop_.Stop();
    loop_.Run();
  }
  EXPECT_EQ(server_->received.size(), 10u);
  server_->socket().SetReading(true);
  while (server_->received.size() < 10'000) loop_.Run();
  EXPECT_EQ(server_->received, std::string(10'000, 'x'));
}

// A peer whose bytes are held back again and again has one read in a turn nevertheless.
TEST_F(SecuredStream, WhatIsDecryptedIsReadOnceATurnHoweverOftenReadingGoesOn) {
  Connect(std::string(1'000, 'x'), "");
  server_->socket().SetReadLimit(10);
  while (server_->received.empty()) loop_.Run();
  while (server_->received.size() < 1'000) {
    const size_t before = server_->received.size();
    for (int time = 0; time < 3; ++time) {
      server_->socket().SetReading(false);
      server_->socket().SetReading(true);
    }
    loop_.Run();  // one turn
    ASSERT_EQ(server_->received.size(), before + 10);
  }
}

// Passes on to a service what the server has not read yet.
class SecuredRelay : public SecuredStream, protected RelayHandler {
 protected:
  void OnDialled(const Address&, const Address&) override {}
  void OnHeld(ByteSpan, ByteSpan, bool) override {}
  void OnRelayed(bool, size_t) override {}
  void OnRelayClosed(const std::string&) override {}

  std::optional<Side> service_;
  std::unique_ptr<Listener> service_listener_ = *Listener::Open(
      loop_, wheel_, *Address::FromIp("127.0.0.1", 0),
      [this](ByteStream stream) { service_.emplace(loop_, std::move(stream), ""); });
};

TEST_F(SecuredRelay, PassesOnWhatIsDecryptedAlready) {
  Connect(std::string(10'000, 'x'), "");
  server_->socket().SetReadLimit(10);
  while (server_->received.empty()) loop_.Run();
  const ByteSpan first(reinterpret_cast<const uint8_t*>(server_->received.data()), 10);
  const Relay relay(loop_, server_->socket().Release(), first, {service_listener_->address()},
                    /*hold=*/false, static_cast<RelayHandler&>(*this));
  while (!service_.has_value() || service_->received.size() < 10'000) loop_.Run();
  EXPECT_EQ(service_->received, std::string(10'000, 'x'));
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
  Ends ends = TlsConnections::Connect();
  ends.client.Secure(std::make_unique<tls::Session>(client_context_, "localhost"));
  client_.emplace(loop_, std::move(ends.client), "never sent");
  ends.server.Close();
  while (client_->closed.empty()) loop_.Run();
  EXPECT_EQ(client_->closed, "the connection was closed in the TLS handshake");
  EXPECT_EQ(client_->socket().tls()->failure().result, tls::Result::kReset);
}

}  // namespace
}  // namespace levee::net
