// SPDX-License-Identifier: Apache-2.0
// A SPIFFE identity with its certificate, as a Workload API gives it (X.509-SVID).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tls/context.h"

namespace levee::tls {

// In the form in which files have it, so that both are installed in one way. Immutable but for its
// end, at which the key is overwritten.
struct Svid {
  Svid() = default;
  ~Svid();
  Svid(const Svid&) = delete;
  Svid& operator=(const Svid&) = delete;

  // Whether a handshake would use the same.
  bool operator==(const Svid& other) const {
    return credentials.certificate == other.credentials.certificate &&
           credentials.key == other.credentials.key && bundle == other.bundle;
  }

  std::string id;  // "spiffe://shop/cart", as the certificate has it
  Credentials credentials;
  std::string bundle;  // the CA certificates of the trust domain, as PEM
  absl::Time expires;
};

// The same as the Workload API has it, in DER.
struct SvidBytes {
  std::string_view id;
  std::string_view chain;   // certificates one after the other, the leaf first
  std::string_view key;     // PKCS#8
  std::string_view bundle;  // certificates one after the other
};

// Overwrites a key that is not needed any more.
void Wipe(std::string& key);

// Reads it, and checks that it can be used now, by OpenSSL's clock: the certificate is for the ID
// and for nobody else, is no CA's, and has the key. An error is half a sentence: "the key does not
// belong to the certificate".
absl::StatusOr<std::shared_ptr<const Svid>> ParseSvid(const SvidBytes& bytes);

// Returns what the Workload API at the socket, "unix:///run/spire/agent.sock", has given last;
// nullptr if there is nothing yet.
using SvidSource = std::function<std::shared_ptr<const Svid>(const std::string& socket)>;

}  // namespace levee::tls
