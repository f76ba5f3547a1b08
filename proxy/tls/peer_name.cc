// SPDX-License-Identifier: Apache-2.0
#include "tls/peer_name.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace levee::tls {
namespace {

constexpr std::string_view kDnsPrefix = "dns:";
constexpr std::string_view kUriPrefix = "uri:";
constexpr std::string_view kSpiffe = "spiffe://";

// Returns every name of these kinds, in the certificate's order.
std::vector<AltName> AltNamesOf(X509* certificate) {
  std::vector<AltName> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(all.get(), i);
    if (name.type != GEN_DNS && name.type != GEN_URI) continue;
    const ASN1_IA5STRING* text = name.d.ia5;
    names.push_back({name.type == GEN_DNS ? AltName::Kind::kDns : AltName::Kind::kUri,
                     std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<size_t>(ASN1_STRING_length(text)))});
  }
  return names;
}

// The scheme and the trust domain of a SPIFFE ID have no case; its path has.
std::string CanonicalUri(std::string uri) {
  const size_t scheme = kSpiffe.size();
  if (!absl::StartsWithIgnoreCase(uri, Abseil(kSpiffe))) return uri;
  const size_t path = std::min(uri.find('/', scheme), uri.size());
  std::transform(uri.begin(), uri.begin() + static_cast<ptrdiff_t>(path), uri.begin(),
                 absl::ascii_tolower);
  return uri;
}

bool IsLetterOfNames(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; }

// Whether it has the form of a host's name, or of a certificate's for several: "*.shop".
bool IsDnsName(std::string_view text) {
  if (text.size() > 253) return false;
  if (text.starts_with("*.")) text.remove_prefix(2);
  const std::vector<absl::string_view> labels = absl::StrSplit(Abseil(text), '.');
  return std::all_of(labels.begin(), labels.end(), [](absl::string_view label) {
    return !label.empty() && label.size() <= 63 &&
           std::all_of(label.begin(), label.end(), IsLetterOfNames);
  });
}

// Whether a trust domain, or a segment of a path, may be this.
bool IsSpiffePart(absl::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         std::all_of(part.begin(), part.end(),
                     [](char c) { return IsLetterOfNames(c) || c == '.'; });
}

// Whether the text begins as a URI does (RFC 3986, section 3.1).
bool HasScheme(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !absl::ascii_isalpha(text[0])) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return absl::ascii_isalnum(c) || c == '+' || c == '-' || c == '.';
  });
}

// Returns the only URI; empty if there is none, or more than one.
std::string OnlyUri(const std::vector<AltName>& names) {
  const auto is_uri = [](const AltName& name) { return name.kind == AltName::Kind::kUri; };
  if (std::count_if(names.begin(), names.end(), is_uri) != 1) return "";
  return std::find_if(names.begin(), names.end(), is_uri)->value;
}

bool HasUri(const std::vector<AltName>& carried, const std::string& wanted) {
  const std::string canonical = CanonicalUri(wanted);
  if (canonical.starts_with(kSpiffe)) return CanonicalUri(OnlyUri(carried)) == canonical;
  return std::find(carried.begin(), carried.end(), AltName{AltName::Kind::kUri, wanted}) !=
         carried.end();
}

bool HasDns(X509* certificate, const std::string& wanted) {
  constexpr unsigned kFlags =
      X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
  return IsDnsName(wanted) &&
         X509_check_host(certificate, wanted.data(), wanted.size(), kFlags, nullptr) == 1;
}

std::string SubjectOf(X509* certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  X509_NAME_print_ex(memory.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace

absl::StatusOr<AltName> ParseAltName(std::string_view text) {
  const bool visible = std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
  const std::string value(text.substr(std::min(text.size(), kDnsPrefix.size())));
  if (text.starts_with(kDnsPrefix) && IsDnsName(value)) return AltName{AltName::Kind::kDns, value};
  if (text.starts_with(kUriPrefix) && visible && !value.empty()) {
    return AltName{AltName::Kind::kUri, value};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", Abseil(text),
      "\" is not the name of a certificate; say dns:cart.shop or uri:spiffe://shop/cart"));
}

bool HasOneOf(X509* certificate, const std::vector<AltName>& names) {
  const std::vector<AltName> carried = AltNamesOf(certificate);
  return std::any_of(names.begin(), names.end(), [&](const AltName& name) {
    return name.kind == AltName::Kind::kDns ? HasDns(certificate, name.value)
                                            : HasUri(carried, name.value);
  });
}

std::string SpiffeIdOf(const std::string& uri) {
  std::string id = CanonicalUri(uri);
  if (!id.starts_with(kSpiffe)) return "";
  const std::vector<absl::string_view> parts =
      absl::StrSplit(Abseil(std::string_view(id).substr(kSpiffe.size())), '/');
  const bool good = parts.size() > 1 && std::all_of(parts.begin(), parts.end(), IsSpiffePart);
  return good ? id : "";
}

std::string TrustDomainOf(const std::string& uri) {
  const std::string id = SpiffeIdOf(uri);
  if (id.empty()) return "";
  return id.substr(kSpiffe.size(), id.find('/', kSpiffe.size()) - kSpiffe.size());
}

std::string SpiffeIdOf(X509* certificate) { return SpiffeIdOf(OnlyUri(AltNamesOf(certificate))); }

std::string IdentityOf(X509* certificate) {
  const std::vector<AltName> names = AltNamesOf(certificate);
  const std::string uri = OnlyUri(names);
  if (const std::string id = SpiffeIdOf(uri); !id.empty()) return id;
  if (HasScheme(uri) && !CanonicalUri(uri).starts_with(kSpiffe)) return uri;
  for (const AltName& name : names) {
    if (name.kind != AltName::Kind::kDns || !IsDnsName(name.value)) continue;
    return absl::AsciiStrToLower(name.value);
  }
  return SubjectOf(certificate);
}

std::string NamesOf(X509* certificate, size_t most) {
  std::vector<std::string> texts;
  for (AltName& name : AltNamesOf(certificate)) texts.push_back(std::move(name.value));
  if (texts.empty()) return "no name";
  const bool more = texts.size() > most;
  texts.resize(std::min(texts.size(), most));
  return absl::StrCat(absl::StrJoin(texts, ", "), more ? ", ..." : "");
}

}  // namespace levee::tls
