// SPDX-License-Identifier: Apache-2.0
#include "doctor/tls_check.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee::doctor {
namespace {

// Adds a finding if the certificate of `what` has expired or soon does.
void CheckExpiry(const std::string& what, absl::Time expires, absl::Time now, Findings& findings) {
  const absl::Duration left = expires - now;
  if (left > kExpiresSoon) return;
  const bool over = left <= absl::ZeroDuration();
  findings.push_back(
      {over ? Severity::kFault : Severity::kWarning, "LD108",
       absl::StrCat("the certificate of ", what, over ? " has expired at " : " expires at ",
                    absl::FormatTime(absl::RFC3339_sec, expires, absl::UTCTimeZone())),
       "replace its files; Levee reads them again by itself"});
}

struct Words {
  const char* code;
  const char* cure;
};

// Returns the code of a failed handshake, and what helps.
Words WordsFor(tls::Result result) {
  switch (result) {
    case tls::Result::kExpired:
      return {"LD121", "renew the service's certificate"};
    case tls::Result::kNotYetValid:
      return {"LD122",
              "set the clocks of both by NTP, or give the service a certificate that is valid now"};
    case tls::Result::kWrongName:
      return {"LD123",
              "set tls.server_name of the upstream to a name that the certificate has, or see who "
              "else answers at this address"};
    case tls::Result::kUnknownCa:
      return {"LD124", "let tls.ca of the upstream name the CA that has signed the certificate"};
    case tls::Result::kNoAlpn:
      return {"LD125", "let the service speak HTTP/2 over TLS (ALPN h2), or name its gRPC port"};
    case tls::Result::kVersion:
      return {"LD126", "let the service speak TLS 1.3, or set tls.min_version to '1.2'"};
    case tls::Result::kCertificateRequired:
      return {"LD127", "give the upstream tls.certificate and tls.key"};
    case tls::Result::kCertificateRefused:
      return {"LD128",
              "set tls.certificate of the upstream to a valid certificate from a CA that the "
              "service trusts"};
    case tls::Result::kTimeout:
    case tls::Result::kReset:
    case tls::Result::kOther:
    case tls::Result::kSuccess:
      break;
  }
  return {"LD129", "see that the port is the one for TLS, and what the service logs of it"};
}

Finding Judge(const Handshake& handshake) {
  const std::string where = absl::StrCat(handshake.upstream, ": ", handshake.endpoint, ": ");
  if (!handshake.result.has_value()) {
    return {Severity::kWarning, "LD116",
            absl::StrCat(where,
                         "no TLS handshake, because there is no connection: ", handshake.failure),
            "see that the endpoint is reached from here"};
  }
  const Words words = WordsFor(*handshake.result);
  return {Severity::kFault, words.code, absl::StrCat(where, handshake.failure), words.cure};
}

}  // namespace

Findings CheckCertificates(const SidecarFacts& facts) {
  Findings findings;
  if (facts.config.snapshot == nullptr) {
    if (!facts.here) {
      return {
          {Severity::kOk, "LD108", "certificates are not judged: their files are elsewhere", ""}};
    }
    for (const Fault& fault : facts.config.faults) {
      findings.push_back(
          {Severity::kFault, "LD108", FormatFault(fault), "correct the files that it names"});
    }
    return findings;
  }
  const Snapshot& snapshot = *facts.config.snapshot;
  size_t with_tls = 0;
  for (const ListenerSpec& listener : snapshot.listeners) {
    if (listener.tls == nullptr) continue;
    ++with_tls;
    CheckExpiry(absl::StrCat("listener ", listener.name), listener.tls->expires(), facts.now,
                findings);
  }
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    if (!upstream.tls.has_value()) continue;
    ++with_tls;
    CheckExpiry(absl::StrCat("upstream ", upstream.name), upstream.tls->context->expires(),
                facts.now, findings);
  }
  if (findings.empty()) {
    findings.push_back(
        {Severity::kOk, "LD108",
         with_tls == 0 ? "no listener and no upstream has TLS"
                       : absl::StrCat("TLS is set up at ", with_tls, " listeners and upstreams"),
         ""});
  }
  return findings;
}

Findings CheckHandshakes(const SidecarFacts& facts) {
  Findings findings;
  for (const Handshake& handshake : facts.handshakes) {
    if (handshake.result == tls::Result::kSuccess) continue;
    findings.push_back(Judge(handshake));
  }
  if (!findings.empty()) return findings;
  std::string text = "there is no endpoint to make a TLS handshake with";
  if (!facts.here) {
    text = "TLS handshakes are not judged: services may be reached from elsewhere only";
  } else if (!facts.handshakes.empty()) {
    text = absl::StrCat("TLS is as it is configured at ", facts.handshakes.size(), " endpoints");
  }
  return {{Severity::kOk, "LD116", text, ""}};
}

}  // namespace levee::doctor
