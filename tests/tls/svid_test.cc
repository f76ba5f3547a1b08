// SPDX-License-Identifier: Apache-2.0
#include "tls/svid.h"

#include <string>

#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tls/peer_name.h"

namespace levee::tls {
namespace {

using ::testing::HasSubstr;

// What an API would have sent.
struct Given {
  explicit Given(const Authority& authority,
                 const Authority::Wanted& wanted = {.names = {"spiffe://shop/cart"}},
                 std::string id_ = "spiffe://shop/cart")
      : pair(authority.Issue(wanted)),
        id(std::move(id_)),
        chain(DerOf(pair.certificate)),
        key(DerOf(pair.key)),
        bundle(DerOf(authority.pem())) {}

  absl::StatusOr<std::shared_ptr<const Svid>> Parse() const {
    return ParseSvid({.id = id, .chain = chain, .key = key, .bundle = bundle});
  }
  std::string Fault() const { return std::string(Parse().status().message()); }

  PemPair pair;
  std::string id, chain, key, bundle;
};

TEST(Svid, IsInTheFormInWhichFilesHaveIt) {
  const Authority authority;
  const Given given(authority);
  const auto svid = given.Parse();
  ASSERT_TRUE(svid.ok()) << svid.status();
  EXPECT_EQ((*svid)->id, "spiffe://shop/cart");
  EXPECT_EQ((*svid)->credentials.certificate, given.pair.certificate);
  EXPECT_EQ((*svid)->credentials.key, given.pair.key);
  EXPECT_EQ((*svid)->bundle, authority.pem());
  EXPECT_NEAR(absl::ToDoubleSeconds((*svid)->expires - absl::Now()), 3600, 60);
  EXPECT_TRUE(**svid == **given.Parse());
  EXPECT_FALSE(**svid == **Given(authority).Parse());
}

TEST(Svid, AChainAndSeveralCasAreKept) {
  const Authority authority, other;
  Given given(authority);
  given.chain += DerOf(other.pem());
  given.bundle += DerOf(other.pem());
  const auto svid = given.Parse();
  ASSERT_TRUE(svid.ok()) << svid.status();
  EXPECT_EQ((*svid)->credentials.certificate, given.pair.certificate + other.pem());
  EXPECT_EQ((*svid)->bundle, authority.pem() + other.pem());
}

TEST(Svid, EachWayToBeUselessHasItsOwnWords) {
  const Authority authority;
  const auto fault = [&](auto change) {
    Given given(authority);
    change(given);
    return given.Fault();
  };
  EXPECT_EQ(fault([](Given& given) { given.chain = "hello"; }), "the certificate cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.chain = ""; }), "the certificate cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.chain.pop_back(); }), "the certificate cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.chain += "x"; }), "the certificate cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.key = "hello"; }), "the key cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.key += "x"; }), "the key cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.bundle = ""; }),
            "the trust domain's CAs cannot be read");
  EXPECT_EQ(fault([](Given& given) { given.bundle.pop_back(); }),
            "the trust domain's CAs cannot be read");
  EXPECT_EQ(fault([&](Given& given) { given.key = DerOf(authority.Issue().key); }),
            "the key does not belong to the certificate");
  EXPECT_EQ(fault([&](Given& given) { given.id = "spiffe://shop/web"; }),
            "the certificate is for spiffe://shop/cart and not for spiffe://shop/web");
  EXPECT_EQ(fault([&](Given& given) { given.id = "cart"; }), "\"cart\" is no SPIFFE ID");
  EXPECT_EQ(Given(authority, {.names = {"spiffe://shop/cart", "https://cart/"}}).Fault(),
            "the certificate is for spiffe://shop/cart, https://cart/ and not for "
            "spiffe://shop/cart");
  EXPECT_THAT(
      Given(authority, {.names = {"spiffe://shop/cart"}, .ends_in = -absl::Minutes(1)}).Fault(),
      HasSubstr("the certificate has expired"));
}

TEST(Svid, TheCertificateOfACaIsNone) {
  const Authority authority;
  Given given(authority);
  given.chain = given.bundle;
  EXPECT_THAT(given.Fault(), HasSubstr("the certificate is for no name"));
}

TEST(SpiffeId, HasATrustDomainWithoutCaseAndAPath) {
  EXPECT_EQ(TrustDomainOf("spiffe://Shop.Example/Cart"), "shop.example");
  EXPECT_EQ(SpiffeIdOf("SPIFFE://Shop/Cart"), "spiffe://shop/Cart");
  for (const char* const none : {"", "spiffe://", "spiffe://shop", "spiffe://shop/",
                                 "spiffe:///cart", "https://shop/cart"}) {
    EXPECT_EQ(TrustDomainOf(none), "") << none;
    EXPECT_EQ(SpiffeIdOf(std::string(none)), "") << none;
  }
}

}  // namespace
}  // namespace levee::tls
