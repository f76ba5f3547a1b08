// SPDX-License-Identifier: Apache-2.0
// How a TLS handshake ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/enum_values.h"

namespace levee::tls {

enum class Result : uint8_t {
  kSuccess,
  kExpired,              // the peer's certificate, or one above it
  kNotYetValid,          // the same
  kWrongName,            // the peer's certificate is for somebody else
  kUnknownCa,            // nobody who is trusted has signed the peer's certificate
  kNoAlpn,               // one side does not speak HTTP/2
  kVersion,              // the sides have no version of TLS in common
  kCertificateRequired,  // a client has no certificate, and the server wants one
  kCertificateRefused,   // the peer refuses this side's certificate
  kTimeout,
  kReset,  // the connection ended in the handshake
  kOther,
};

// The label `result` of levee_tls_handshakes_total.
constexpr std::string_view ResultName(Result result) {
  switch (result) {
    case Result::kSuccess:
      return "success";
    case Result::kExpired:
      return "expired";
    case Result::kNotYetValid:
      return "not_yet_valid";
    case Result::kWrongName:
      return "wrong_name";
    case Result::kUnknownCa:
      return "unknown_ca";
    case Result::kNoAlpn:
      return "no_alpn";
    case Result::kVersion:
      return "version";
    case Result::kCertificateRequired:
      return "certificate_required";
    case Result::kCertificateRefused:
      return "certificate_refused";
    case Result::kTimeout:
      return "timeout";
    case Result::kReset:
      return "reset";
    case Result::kOther:
      return "other";
  }
  return "";
}
inline constexpr int kResults = CountValues(ResultName);

enum class Version : uint8_t { kNone, k12, k13 };

// The label `version` of levee_tls_handshakes_total.
constexpr std::string_view VersionName(Version version) {
  switch (version) {
    case Version::kNone:
      return "none";
    case Version::k12:
      return "1.2";
    case Version::k13:
      return "1.3";
  }
  return "";
}
inline constexpr int kVersions = CountValues(VersionName);

// Which side of the connection Levee is.
enum class Role : uint8_t { kClient, kServer };

// The label `side` of levee_tls_handshakes_total.
constexpr std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kClient:
      return "client";
    case Role::kServer:
      return "server";
  }
  return "";
}
inline constexpr int kRoles = CountValues(RoleName);

// Why a session cannot go on.
struct Failure {
  Result result = Result::kSuccess;
  // A sentence without a capital letter and a full stop: "the service's certificate has expired".
  std::string text;
};

}  // namespace levee::tls
