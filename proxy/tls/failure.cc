// SPDX-License-Identifier: Apache-2.0
#include "tls/failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace levee::tls {
namespace {

std::string_view PeerOf(Role role) { return role == Role::kClient ? "service" : "caller"; }

// Returns why the peer's certificate was not taken, by the result of its verification.
Failure OfCertificate(long verified, Role role) {
  const std::string certificate = absl::StrCat("the ", Abseil(PeerOf(role)), "'s certificate ");
  switch (verified) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {Result::kExpired, certificate + "has expired"};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {Result::kNotYetValid, certificate + "is not yet valid"};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return {Result::kUnknownCa, certificate + "is signed by itself and not by a trusted CA"};
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
      return {Result::kUnknownCa, certificate + "is not signed by a trusted CA"};
    default:
      return {
          Result::kOther,
          absl::StrCat(certificate, "is not accepted: ", X509_verify_cert_error_string(verified))};
  }
}

// Returns what an alert of the peer means (RFC 8446, section 6.2).
Failure OfAlert(int alert, Role role) {
  const std::string peer = absl::StrCat("the ", Abseil(PeerOf(role)), " ");
  const std::string own = role == Role::kClient ? "Levee's certificate" : "this certificate";
  switch (alert) {
    case SSL_AD_CERTIFICATE_REQUIRED:
      return {Result::kCertificateRequired, peer + "wants a client certificate"};
    case SSL_AD_CERTIFICATE_EXPIRED:
      return {Result::kCertificateRefused, absl::StrCat(peer, "says that ", own, " has expired")};
    case SSL_AD_UNKNOWN_CA:
      return {Result::kCertificateRefused, absl::StrCat(peer, "does not trust the CA of ", own)};
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_ACCESS_DENIED:
      return {Result::kCertificateRefused,
              absl::StrCat(peer, "refuses ", own, ": ", SSL_alert_desc_string_long(alert))};
    case SSL_AD_PROTOCOL_VERSION:
      return {Result::kVersion, peer + "speaks no version of TLS that is allowed here"};
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return {Result::kNoAlpn, peer + "does not speak HTTP/2 (ALPN)"};
    default:
      return {Result::kOther, absl::StrCat(peer, "ended TLS: ", SSL_alert_desc_string_long(alert))};
  }
}

Failure OfReason(int reason, const SSL* ssl, Role role) {
  const std::string peer = absl::StrCat("the ", Abseil(PeerOf(role)), " ");
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return OfCertificate(SSL_get_verify_result(ssl), role);
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return {Result::kCertificateRequired, peer + "has shown no certificate"};
    case SSL_R_NO_APPLICATION_PROTOCOL:
      return {Result::kNoAlpn, peer + "does not offer h2 (ALPN)"};
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_VERSION_TOO_LOW:
      return {Result::kVersion, peer + "speaks no version of TLS that is allowed here"};
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
      return {Result::kOther, peer + "does not speak TLS"};
    default:
      return {
          Result::kOther,
          absl::StrCat("TLS failed: ", ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason)))};
  }
}

}  // namespace

Failure FailureOf(const SSL* ssl, Role role) {
  unsigned long first = ERR_peek_error();
  for (unsigned long next = first; next != 0; next = ERR_get_error()) {
    // Other libraries say what they were asked for, and only this one what it means.
    if (ERR_GET_LIB(next) != ERR_LIB_SSL) continue;
    ERR_clear_error();
    const int reason = ERR_GET_REASON(next);
    if (reason > SSL_AD_REASON_OFFSET) return OfAlert(reason - SSL_AD_REASON_OFFSET, role);
    return OfReason(reason, ssl, role);
  }
  const char* reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  return {Result::kOther, absl::StrCat("TLS failed: ", reason == nullptr ? "unknown" : reason)};
}

Failure FailureOf(Result result) {
  if (result == Result::kTimeout) return {result, "the TLS handshake took too long"};
  return {result, "the connection was closed in the TLS handshake"};
}

}  // namespace levee::tls
