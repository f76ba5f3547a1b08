// SPDX-License-Identifier: Apache-2.0
// What TLS connections of one kind have in common: certificates, keys, and what peers must show.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tls/peer_name.h"
#include "tls/result.h"

namespace levee::tls {

// A certificate with its chain, and its private key, as PEM texts.
struct Credentials {
  std::string certificate;  // the leaf first
  std::string key;          // without a passphrase
};

// The CA certificates whose signature is trusted. Immutable; any thread.
class TrustStore {
 public:
  // `pem`: one CA certificate or more, and other texts between them. An error is half a sentence
  // that follows the name of the file.
  static absl::StatusOr<std::shared_ptr<const TrustStore>> Parse(const std::string& pem);

  ~TrustStore();
  TrustStore(const TrustStore&) = delete;
  TrustStore& operator=(const TrustStore&) = delete;

  X509_STORE* get() const { return store_; }

 private:
  explicit TrustStore(X509_STORE* store) : store_(store) {}

  X509_STORE* const store_;
};

struct ContextOptions {
  // A client without credentials shows no certificate. A server needs them, or `waits_for`.
  std::optional<Credentials> credentials;

  // Where these come from, for people: a file, or the socket of a Workload API; empty without.
  std::string source;

  // By which the peer's certificate is judged; nullptr: it is not judged. A server without it asks
  // its clients for no certificate.
  std::shared_ptr<const TrustStore> trusted;

  // Of a client: the server's certificate must carry one of these names. If there are none, it must
  // carry the name that the session has been given.
  std::vector<AltName> names;

  // Not empty: the peer's certificate must be an SVID of this trust domain.
  std::string trust_domain;

  // Not empty: there are no credentials yet, and this is why. Every handshake fails, with this
  // text.
  std::string waits_for;

  // Of a server with `trusted`: whether a client must show a certificate.
  bool client_certificate_required = true;

  Version min_version = Version::k13;

  // Whether the peer must speak HTTP/2 (ALPN, RFC 7301). A server always demands it; a client
  // without it offers no protocol.
  bool http2 = true;
};

// Immutable, so that all threads may use it. OpenSSL's documentation of SSL_CTX says the same.
class Context {
 public:
  // An error says which part is wrong: "the key does not belong to the certificate". The own
  // certificate must be valid now, by OpenSSL's clock.
  static absl::StatusOr<std::shared_ptr<const Context>> Make(Role role, ContextOptions options);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Role role() const { return role_; }
  const ContextOptions& options() const { return options_; }

  // When the own certificate began to be valid; Infinite in the past if there is none.
  absl::Time begins() const { return begins_; }
  // When it expires; Infinite if there is none.
  absl::Time expires() const { return expires_; }

  // Whom the own certificate names, as IdentityOf; empty if there is none.
  const std::string& identity() const { return identity_; }

  SSL_CTX* get() const { return context_; }

 private:
  Context(Role role, ContextOptions options, SSL_CTX* context)
      : role_(role), options_(std::move(options)), context_(context) {}

  absl::Status Load();
  absl::Status LoadCertificate(const std::string& pem);
  // Adds what is missing between a certificate that came alone and a root, from what is trusted.
  void CompleteChain();
  absl::Status LoadKey(const std::string& pem);
  void JudgePeers();

  const Role role_;
  ContextOptions options_;
  SSL_CTX* const context_;
  absl::Time begins_ = absl::InfinitePast();
  absl::Time expires_ = absl::InfiniteFuture();
  std::string identity_;
};

}  // namespace levee::tls
