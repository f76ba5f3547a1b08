// SPDX-License-Identifier: Apache-2.0
// Callers whose TLS is hostile: how many bytes the sidecar holds for each byte of small records, of
// which the table in docs/limits.md has what this prints, and records that carry no data.
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/pem_files.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"
#include "integration/secure_peer.h"
#include "integration/tcp.h"

namespace levee {
namespace {

class CostOfRecordsSoak : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer's own memory is many times more";
#endif
  }

  struct Caller {
    Caller(const std::string& address, const std::shared_ptr<const tls::Context>& context,
           std::string_view first)
        : fd(ConnectTo(address)), connection(fd), tls(fd, context, first) {}

    const int fd;
    TcpConnection connection;
    SecurePeer tls;
  };

  // Opens connections with a call on each, behind which `more` comes. All is sent with the last
  // step of the handshake.
  void Open(int connections, const std::string& more = "") {
    const auto context = *tls::Context::Make(
        tls::Role::kClient, {.trusted = *tls::TrustStore::Parse(authority_.pem())});
    const std::string greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                                 EncodeFrame(FrameType::kSettings, 0, 0, "") + OpenCall(0) + more;
    for (int i = 0; i < connections; ++i) {
      callers_.push_back(std::make_unique<Caller>(sidecar_.address(), context, greeting));
      ASSERT_TRUE(callers_.back()->tls.open());
    }
    AwaitCalls(static_cast<double>(callers_.size()));
  }

  size_t Send(Caller& caller, std::string_view plain, size_t each) {
    const std::string records = caller.tls.Encrypt(plain, each);
    EXPECT_TRUE(caller.connection.Send(records));
    return records.size();
  }

  void AwaitCalls(double calls) {
    ASSERT_TRUE(sidecar_.WaitForSum("levee_active_calls", {}, calls));
  }

  // Prints a row of the table, and returns the bytes held for each one that was sent.
  double Held(const char* name, long before, size_t sent, double times) const {
    const auto held = static_cast<double>(sidecar_.process().ResidentBytes() - before);
    const double per_byte = held / static_cast<double>(sent);
    std::printf("| %s | %.1f | %.1f | %.1f |\n", name, static_cast<double>(sent) / times,
                held / times, per_byte);
    return per_byte;
  }

  const Authority authority_;
  const PemFiles folder_;
  const RawUpstream stuck_{TakeNoBodies};
  const SidecarProcess sidecar_{
      {.endpoints = {stuck_.address()},
       .retry = kNoRetry,
       .listener = absl::StrCat(", tls: {", folder_.Put("levee", authority_.Issue()), "}"),
       .more = "limits: {memory: 4GiB}\n"}};
  std::vector<std::unique_ptr<Caller>> callers_;
};

// Whatever is in them: the frames cost what they cost without TLS.
TEST_F(CostOfRecordsSoak, RecordsOfOneByteAreNotKept) {
  constexpr int kConnections = 50;
  Open(kConnections);
  std::string frames;
  for (int i = 0; i < 900; ++i) frames += EncodeFrame(FrameType::kPing, 0, 0, "12345678");
  const long before = sidecar_.process().ResidentBytes();
  size_t sent = 0;
  for (const auto& caller : callers_) sent += Send(*caller, frames, 1);
  for (const auto& caller : callers_) Send(*caller, OpenCall(1), SecurePeer::kRecord);
  AwaitCalls(2 * kConnections);
  const double records = static_cast<double>(frames.size()) * kConnections;
  EXPECT_LT(Held("a TLS record of one byte", before, sent, records), 1);
}

// OpenSSL has a buffer for a record from its first byte to its last: one of a connection at a time.
TEST_F(CostOfRecordsSoak, ARecordThatHasBegunTakesOneBuffer) {
  constexpr size_t kConnections = 300, kSent = 6;  // the record's head, and a byte
  Open(2 * kConnections);
  long before = 0;
  // The first half of them takes what the handshakes have left.
  for (size_t i = 0; i < callers_.size(); ++i) {
    if (i == kConnections) before = sidecar_.process().ResidentBytes();
    const std::string record = callers_[i]->tls.Encrypt(std::string(SecurePeer::kRecord, '\0'));
    ASSERT_TRUE(callers_[i]->connection.Send(record.substr(0, kSent)));
  }
  Open(1);  // Its call tells that the worker has read them.
  const double per_byte =
      Held("a TLS record that has begun", before, kConnections * kSent, kConnections);
  EXPECT_LT(per_byte * 6, 24 * 1024);
}

// What comes with the last step of the handshake waits in TLS, and leaves no memory behind.
TEST_F(CostOfRecordsSoak, BytesBehindTheHandshakeAreNotKept) {
  constexpr int kConnections = 100;
  constexpr auto kUnknown = static_cast<FrameType>(0xfa);
  std::string ignored;
  for (int i = 0; i < 6; ++i) ignored += EncodeFrame(kUnknown, 0, 0, std::string(16'000, '\0'));
  Open(10, ignored);
  const long before = sidecar_.process().ResidentBytes();
  Open(kConnections, ignored);
  EXPECT_LT(Held("bytes behind a handshake", before, kConnections * ignored.size(), kConnections),
            0.5);
}

// A caller with OpenSSL of its own, which changes its keys as often as it likes.
class KeyChanger {
 public:
  explicit KeyChanger(const std::string& address)
      : connection_(address), ssl_(SSL_new(context_->get())) {
    SSL_set_verify(ssl_, SSL_VERIFY_NONE, nullptr);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_);
    while (SSL_do_handshake(ssl_) != 1) {
      Send();
      const std::string got = connection_.Read(65536);
      if (got.empty()) return;
      BIO_write(SSL_get_rbio(ssl_), got.data(), static_cast<int>(got.size()));
    }
  }
  ~KeyChanger() { SSL_free(ssl_); }
  KeyChanger(const KeyChanger&) = delete;
  KeyChanger& operator=(const KeyChanger&) = delete;

  void ChangeKeys(int times) {
    for (int i = 0; i < times; ++i) {
      SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED);
      SSL_do_handshake(ssl_);
    }
    Send();
  }

  void Write(std::string_view plain) {
    SSL_write(ssl_, plain.data(), static_cast<int>(plain.size()));
    Send();
  }

 private:
  void Send() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes);
    connection_.Send({bytes, static_cast<size_t>(size)});
    (void)BIO_reset(SSL_get_wbio(ssl_));
  }

  TcpConnection connection_;
  const std::shared_ptr<const tls::Context> context_ = *tls::Context::Make(tls::Role::kClient, {});
  SSL* const ssl_;
};

TEST(AttackTls, ACallerThatChangesItsKeysAllTheTimeIsClosedBeforeAndAfterItsFirstCall) {
  const Authority authority;
  const PemFiles folder;
  const RawUpstream stuck(TakeNoBodies);
  const SidecarProcess sidecar(
      {.endpoints = {stuck.address()},
       .retry = kNoRetry,
       .listener = absl::StrCat(", tls: {", folder.Put("levee", authority.Issue()), "}")});
  KeyChanger early(sidecar.address());
  early.ChangeKeys(5000);
  ASSERT_TRUE(sidecar.WaitForSum("levee_limit_hits_total", {R"("tls_messages")"}, 1));
  KeyChanger late(sidecar.address());
  late.Write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EncodeFrame(FrameType::kSettings, 0, 0, "") +
             OpenCall(0));
  ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 1));
  late.ChangeKeys(5000);
  ASSERT_TRUE(sidecar.WaitForSum("levee_limit_hits_total", {R"("tls_messages")"}, 2));
  ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 0));
}

}  // namespace
}  // namespace levee
