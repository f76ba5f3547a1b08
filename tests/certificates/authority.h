// SPDX-License-Identifier: Apache-2.0
// A CA of the tests' own, and the certificates that it signs.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace levee {

// A certificate, and the chain above it if there is one, and its key, as PEM texts.
struct PemPair {
  std::string certificate;
  std::string key;
};

// Returns the DER of each part of a PEM text, one after the other.
std::string DerOf(const std::string& pem);

class Authority {
 public:
  struct Wanted {
    std::vector<std::string> names = {"localhost"};  // DNS names; those with "://" are URIs, unless
                                                     // they begin with "DNS:" or "URI:"
    absl::Duration begins_in = -absl::Hours(1);
    absl::Duration ends_in = absl::Hours(1);
  };

  // `issuer`: signs this one's certificate; nullptr: it signs its own.
  explicit Authority(const Authority* issuer = nullptr);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  // The CA's certificate, as PEM.
  const std::string& pem() const { return pem_; }

  // Signs a certificate for a new key on the curve P-256.
  PemPair Issue(const Wanted& wanted) const;
  PemPair Issue() const { return Issue(Wanted()); }

 private:
  EVP_PKEY* const key_;
  X509* const certificate_;
  std::string pem_;
};

}  // namespace levee
