// SPDX-License-Identifier: Apache-2.0
#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tls/session.h"

namespace levee::tls {
namespace {

// HTTP/2 over TLS 1.2 forbids all others (RFC 9113, section 9.2.2).
constexpr char kCiphersOf12[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

// "h2", as ALPN has it (RFC 7301, section 3.1).
constexpr unsigned char kAlpn[] = {2, 'h', '2'};

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio Reading(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

// A key with a passphrase is no key for a program that nobody watches.
int NoPassphrase(char*, int, int, void*) { return -1; }

Certificate NextCertificate(BIO& from) {
  return {PEM_read_bio_X509(&from, nullptr, NoPassphrase, nullptr), X509_free};
}

// The text after the last certificate is no error; one that begins a certificate and breaks off is.
bool EndedWell() {
  const unsigned long error = ERR_peek_last_error();
  const bool end =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return end;
}

absl::Time TimeOf(const ASN1_TIME* time) {
  tm parts{};
  LEVEE_CHECK(ASN1_TIME_to_tm(time, &parts) == 1);  // The certificate was parsed.
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string Day(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// A server takes a client that offers HTTP/2, and no other.
int ChooseH2(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
             unsigned offered_size, void*) {
  unsigned char* h2 = nullptr;
  const int found = SSL_select_next_proto(&h2, size, kAlpn, sizeof kAlpn, offered, offered_size);
  *chosen = h2;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// ChooseH2 is not asked about a client without the extension.
int DemandAlpn(SSL* ssl, int* alert, void*) {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes,
                                &size) == 1) {
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
  ERR_raise(ERR_LIB_SSL, SSL_R_NO_APPLICATION_PROTOCOL);
  return SSL_CLIENT_HELLO_ERROR;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TrustStore>> TrustStore::Parse(const std::string& pem) {
  ERR_clear_error();
  std::shared_ptr<const TrustStore> trusted(new TrustStore(X509_STORE_new()));
  const Bio text = Reading(pem);
  int count = 0;
  for (Certificate next = NextCertificate(*text); next != nullptr; next = NextCertificate(*text)) {
    X509_STORE_add_cert(trusted->store_, next.get());
    ++count;
  }
  if (!EndedWell()) return absl::InvalidArgumentError("has a certificate that cannot be read");
  if (count == 0) return absl::InvalidArgumentError("has no certificate in PEM form");
  return trusted;
}

TrustStore::~TrustStore() { X509_STORE_free(store_); }

absl::StatusOr<std::shared_ptr<const Context>> Context::Make(Role role, ContextOptions options) {
  LEVEE_CHECK(role == Role::kClient || options.credentials.has_value() ||
              !options.waits_for.empty());
  std::shared_ptr<Context> context(
      new Context(role, std::move(options),
                  SSL_CTX_new(role == Role::kClient ? TLS_client_method() : TLS_server_method())));
  LEVEE_CHECK(context->context_ != nullptr);
  if (absl::Status loaded = context->Load(); !loaded.ok()) return loaded;
  return context;
}

Context::~Context() { SSL_CTX_free(context_); }

absl::Status Context::Load() {
  SSL_CTX_set_min_proto_version(
      context_, options_.min_version == Version::k12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_cipher_list(context_, kCiphersOf12);
  // Connections are few and long, so resuming a session would gain nothing.
  SSL_CTX_set_options(context_, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context_, 0);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (role_ == Role::kClient) {
    if (options_.http2) SSL_CTX_set_alpn_protos(context_, kAlpn, sizeof kAlpn);
  } else {
    SSL_CTX_set_alpn_select_cb(context_, ChooseH2, nullptr);
    SSL_CTX_set_client_hello_cb(context_, DemandAlpn, nullptr);
  }
  JudgePeers();
  if (!options_.credentials.has_value()) return absl::OkStatus();
  ERR_clear_error();
  absl::Status loaded = LoadCertificate(options_.credentials->certificate);
  if (loaded.ok()) loaded = LoadKey(options_.credentials->key);
  ERR_clear_error();
  // OpenSSL has its own copies.
  OPENSSL_cleanse(options_.credentials->key.data(), options_.credentials->key.size());
  options_.credentials->key.clear();
  return loaded;
}

absl::Status Context::LoadCertificate(const std::string& pem) {
  const Bio text = Reading(pem);
  const Certificate leaf = NextCertificate(*text);
  if (leaf == nullptr) {
    return absl::InvalidArgumentError("the certificate is not in PEM form");
  }
  begins_ = TimeOf(X509_get0_notBefore(leaf.get()));
  expires_ = TimeOf(X509_get0_notAfter(leaf.get()));
  identity_ = IdentityOf(leaf.get());
  if (X509_cmp_current_time(X509_get0_notAfter(leaf.get())) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the certificate has expired: it was valid until ", Day(expires_)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(leaf.get())) > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the certificate is not yet valid: it will be from ", Day(begins_)));
  }
  if (SSL_CTX_use_certificate(context_, leaf.get()) != 1) {
    return absl::InvalidArgumentError("the certificate cannot be used: its key is too weak");
  }
  for (Certificate next = NextCertificate(*text); next != nullptr; next = NextCertificate(*text)) {
    SSL_CTX_add1_chain_cert(context_, next.get());
  }
  if (!EndedWell()) return absl::InvalidArgumentError("the certificate's chain breaks off");
  CompleteChain();
  return absl::OkStatus();
}

void Context::CompleteChain() {
  // Else OpenSSL does the same in each handshake, which takes a twelfth of its CPU.
  SSL_CTX_set_mode(context_, SSL_MODE_NO_AUTO_CHAIN);
  STACK_OF(X509)* given = nullptr;
  SSL_CTX_get0_chain_certs(context_, &given);
  if (sk_X509_num(given) > 0 || options_.trusted == nullptr) return;
  // The peer trusts the root by itself, if at all. A certificate that leads to none goes as it is.
  SSL_CTX_build_cert_chain(context_, SSL_BUILD_CHAIN_FLAG_NO_ROOT |
                                         SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR |
                                         SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
}

absl::Status Context::LoadKey(const std::string& pem) {
  const Bio text = Reading(pem);
  const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, NoPassphrase, nullptr), EVP_PKEY_free);
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "the key cannot be read: it must be a private key in PEM form without a passphrase");
  }
  if (SSL_CTX_use_PrivateKey(context_, key.get()) != 1 ||
      SSL_CTX_check_private_key(context_) != 1) {
    return absl::InvalidArgumentError("the key does not belong to the certificate");
  }
  return absl::OkStatus();
}

void Context::JudgePeers() {
  if (options_.trusted == nullptr) return;
  SSL_CTX_set1_cert_store(context_, options_.trusted->get());
  int mode = SSL_VERIFY_PEER;
  if (role_ == Role::kServer) {
    if (options_.client_certificate_required) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    // Tells clients with several certificates which one to show.
    const STACK_OF(X509_OBJECT)* trusted = X509_STORE_get0_objects(options_.trusted->get());
    for (int i = 0; i < sk_X509_OBJECT_num(trusted); ++i) {
      X509* certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, i));
      if (certificate != nullptr) SSL_CTX_add_client_CA(context_, certificate);
    }
  }
  SSL_CTX_set_verify(context_, mode, Session::JudgeCertificate);
}

}  // namespace levee::tls
