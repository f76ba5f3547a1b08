// SPDX-License-Identifier: Apache-2.0
// Copies an answer on its way to the caller, so that it can be stored.
#pragma once

#include <cstddef>
#include <string>

#include "base/chunk.h"
#include "dedupe/stored_answer.h"
#include "wire/message_count.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// One thread.
class AnswerRecorder {
 public:
  // An answer that needs more than `max_bytes` is not kept whole.
  explicit AnswerRecorder(size_t max_bytes) : max_bytes_(max_bytes) {}

  void OnHead(const Metadata& head) { answer_.head = StoredAnswer::Copy(head); }

  void OnData(const Chunk& data) {
    messages_.Add(data);
    if (!whole_) return;
    whole_ = !messages_.IsStream() && answer_.body.size() + data.size() <= max_bytes_;
    if (whole_) {
      answer_.body.append(reinterpret_cast<const char*>(data.data()), data.size());
    } else {
      answer_.body = std::string();
    }
  }

  // The answer ends with `trailers`, which are the whole of it if no head came. To be called once.
  StoredAnswerPtr End(StatusCode code, const Metadata& trailers);

 private:
  const size_t max_bytes_;
  MessageCount messages_;
  bool whole_ = true;
  StoredAnswer answer_;
};

}  // namespace levee
