// SPDX-License-Identifier: Apache-2.0
// Two sessions back to back, without a network.
#include "tls/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "certificates/authority.h"

namespace levee::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Credentials Shown(const PemPair& pair) { return {pair.certificate, pair.key}; }

std::shared_ptr<const TrustStore> Trusting(const Authority& authority) {
  return *TrustStore::Parse(authority.pem());
}

ByteSpan Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A client and a server, whose bytes pass in pieces of a size that the test chooses.
struct Ends {
  // `clients_time`: how much the client's clock is ahead.
  Ends(ContextOptions of_client, ContextOptions of_server, std::string host = "localhost",
       absl::Duration clients_time = absl::ZeroDuration())
      : Ends(Later(*Context::Make(Role::kClient, std::move(of_client)), clients_time),
             *Context::Make(Role::kServer, std::move(of_server)), std::move(host)) {}
  Ends(std::shared_ptr<const Context> of_client, std::shared_ptr<const Context> of_server,
       std::string host = "localhost")
      : server_context(of_server),
        client(std::move(of_client), std::move(host)),
        server(std::move(of_server), "") {}

  static std::shared_ptr<const Context> Later(std::shared_ptr<const Context> context,
                                              absl::Duration ahead) {
    X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(context->get()),
                               absl::ToTimeT(absl::Now() + ahead));
    return context;
  }

  // Lets both sides go on until neither has anything to send.
  void ShakeHands(size_t piece = SIZE_MAX) {
    client.Continue({});
    while (PassOn(client, server, piece) || PassOn(server, client, piece)) {
    }
  }

  // Returns all plain bytes that have come.
  static std::string ReadAll(Session& session, ByteSpan received = {}) {
    std::string all;
    std::vector<uint8_t> some(1000);
    size_t size = session.Read(received, some, Instant());
    for (; size > 0; size = session.Read({}, some, Instant())) {
      all.append(some.begin(), some.begin() + static_cast<ptrdiff_t>(size));
    }
    return all;
  }

  // Passes what `from` has to send. Returns whether it had anything.
  bool PassOn(Session& from, Session& to, size_t piece) {
    const std::vector<uint8_t> bytes(from.output().begin(), from.output().end());
    from.Sent(bytes.size());
    for (size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size() - at)) {
      const ByteSpan part = ByteSpan(bytes).subspan(at, std::min(piece, bytes.size() - at));
      if (to.state() == Session::State::kHandshake) {
        to.Continue(part);
        if (to.HasInput()) (&to == &server ? at_server : at_client) += ReadAll(to);
      } else {
        (&to == &server ? at_server : at_client) += ReadAll(to, part);
      }
    }
    return !bytes.empty();
  }

  const std::shared_ptr<const Context> server_context;
  Session client;
  Session server;
  std::string at_client;
  std::string at_server;
};

// Each of two sides that trust one CA.
struct Peers {
  Authority authority;
  ContextOptions client{.trusted = Trusting(authority)};
  ContextOptions server{.credentials = Shown(authority.Issue())};
};

TEST(Session, PassesBytesInBothDirections) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  ASSERT_EQ(ends.client.state(), Session::State::kOpen) << ends.client.failure().text;
  ASSERT_EQ(ends.server.state(), Session::State::kOpen) << ends.server.failure().text;
  EXPECT_EQ(ends.client.version(), Version::k13);
  const std::vector<ByteSpan> pieces = {Bytes("one "), Bytes(""), Bytes("two")};
  EXPECT_EQ(ends.client.Write(pieces, 0), 7);
  EXPECT_EQ(ends.server.Write({pieces.data(), 1}, 1), 3);
  ends.PassOn(ends.client, ends.server, SIZE_MAX);
  ends.PassOn(ends.server, ends.client, SIZE_MAX);
  EXPECT_EQ(ends.at_server, "one two");
  EXPECT_EQ(ends.at_client, "ne ");
}

TEST(Session, T5_LosesNothingOfRecordsThatComeByteByByte) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.ShakeHands(1);
  ASSERT_EQ(ends.server.state(), Session::State::kOpen) << ends.server.failure().text;
  const std::string text(40'000, 'x');
  const ByteSpan bytes = Bytes(text);
  EXPECT_EQ(ends.client.Write({&bytes, 1}, 0), text.size());
  ends.PassOn(ends.client, ends.server, 1);
  EXPECT_EQ(ends.at_server, text);
}

TEST(Session, KeepsWhatCameBehindTheHandshake) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.client.Continue({});
  ends.PassOn(ends.client, ends.server, SIZE_MAX);
  ends.PassOn(ends.server, ends.client, SIZE_MAX);
  const ByteSpan first = Bytes("PRI");
  ends.client.Write({&first, 1}, 0);  // leaves together with the last bytes of the handshake
  ends.PassOn(ends.client, ends.server, SIZE_MAX);
  EXPECT_EQ(ends.at_server, "PRI");
}

TEST(Session, WritesABoundedPartAtATimeInFullRecords) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  const std::string text(1000, 'x');
  const std::vector<ByteSpan> pieces(1000, Bytes(text));
  const size_t size = ends.client.Write(pieces, 0);
  EXPECT_EQ(size, Session::kMostAtOnce);
  EXPECT_EQ(ends.client.output().size(), size + 4 * 22);  // what TLS 1.3 adds to a record
}

TEST(Session, TellsThatThePeerHasEnded) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  ends.client.EndWriting();
  ends.PassOn(ends.client, ends.server, SIZE_MAX);
  EXPECT_EQ(ends.server.state(), Session::State::kEnded);
}

// The client finds the server's certificate wrong, and says what the matter is.
struct Wrong {
  const char* name;
  Result result;
  const char* text;
  absl::Duration clients_time;
  std::vector<std::string> names = {"localhost"};
};

class WrongCertificate : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCertificate, T1_HasItsOwnWords) {
  Peers peers;
  peers.server.credentials = Shown(peers.authority.Issue({.names = GetParam().names}));
  Ends ends(peers.client, peers.server, "localhost", GetParam().clients_time);
  ends.ShakeHands();
  EXPECT_EQ(ends.client.state(), Session::State::kFailed);
  EXPECT_EQ(ends.client.failure().result, GetParam().result);
  EXPECT_EQ(ends.client.failure().text, GetParam().text);
  EXPECT_EQ(ends.server.failure().result, Result::kCertificateRefused)
      << ends.server.failure().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongCertificate,
    ::testing::Values(
        Wrong{"Expired", Result::kExpired, "the service's certificate has expired", absl::Hours(2)},
        Wrong{"NotYetValid", Result::kNotYetValid, "the service's certificate is not yet valid",
              -absl::Hours(2)},
        Wrong{
            "WrongName",
            Result::kWrongName,
            "the service's certificate is for cart.shop, spiffe://shop/cart and not for localhost",
            absl::ZeroDuration(),
            {"cart.shop", "spiffe://shop/cart"}}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(Session, T1_DoesNotTrustAnotherCa) {
  Peers peers;
  const Authority other;
  peers.server.credentials = Shown(other.Issue());
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.client.failure().result, Result::kUnknownCa);
  EXPECT_EQ(ends.client.failure().text, "the service's certificate is not signed by a trusted CA");
  EXPECT_EQ(ends.server.failure().text, "the caller does not trust the CA of this certificate");
}

// Returns how many certificates a side shows above its own.
int CertificatesAbove(const Context& context) {
  STACK_OF(X509)* above = nullptr;
  SSL_CTX_get0_chain_certs(context.get(), &above);
  return std::max(0, sk_X509_num(above));
}

TEST(Session, ACertificateThatCameAloneIsShownWithThoseBetweenItAndTheRoot) {
  Peers peers;
  const Authority between(&peers.authority);
  peers.server.credentials = Shown(between.Issue());
  peers.server.trusted = *TrustStore::Parse(peers.authority.pem() + between.pem());
  peers.client.credentials = Shown(peers.authority.Issue());
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.client.state(), Session::State::kOpen) << ends.client.failure().text;
  EXPECT_EQ(CertificatesAbove(*ends.server_context), 1) << "the root is not shown";
}

TEST(Session, ACertificateOfARootIsShownAlone) {
  Peers peers;
  peers.server.trusted = Trusting(peers.authority);
  peers.client.credentials = Shown(peers.authority.Issue());
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.client.state(), Session::State::kOpen) << ends.client.failure().text;
  EXPECT_EQ(CertificatesAbove(*ends.server_context), 0);
}

TEST(Session, T1_TakesAnyCertificateIfItIsToldTo) {
  Peers peers;
  const Authority other;
  Ends ends({}, {.credentials = Shown(other.Issue())});
  ends.ShakeHands();
  EXPECT_EQ(ends.client.state(), Session::State::kOpen) << ends.client.failure().text;
}

TEST(Session, T1_ChecksTheGivenNamesAlone) {
  Peers peers;
  peers.server.credentials =
      Shown(peers.authority.Issue({.names = {"localhost", "spiffe://Shop/cart"}}));
  for (const auto& [name, good] :
       {std::pair("uri:spiffe://shop/cart", true), std::pair("uri:spiffe://shop/Cart", false),
        std::pair("dns:localhost", true), std::pair("dns:cart.shop", false)}) {
    peers.client.names = {*ParseAltName(name)};
    Ends ends(peers.client, peers.server, "cart.shop");
    ends.ShakeHands();
    EXPECT_EQ(ends.client.state() == Session::State::kOpen, good) << name;
  }
}

TEST(Session, T1_AnEndpointWithoutANameMatchesNoCertificate) {
  Peers peers;
  Ends ends(peers.client, peers.server, "");
  ends.ShakeHands();
  EXPECT_EQ(ends.client.failure().result, Result::kWrongName);
  EXPECT_THAT(ends.client.failure().text, HasSubstr("give tls.server_name"));
}

TEST(Session, T1_ACertificateWithTwoUrisHasNoSpiffeId) {
  Peers peers;
  peers.server.credentials =
      Shown(peers.authority.Issue({.names = {"spiffe://shop/cart", "https://cart.shop/"}}));
  peers.client.names = {*ParseAltName("uri:spiffe://shop/cart")};
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.client.failure().result, Result::kWrongName);
}

TEST(Session, T1_AServerKnowsItsClientsByTheirCertificates) {
  Peers peers;
  peers.server.trusted = Trusting(peers.authority);
  peers.client.credentials =
      Shown(peers.authority.Issue({.names = {"cart.shop", "spiffe://shop/cart"}}));
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  ASSERT_EQ(ends.server.state(), Session::State::kOpen) << ends.server.failure().text;
  EXPECT_EQ(ends.server.PeerIdentity(), "spiffe://shop/cart");
}

TEST(Session, BothSidesDemandAnSvidOfTheTrustDomain) {
  Peers peers;
  peers.server.trusted = Trusting(peers.authority);
  const auto svid = [&](const std::vector<std::string>& names) {
    return Shown(peers.authority.Issue({.names = names}));
  };
  const std::vector<std::pair<std::vector<std::string>, bool>> cases = {
      {{"localhost", "spiffe://shop/cart"}, true},
      {{"localhost", "spiffe://SHOP/cart"}, true},
      {{"localhost", "spiffe://bank/cart"}, false},
      {{"localhost", "spiffe://shop/cart", "spiffe://shop/web"}, false},
      {{"localhost"}, false}};
  for (const auto& [names, good] : cases) {
    for (const bool servers : {true, false}) {
      peers.client.credentials = svid(servers ? std::vector<std::string>{"localhost"} : names);
      peers.server.credentials = svid(servers ? names : std::vector<std::string>{"localhost"});
      peers.client.trust_domain = servers ? "shop" : "";
      peers.server.trust_domain = servers ? "" : "shop";
      Ends ends(peers.client, peers.server);
      ends.ShakeHands();
      const Session& judge = servers ? ends.client : ends.server;
      EXPECT_EQ(judge.state() == Session::State::kOpen, good) << names.back();
      if (good) continue;
      EXPECT_EQ(judge.failure().result, Result::kWrongName);
      EXPECT_THAT(judge.failure().text, HasSubstr("which is no SVID of the trust domain shop"));
    }
  }
}

TEST(Session, WithoutCredentialsYetAHandshakeFailsWithTheReason) {
  Peers peers;
  Ends client({.waits_for = "wait"}, peers.server);
  client.ShakeHands();
  EXPECT_EQ(client.client.state(), Session::State::kFailed);
  EXPECT_EQ(client.client.failure().text, "wait");
  EXPECT_EQ(client.client.failure().result, Result::kOther);
  EXPECT_EQ(client.server.state(), Session::State::kHandshake);  // It has heard nothing.
  Ends server(peers.client, {.waits_for = "wait"});
  server.ShakeHands();
  EXPECT_EQ(server.server.state(), Session::State::kFailed);
  EXPECT_EQ(server.server.failure().text, "wait");
  EXPECT_EQ(server.client.state(), Session::State::kFailed);  // It was told.
}

TEST(Session, T1_AClientLearnsThatItNeedsACertificate) {
  Peers peers;
  peers.server.trusted = Trusting(peers.authority);
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.server.failure().result, Result::kCertificateRequired);
  EXPECT_EQ(ends.server.failure().text, "the caller has shown no certificate");
  EXPECT_EQ(ends.client.failure().result, Result::kCertificateRequired);
  EXPECT_EQ(ends.client.failure().text, "the service wants a client certificate");
}

TEST(Session, T1_AClientMayComeWithoutACertificateIfThatIsOptional) {
  Peers peers;
  peers.server.trusted = Trusting(peers.authority);
  peers.server.client_certificate_required = false;
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.server.state(), Session::State::kOpen) << ends.server.failure().text;
  EXPECT_EQ(ends.server.PeerIdentity(), "");
}

TEST(Session, T1_AClientLearnsThatItsCertificateIsRefused) {
  Peers peers;
  const Authority other;
  peers.server.trusted = Trusting(peers.authority);
  peers.client.credentials = Shown(other.Issue());
  Ends ends(peers.client, peers.server);
  ends.ShakeHands();
  EXPECT_EQ(ends.server.failure().result, Result::kUnknownCa);
  EXPECT_EQ(ends.client.failure().result, Result::kCertificateRefused);
  EXPECT_EQ(ends.client.failure().text, "the service does not trust the CA of Levee's certificate");
}

// Keeps a side from newer versions.
std::shared_ptr<const Context> AtMost12(std::shared_ptr<const Context> context) {
  SSL_CTX_set_max_proto_version(context->get(), TLS1_2_VERSION);
  return context;
}

TEST(Session, T1_SidesWithoutACommonVersionSaySo) {
  Peers peers;
  Session client(*Context::Make(Role::kClient, peers.client), "localhost");
  peers.server.min_version = Version::k12;
  Session server(AtMost12(*Context::Make(Role::kServer, peers.server)), "");
  client.Continue({});
  server.Continue(client.output());
  client.Continue(server.output());
  EXPECT_EQ(server.failure().result, Result::kVersion) << server.failure().text;
  EXPECT_EQ(client.failure().result, Result::kVersion) << client.failure().text;
  EXPECT_EQ(client.failure().text, "the service speaks no version of TLS that is allowed here");
}

TEST(Session, T1_SpeaksVersion12WhereThatIsAllowed) {
  Peers peers;
  peers.server.min_version = peers.client.min_version = Version::k12;
  Ends ends(peers.client, peers.server);
  AtMost12(ends.server_context);
  Ends old(AtMost12(*Context::Make(Role::kClient, peers.client)), ends.server_context);
  old.ShakeHands();
  ASSERT_EQ(old.client.state(), Session::State::kOpen) << old.client.failure().text;
  EXPECT_EQ(old.client.version(), Version::k12);
  EXPECT_EQ(old.server.version(), Version::k12);
}

TEST(Session, T1_AServiceThatDoesNotChooseHttp2IsRefused) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  SSL_CTX_set_alpn_select_cb(ends.server_context->get(), nullptr, nullptr);
  Ends without(*Context::Make(Role::kClient, peers.client), ends.server_context);
  without.ShakeHands();
  EXPECT_EQ(without.client.failure().result, Result::kNoAlpn);
  EXPECT_EQ(without.client.failure().text, "the service did not choose h2 (ALPN)");
}

// A client of OpenSSL's own, which can do what a Session does not do by itself.
class OtherClient {
 public:
  explicit OtherClient(const Context& context) : ssl_(SSL_new(context.get())) {
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_);
  }
  ~OtherClient() { SSL_free(ssl_); }
  OtherClient(const OtherClient&) = delete;
  OtherClient& operator=(const OtherClient&) = delete;

  SSL* ssl() { return ssl_; }

  // Returns what it has to send.
  std::string Output() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes);
    std::string output(bytes, static_cast<size_t>(size));
    (void)BIO_reset(SSL_get_wbio(ssl_));
    return output;
  }

  // Takes what the session has to send.
  void Take(Session& session) {
    const ByteSpan output = session.output();
    BIO_write(SSL_get_rbio(ssl_), output.data(), static_cast<int>(output.size()));
    session.Sent(output.size());
  }

 private:
  SSL* const ssl_;
};

TEST(Session, T5_GoesOnThroughAChangeOfKeysInMidStream) {
  Peers peers;
  const auto client_context = *Context::Make(Role::kClient, peers.client);
  SSL_CTX_set_verify(client_context->get(), SSL_VERIFY_NONE, nullptr);
  OtherClient client(*client_context);
  Session server(*Context::Make(Role::kServer, peers.server), "");
  while (SSL_do_handshake(client.ssl()) != 1 || server.state() == Session::State::kHandshake) {
    server.Continue(Bytes(client.Output()));
    client.Take(server);
  }
  ASSERT_EQ(server.state(), Session::State::kOpen) << server.failure().text;
  for (const std::string text : {"first", "second"}) {
    ASSERT_EQ(SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    SSL_write(client.ssl(), text.data(), static_cast<int>(text.size()));
    EXPECT_EQ(Ends::ReadAll(server, Bytes(client.Output())), text);
    const ByteSpan answer = Bytes(text);
    EXPECT_EQ(server.Write({&answer, 1}, 0), text.size());
    client.Take(server);
    std::string read(100, 0);
    read.resize(static_cast<size_t>(std::max(0, SSL_read(client.ssl(), read.data(), 100))));
    EXPECT_EQ(read, text);
  }
}

TEST(Session, SaysThatThePeerDoesNotSpeakTls) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.server.Continue(Bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_EQ(ends.server.failure().text, "the caller does not speak TLS");
  ends.client.Continue({});
  ends.client.Continue(Bytes("HTTP/1.1 400 Bad Request\r\n\r\n"));
  EXPECT_EQ(ends.client.failure().text, "the service does not speak TLS");
}

TEST(Session, SaysThatTheHandshakeTookTooLong) {
  Peers peers;
  Ends ends(peers.client, peers.server);
  ends.client.FailInHandshake(Result::kTimeout);
  EXPECT_EQ(ends.client.failure().text, "the TLS handshake took too long");
}

}  // namespace
}  // namespace levee::tls
