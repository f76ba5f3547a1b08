// SPDX-License-Identifier: Apache-2.0
// Copies an answer on its way to the caller, so that it can be stored.
#pragma once

#include <cstddef>

#include "base/block_cache.h"
#include "base/chunk.h"
#include "dedupe/stored_answer.h"
#include "wire/message_count.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// One thread.
class AnswerRecorder : public InBlocks {
 public:
  // An answer that needs more than `max_bytes` is not kept whole.
  explicit AnswerRecorder(size_t max_bytes) : max_bytes_(max_bytes) {}

  void OnHead(const Metadata& head) { answer_.AddHead(head); }
  void OnData(const Chunk& data);

  // The answer ends with `trailers`, which are the whole of it if no head came. To be called once.
  StoredAnswerPtr End(StatusCode code, const Metadata& trailers);

 private:
  const size_t max_bytes_;
  MessageCount messages_;
  bool whole_ = true;
  AnswerWriter answer_;
};

}  // namespace levee
