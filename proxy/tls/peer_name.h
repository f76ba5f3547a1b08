// SPDX-License-Identifier: Apache-2.0
// The names in a peer's certificate, and the names that are demanded of it.
#pragma once

#include <openssl/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace levee::tls {

// A name that a certificate may carry as subjectAltName (RFC 5280, section 4.2.1.6).
struct AltName {
  enum class Kind { kDns, kUri };
  Kind kind = Kind::kDns;
  std::string value;

  bool operator==(const AltName&) const = default;
};

// Parses "dns:cart.shop" or "uri:spiffe://shop/cart". A DNS name must be one. An error is half a
// sentence that follows the field's path.
absl::StatusOr<AltName> ParseAltName(std::string_view text);

// Whether the certificate carries one of the names. A DNS name of the certificate may begin with
// "*." (RFC 9525); its subject does not count. A SPIFFE ID must be the certificate's only URI, and
// its trust domain is compared without regard to case (SPIFFE X.509-SVID, sections 2 and 5.2).
bool HasOneOf(X509* certificate, const std::vector<AltName>& names);

// Returns the SPIFFE ID of a workload with its trust domain in lower case; empty if `uri` is none
// (SPIFFE-ID, section 2): it needs a domain and a path, of segments that are not empty, "." or
// "..", and of the letters that are allowed in both.
std::string SpiffeIdOf(const std::string& uri);

// Returns "shop" of "spiffe://Shop/cart"; empty if `uri` is no SPIFFE ID of a workload.
std::string TrustDomainOf(const std::string& uri);

// Returns the same of a certificate; empty unless it carries one and no other URI (SPIFFE
// X.509-SVID, section 2).
std::string SpiffeIdOf(X509* certificate);

// Returns whom the certificate names: its only URI if that is a SPIFFE ID of a workload or no
// SPIFFE ID at all, else its first DNS name, else its subject, as "CN=cart". A DNS name that has
// not the form of one does not count. Hence no text of one kind is equal to one of another: only a
// URI has a scheme, and only a subject an equals sign before any colon.
std::string IdentityOf(X509* certificate);

// Returns all names of the certificate for a message: "cart.shop, spiffe://shop/cart"; at most
// `most`, and "no name" if there is none.
std::string NamesOf(X509* certificate, size_t most = 5);

}  // namespace levee::tls
