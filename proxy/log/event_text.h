// SPDX-License-Identifier: Apache-2.0
// Events as lines of text and of JSON; docs/logs.md describes both.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "log/event.h"

namespace levee {

// "endpoint_unreachable: an endpoint is unreachable upstream=cart reason="connection refused"".
// Values are in quotes, with JSON's escapes, unless they are plain words; so no caller can forge a
// line.
std::string EventText(const LogEvent& event);

// One JSON object without line end: time (RFC 3339 in UTC, microseconds), level, event, message,
// and fields, an object that may be empty.
std::string EventJson(const LogEvent& event, absl::Time time);

}  // namespace levee
