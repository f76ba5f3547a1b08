// SPDX-License-Identifier: Apache-2.0
// Real connections whose two ends can speak TLS with each other.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/timer_wheel.h"
#include "certificates/authority.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "tls/context.h"

namespace levee::net {

class TlsConnections : public ::testing::Test {
 protected:
  struct Ends {
    ByteStream client;
    ByteStream server;
  };

  // Connects, without TLS yet.
  Ends Connect() {
    ByteStream client = ByteStream::Dial(listener_->address());
    while (!accepted_.has_value()) loop_.Run();
    return {std::move(client), *std::exchange(accepted_, std::nullopt)};
  }

  EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  Authority authority_;
  std::shared_ptr<const tls::Context> client_context_ = *tls::Context::Make(
      tls::Role::kClient, {.trusted = *tls::TrustStore::Parse(authority_.pem())});
  const PemPair pair_ = authority_.Issue();
  std::shared_ptr<const tls::Context> server_context_ = *tls::Context::Make(
      tls::Role::kServer, {.credentials = tls::Credentials{pair_.certificate, pair_.key}});

 private:
  std::optional<ByteStream> accepted_;
  std::unique_ptr<Listener> listener_ =
      *Listener::Open(loop_, wheel_, *Address::FromIp("127.0.0.1", 0), [this](ByteStream stream) {
        accepted_ = std::move(stream);
        loop_.Stop();
      });
};

}  // namespace levee::net
