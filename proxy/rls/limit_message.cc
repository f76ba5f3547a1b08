// SPDX-License-Identifier: Apache-2.0
#include "rls/limit_message.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "base/utf8.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"

namespace levee {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

// A byte that says whether the message is compressed, and its length.
constexpr size_t kPrefixBytes = 5;

// A reset in a year is as good as one that comes later, and fits every clock.
constexpr int64_t kLongestSeconds = 366LL * 24 * 3600;

std::string ToUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    valid.append(size == 0 ? "?" : text.substr(0, size));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

absl::Duration ResetOf(const RateLimitResponse::DescriptorStatus& status) {
  const google::protobuf::Duration& told = status.duration_until_reset();
  const int64_t seconds = std::clamp<int64_t>(told.seconds(), 0, kLongestSeconds);
  return absl::Seconds(seconds) + absl::Nanoseconds(std::clamp(told.nanos(), 0, 999'999'999));
}

ServiceWindow WindowOf(const RateLimitResponse& response) {
  if (response.statuses_size() == 0) return {};
  const RateLimitResponse::DescriptorStatus& status = response.statuses(0);
  ServiceWindow window;
  window.limit = status.current_limit().requests_per_unit();
  window.remaining = status.limit_remaining();
  window.resets_in = ResetOf(status);
  return window;
}

}  // namespace

std::string LimitRequestFrame(std::string_view domain, std::span<const LimitKey::Entry> descriptor,
                              int64_t hits) {
  RateLimitRequest request;
  request.set_domain(std::string(domain));
  auto* const entries = request.add_descriptors();
  for (const LimitKey::Entry& each : descriptor) {
    auto* const entry = entries->add_entries();
    entry->set_key(std::string(each.name));
    entry->set_value(ToUtf8(each.value));
  }
  request.set_hits_addend(
      static_cast<uint32_t>(std::clamp<int64_t>(hits, 1, std::numeric_limits<uint32_t>::max())));
  const std::string message = request.SerializeAsString();
  std::string frame(1, '\0');
  for (const int shift : {24, 16, 8, 0}) {
    frame.push_back(static_cast<char>(static_cast<uint32_t>(message.size()) >> shift));
  }
  return frame + message;
}

absl::StatusOr<LeaseGrant> ReadLimitResponse(std::string_view frame, int64_t hits) {
  if (frame.size() < kPrefixBytes || frame[0] != '\0') {
    return absl::InternalError("the answer has no message");
  }
  uint32_t size = 0;
  for (size_t i = 1; i < kPrefixBytes; ++i) {
    size = size << 8 | static_cast<unsigned char>(frame[i]);
  }
  const std::string_view message = frame.substr(kPrefixBytes);
  RateLimitResponse response;
  if (message.size() != size ||
      !response.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return absl::InternalError("the answer cannot be read");
  }
  LeaseGrant grant;
  grant.window = WindowOf(response);
  switch (response.overall_code()) {
    case RateLimitResponse::OK:
      grant.granted = hits;
      return grant;
    case RateLimitResponse::OVER_LIMIT:
      return grant;
    default:
      return absl::InternalError("the answer has neither OK nor OVER_LIMIT");
  }
}

}  // namespace levee
