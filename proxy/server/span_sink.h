// SPDX-License-Identifier: Apache-2.0
// Where the spans of ended calls go.
#pragma once

#include "trace/call_spans.h"

namespace levee {

// The interface inverts a dependency: the receiver of spans speaks gRPC, which the data plane does
// not know. Any thread.
class SpanSink {
 public:
  virtual ~SpanSink() = default;

  // Takes the spans without waiting for anything. Returns false if there is no room for them.
  virtual bool Add(CallSpans spans) = 0;
};

}  // namespace levee
