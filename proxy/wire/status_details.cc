// SPDX-License-Identifier: Apache-2.0
#include "wire/status_details.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "levee/wire/v1/rpc_status.pb.h"

namespace levee {
namespace {

constexpr std::string_view kDetailsField = "grpc-status-details-bin";
constexpr char kTypeUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr std::string_view kErrorInfo = "google.rpc.ErrorInfo";
constexpr std::string_view kRetryInfo = "google.rpc.RetryInfo";
constexpr char kReason[] = "OVERLOADED_DO_NOT_RETRY";
constexpr char kDomain[] = "levee";

// The length of the UTF-8 sequence at the front of `text`, 0 if there is no valid one.
size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Encodings that are too long, surrogates, and values beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

// Returns `text` with '?' for bytes that are not UTF-8. A receiver would reject the whole message
// otherwise.
std::string ToUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      valid.push_back('?');
      text.remove_prefix(1);
    } else {
      valid.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return valid;
}

// Returns the details of `trailers`; empty if there are none that can be read.
wire::v1::RpcStatus ReadDetails(const Metadata& trailers) {
  wire::v1::RpcStatus status;
  const std::string_view encoded = trailers.Get(kDetailsField);
  std::string bytes;
  // Padding may be there or not ("Custom-Metadata" in gRPC over HTTP/2); absl takes both.
  if (!absl::Base64Unescape(absl::string_view(encoded.data(), encoded.size()), &bytes) ||
      !status.ParseFromString(bytes)) {
    status.Clear();
  }
  return status;
}

// Reads `detail` into `message`. Returns false if it is not of type `type_name` or cannot be read.
bool Unpack(const google::protobuf::Any& detail, std::string_view type_name,
            google::protobuf::Message& message) {
  const std::string_view url = detail.type_url();
  return url.substr(url.rfind('/') + 1) == type_name && message.ParseFromString(detail.value());
}

bool IsOverloadInfo(const google::protobuf::Any& detail, wire::v1::ErrorInfo& info) {
  return Unpack(detail, kErrorInfo, info) && info.reason() == kReason;
}

std::string MetadataOf(const wire::v1::ErrorInfo& info, const std::string& key) {
  const auto found = info.metadata().find(key);
  return found == info.metadata().end() ? std::string() : found->second;
}

// Returns nothing of a text that is longer than a mark's may be.
std::string ShortMetadataOf(const wire::v1::ErrorInfo& info, const std::string& key) {
  std::string text = MetadataOf(info, key);
  return text.size() > OverloadMark::kMaxText ? std::string() : text;
}

wire::v1::ErrorInfo MakeErrorInfo(const MarkedStatus& status) {
  wire::v1::ErrorInfo info;
  info.set_reason(kReason);
  info.set_domain(kDomain);
  auto& metadata = *info.mutable_metadata();
  metadata["scope"] = std::string(OverloadScopeName(status.mark.scope));
  metadata["reason"] = ToUtf8(status.mark.reason);
  metadata["upstream"] = ToUtf8(status.mark.upstream);
  metadata["original_code"] = std::string(StatusCodeName(status.original_code));
  metadata["attempts"] = std::to_string(status.attempts);
  return info;
}

bool SaysTheSame(const wire::v1::ErrorInfo& a, const wire::v1::ErrorInfo& b) {
  for (const char* key : {"scope", "reason", "upstream"}) {
    if (MetadataOf(a, key) != MetadataOf(b, key)) return false;
  }
  return a.domain() == b.domain();
}

// Writes map entries in the order of their keys: equal messages give equal bytes in every run.
std::string SerializeInOrder(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

std::optional<OverloadMark> FindMarkInDetails(const Metadata& trailers) {
  if (!trailers.Has(kDetailsField)) return std::nullopt;
  const wire::v1::RpcStatus details = ReadDetails(trailers);
  std::optional<OverloadMark> mark;
  for (const google::protobuf::Any& detail : details.details()) {
    wire::v1::ErrorInfo info;
    if (!IsOverloadInfo(detail, info)) continue;
    mark.emplace();
    mark->signal = OverloadMark::Signal::kErrorInfo;
    if (MetadataOf(info, "scope") == OverloadScopeName(OverloadScope::kEndpoint)) {
      mark->scope = OverloadScope::kEndpoint;
    }
    mark->reason = ShortMetadataOf(info, "reason");
    mark->upstream = ShortMetadataOf(info, "upstream");
  }
  return mark;
}

absl::Duration FindRetryDelayInDetails(const Metadata& trailers) {
  absl::Duration longest = absl::ZeroDuration();
  if (!trailers.Has(kDetailsField)) return longest;
  const wire::v1::RpcStatus details = ReadDetails(trailers);
  for (const google::protobuf::Any& detail : details.details()) {
    wire::v1::RetryInfo info;
    if (!Unpack(detail, kRetryInfo, info)) continue;
    const google::protobuf::Duration& delay = info.retry_delay();
    longest = std::max(longest, absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos()));
  }
  return longest;
}

std::string MarkedDetails(const MarkedStatus& status, const Metadata& trailers) {
  wire::v1::RpcStatus details = ReadDetails(trailers);
  details.set_code(static_cast<int>(status.code));
  // grpc-message has the whole text. It is cut here because clients refuse trailers of more than
  // some kilobytes as a whole.
  constexpr size_t kMaxMessageBytes = 1024;
  details.set_message(ToUtf8(std::string_view(status.message).substr(0, kMaxMessageBytes)));
  const wire::v1::ErrorInfo ours = MakeErrorInfo(status);
  bool said = false;
  for (const google::protobuf::Any& detail : details.details()) {
    wire::v1::ErrorInfo info;
    said = said || (IsOverloadInfo(detail, info) && SaysTheSame(info, ours));
  }
  if (!said) {
    google::protobuf::Any& detail = *details.add_details();
    detail.set_type_url(kTypeUrl);
    detail.set_value(SerializeInOrder(ours));
  }
  const std::string bytes = SerializeInOrder(details);
  std::string encoded;
  absl::Base64Escape(bytes, &encoded);
  // Senders should not pad ("Custom-Metadata" in gRPC over HTTP/2).
  encoded.resize(encoded.find_last_not_of('=') + 1);
  return encoded;
}

}  // namespace levee
