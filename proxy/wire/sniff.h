// SPDX-License-Identifier: Apache-2.0
// Tells HTTP/2 from everything else on a connection that leads to somebody else.
#pragma once

#include <string_view>

#include "base/instant.h"
#include "wire/first_bytes.h"

namespace levee {

enum class Carries {
  kUnknown,  // ask again with more bytes, or later
  kHttp2,    // the whole preface came
  kOther,    // pass everything on untouched
};

// Returns what such a connection carries. `bytes`: all that have come. `until`: when waiting ends.
// A caller that has not said by then that it speaks HTTP/2 may wait for the other end to speak
// first, so its bytes, even if they begin a preface, are for the other end to judge.
inline Carries Sniff(std::string_view bytes, Instant now, Instant until) {
  const Http2Begins http2 = BeginsPreface(bytes);
  if (http2 == Http2Begins::kYes) return Carries::kHttp2;
  return http2 == Http2Begins::kMore && now < until ? Carries::kUnknown : Carries::kOther;
}

}  // namespace levee
