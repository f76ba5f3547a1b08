// SPDX-License-Identifier: Apache-2.0
#include "h2/header_rules.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/text.h"

namespace levee::h2 {
namespace {

// Returns the number that `text` is; -1 if it is not decimal digits only, or too large. Text with
// more digits than the largest number has is not looked at.
int64_t ParseDigits(std::string_view text) {
  constexpr size_t kMaxDigits = std::numeric_limits<int64_t>::digits10 + 1;
  if (text.size() > kMaxDigits) return -1;
  int64_t value = -1;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool digits = !text.empty() && text.front() != '-' && at == end && error == std::errc();
  return digits ? value : -1;
}

// RFC 3986, section 3.1. Text that is much longer than any scheme is not looked at.
bool IsScheme(std::string_view text) {
  constexpr size_t kMaxBytes = 32;
  if (text.empty() || text.size() > kMaxBytes ||
      !absl::ascii_isalpha(static_cast<unsigned char>(text[0])))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
  });
}

// Returns whether the application may have set the field. The other fields are HTTP's or gRPC's
// own.
bool IsMetadata(const hpack::DecodedField& field) {
  if (field.kind != hpack::FieldKind::kOther) return false;
  return field.name != "content-type" && field.name != "user-agent" &&
         !field.name.starts_with("grpc-");
}

}  // namespace

void HeaderRules::Begin(BlockKind kind, Metadata* fields) {
  kind_ = fields == nullptr ? BlockKind::kIgnored : kind;
  dropping_ = kind_ == BlockKind::kIgnored;
  fields_ = fields;
  fault_ = nullptr;
  excess_ = Excess::kNone;
  dropped_bytes_ = 0;
  shown_ = Shown();
}

bool HeaderRules::OnField(const hpack::DecodedField& field) {
  if (dropping_) return Drop(field);
  Judge(field);
  if (dropping_) return true;
  if (IsMetadata(field) && ++shown_.metadata_fields > max_fields_) return Exceed(Excess::kFields);
  if (fields_->ListBytes() + field.name.size() + field.value.size() + 32 > max_bytes_) {
    return Exceed(Excess::kBytes);
  }
  fields_->Add(field.name, field.value, field.never_index);
  return true;
}

void HeaderRules::Judge(const hpack::DecodedField& field) {
  if (!field.well_formed()) return Malformed("a field with bytes that are not allowed");
  switch (field.kind) {
    case hpack::FieldKind::kOther:
      if (field.name == "host" && kind_ == BlockKind::kRequest) JudgeHost(field.value);
      break;
    case hpack::FieldKind::kContentLength: {
      const int64_t length = ParseDigits(field.value);
      if (length < 0 || shown_.content_length >= 0) {
        Malformed("content-length is no number, or there are two");
      }
      shown_.content_length = length;
      break;
    }
    case hpack::FieldKind::kTe:
      // RFC 9113, section 8.2.2: only requests may have it, and only with this value.
      if (!absl::EqualsIgnoreCase(Abseil(field.value), "trailers")) Malformed("te is not trailers");
      break;
    case hpack::FieldKind::kConnectionSpecific:
      Malformed("a field of HTTP/1.1 connections");
      break;
    default:
      JudgePseudo(field);
      return;
  }
  shown_.regular = true;
}

// RFC 9113, section 8.3.1, and RFC 9110, section 7.2: there is one host at most, and it names what
// :authority names. Otherwise Levee and the upstream could take the request for two different ones.
void HeaderRules::JudgeHost(std::string_view host) {
  if (shown_.host) return Malformed("host twice");
  shown_.host = true;
  const std::string_view authority = fields_->Get(":authority");
  if (authority.data() == nullptr) {
    if (host.empty()) return Malformed("an empty host");
    if (!hpack::IsVisible(host)) Malformed("host with a space or control");
    if (host.find('@') != host.npos) Malformed("host with userinfo");
  } else if (!absl::EqualsIgnoreCase(Abseil(host), Abseil(authority))) {
    Malformed("host is not what :authority is");
  }
}

void HeaderRules::JudgePseudo(const hpack::DecodedField& field) {
  const bool response = field.kind == hpack::FieldKind::kStatus;
  if (kind_ == BlockKind::kTrailers || field.kind == hpack::FieldKind::kUnknownPseudo ||
      response != (kind_ == BlockKind::kResponse)) {
    return Malformed("a pseudo-header that does not belong here");
  }
  if (shown_.regular) return Malformed("a pseudo-header behind other fields");
  if (Seen(field.kind)) return Malformed("a pseudo-header twice");
  shown_.kinds |= 1u << static_cast<int>(field.kind);
  if (field.kind == hpack::FieldKind::kMethod) {
    shown_.connect = field.value == "CONNECT";
    shown_.options = field.value == "OPTIONS";
    if (field.value.empty()) Malformed("an empty :method");
  } else if (field.kind == hpack::FieldKind::kPath) {
    shown_.asterisk = field.value == "*";
    if (!field.value.starts_with('/') && !shown_.asterisk) Malformed(":path is not absolute");
    if (field.value.find('#') != field.value.npos) Malformed(":path with a fragment");
  } else if (field.kind == hpack::FieldKind::kAuthority) {
    // RFC 9113, section 8.3.1: no userinfo. One reader takes what stands before it for the host.
    if (field.value.find('@') != field.value.npos) Malformed(":authority with userinfo");
  } else if (field.kind == hpack::FieldKind::kScheme) {
    if (!IsScheme(field.value)) Malformed(":scheme is no scheme");
  } else if (response) {
    const int64_t status = field.value.size() == 3 ? ParseDigits(field.value) : -1;
    shown_.status = static_cast<int>(status);
    if (status < 100) Malformed(":status is no status code");
  }
}

const char* HeaderRules::Fault() const {
  if (kind_ == BlockKind::kIgnored || fault_ != nullptr) return fault_;
  if (kind_ == BlockKind::kResponse)
    return Seen(hpack::FieldKind::kStatus) ? nullptr : "no :status";
  // The rest of a request that exceeds a bound is not known.
  if (kind_ == BlockKind::kTrailers || excess_ != Excess::kNone) return nullptr;
  const bool scheme_and_path = Seen(hpack::FieldKind::kScheme) || Seen(hpack::FieldKind::kPath);
  if (shown_.connect) {
    return Seen(hpack::FieldKind::kAuthority) && !scheme_and_path ? nullptr : "no proper CONNECT";
  }
  if (!Seen(hpack::FieldKind::kMethod) || !Seen(hpack::FieldKind::kScheme) ||
      !Seen(hpack::FieldKind::kPath)) {
    return "a request without :method, :scheme or :path";
  }
  if (shown_.asterisk && !shown_.options) return "a :path of * without OPTIONS";
  return Seen(hpack::FieldKind::kAuthority) || shown_.host ? nullptr
                                                           : "a request without :authority";
}

}  // namespace levee::h2
