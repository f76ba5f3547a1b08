// SPDX-License-Identifier: Apache-2.0
// The grpc-timeout header ("Timeout" in gRPC over HTTP/2).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace levee {

// Parses 1 to 8 digits and one of H M S m u n; nullopt for anything else.
std::optional<absl::Duration> ParseGrpcTimeout(std::string_view value);

// The text of a header value, made without an allocation.
class GrpcTimeoutText {
 public:
  // Takes the finest unit in which 8 digits can hold the span, and rounds down to it. The least is
  // "1n", since an attempt that is started has time left. A span too long for any unit, also
  // absl::InfiniteDuration(), becomes "99999999H".
  explicit GrpcTimeoutText(absl::Duration span);
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 10> text_;
  size_t size_ = 0;
};

}  // namespace levee
