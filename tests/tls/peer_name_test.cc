// SPDX-License-Identifier: Apache-2.0
#include "tls/peer_name.h"

#include <openssl/x509.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "certificates/authority.h"
#include "gtest/gtest.h"

namespace levee::tls {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// Returns a certificate with these names, and the subject CN=a test's peer.
Certificate With(const std::vector<std::string>& names) {
  static const Authority authority;
  const std::string der = DerOf(authority.Issue({.names = names}).certificate);
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return {d2i_X509(nullptr, &bytes, static_cast<long>(der.size())), X509_free};
}

std::string NameBy(const std::vector<std::string>& names) { return IdentityOf(With(names).get()); }

TEST(PeerName, IsTheSpiffeIdElseTheUriElseTheDnsNameElseTheSubject) {
  EXPECT_EQ(NameBy({"cart.shop", "spiffe://Shop/cart"}), "spiffe://shop/cart");
  EXPECT_EQ(NameBy({"cart.shop", "https://cart/"}), "https://cart/");
  EXPECT_EQ(NameBy({"Cart.shop", "web.shop"}), "cart.shop");
  EXPECT_EQ(NameBy({}), "CN=a test's peer");
}

TEST(PeerName, ANameOfOneKindIsNeverTakenForOneOfAnother) {
  for (const std::string text : {"spiffe://shop/admin", "uri:spiffe://shop/admin", "dns:cart.shop",
                                 "CN=admin", "cart..shop", "a b"}) {
    EXPECT_EQ(NameBy({"DNS:" + text}), "CN=a test's peer") << text;
    EXPECT_EQ(NameBy({"DNS:" + text, "cart.shop"}), "cart.shop") << text;
  }
}

TEST(PeerName, ACallerWithTwoUrisHasNoSpiffeId) {
  for (const char* const other :
       {"spiffe://shop/web", "https://cart.shop/", "spiffe://shop/admin"}) {
    EXPECT_EQ(NameBy({"spiffe://shop/admin", other, "cart.shop"}), "cart.shop");
    EXPECT_EQ(NameBy({other, "spiffe://shop/admin"}), "CN=a test's peer");
  }
}

TEST(PeerName, AUriThatIsNoSpiffeIdIsNotTakenForOne) {
  for (const std::string uri :
       {"spiffe://shop", "spiffe://shop/a/../admin", "spiffe://shop/admin?a", "spiffe://a@shop/b",
        "spiffe://shop:1/admin", "spiffe://shop//admin", "spiffe://shop/%61dmin"}) {
    EXPECT_EQ(NameBy({uri}), "CN=a test's peer") << uri;
  }
}

TEST(PeerName, ADnsNameOfAServiceIsNotTakenForTheUriThatItSpells) {
  const Certificate certificate = With({"DNS:spiffe://shop/cart"});
  EXPECT_FALSE(HasOneOf(certificate.get(), {*ParseAltName("uri:spiffe://shop/cart")}));
  EXPECT_FALSE(ParseAltName("dns:spiffe://shop/cart").ok());
}

TEST(PeerName, AUriWithoutASchemeIsNotTakenForADnsNameOrASubject) {
  for (const char* const text : {"URI:cart.shop", "URI:CN=admin", "URI:://x"}) {
    EXPECT_EQ(NameBy({text, "web.shop"}), "web.shop") << text;
  }
}

}  // namespace
}  // namespace levee::tls
