// SPDX-License-Identifier: Apache-2.0
// Peers that send TLS messages in place of data.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "certificates/authority.h"
#include "tls/session.h"

namespace levee::tls {
namespace {

// A client of OpenSSL's own that changes its keys as often as it likes, and a server that has
// shaken hands with it.
class KeyUpdates : public testing::Test {
 protected:
  KeyUpdates() {
    SSL_CTX_set_verify(context_->get(), SSL_VERIFY_NONE, nullptr);
    SSL_set_bio(client_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client_);
    while (SSL_do_handshake(client_) != 1 || server_.state() == Session::State::kHandshake) {
      const std::string sent = TakeSent();
      server_.Continue(SpanOf(sent));
      BIO_write(SSL_get_rbio(client_), server_.output().data(),
                static_cast<int>(server_.output().size()));
      server_.Sent(server_.output().size());
    }
  }
  ~KeyUpdates() override { SSL_free(client_); }

  static ByteSpan SpanOf(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  std::string TakeSent() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(client_), &bytes);
    std::string sent(bytes, static_cast<size_t>(size));
    (void)BIO_reset(SSL_get_wbio(client_));
    return sent;
  }

  // The client changes its keys that often, and then sends `text`. Returns what the server reads.
  std::string ReadAfter(int updates, std::string_view text, Instant now) {
    for (int i = 0; i < updates; ++i) {
      EXPECT_EQ(SSL_key_update(client_, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      EXPECT_EQ(SSL_do_handshake(client_), 1);
    }
    SSL_write(client_, text.data(), static_cast<int>(text.size()));
    const std::string sent = TakeSent();
    std::vector<uint8_t> read(100);
    read.resize(server_.Read(SpanOf(sent), read, now));
    return {read.begin(), read.end()};
  }

  const Authority authority_;
  const std::shared_ptr<const Context> context_ = *Context::Make(Role::kClient, {});
  const PemPair shown_ = authority_.Issue();
  Session server_{
      *Context::Make(Role::kServer, {.credentials = Credentials{shown_.certificate, shown_.key}}),
      ""};
  SSL* const client_ = SSL_new(context_->get());
};

TEST_F(KeyUpdates, AHundredAtOnceAreTaken) {
  EXPECT_EQ(ReadAfter(100, "data", Instant()), "data");
  EXPECT_EQ(server_.state(), Session::State::kOpen);
}

TEST_F(KeyUpdates, OneMoreEndsTheConnectionAndNothingBehindItIsRead) {
  EXPECT_EQ(ReadAfter(100'000, "data", Instant()), "");
  EXPECT_EQ(server_.state(), Session::State::kFailed);
  EXPECT_TRUE(server_.flooded());
  EXPECT_EQ(server_.failure().text, "the peer sent too many TLS messages");
  EXPECT_FALSE(server_.HasInput());
}

TEST_F(KeyUpdates, TenInASecondAreTakenForEver) {
  ReadAfter(100, "data", Instant());
  for (int second = 1; second <= 100; ++second) {
    ASSERT_EQ(ReadAfter(10, "data", Instant::FromNanos(second * 1'000'000'000LL)), "data");
  }
  EXPECT_EQ(ReadAfter(11, "data", Instant::FromNanos(101 * 1'000'000'000LL)), "");
  EXPECT_TRUE(server_.flooded());
}

TEST_F(KeyUpdates, DataIsNoMessage) {
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(ReadAfter(0, "data", Instant()), "data");
}

}  // namespace
}  // namespace levee::tls
