// The grpc-timeout header ("Timeout" in gRPC over HTTP/2).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace levee {

// The span of "1 to 8 digits + one of H M S m u n"; nullopt for anything else.
std::optional<absl::Duration> ParseGrpcTimeout(std::string_view value);

// A header value without an allocation.
class GrpcTimeoutText {
 public:
  // Rounds down to what 8 digits can say in the finest unit that holds the span, and never below
  // one nanosecond unit ("1n"), since an attempt that is started has time left. A span too long for
  // any unit, absl::InfiniteDuration() too, becomes "99999999H".
  explicit GrpcTimeoutText(absl::Duration span);
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 10> text_;
  size_t size_ = 0;
};

}  // namespace levee
