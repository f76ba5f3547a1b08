// SPDX-License-Identifier: Apache-2.0
#include "dedupe/answer_recorder.h"

namespace levee {

void AnswerRecorder::OnData(const Chunk& data) {
  messages_.Add(data);
  if (!whole_) return;
  whole_ = !messages_.IsStream() && answer_.size() + data.size() <= max_bytes_;
  if (whole_) {
    answer_.AddBody({reinterpret_cast<const char*>(data.data()), data.size()});
  } else {
    answer_ = AnswerWriter();  // The bytes so far take memory.
  }
}

StoredAnswerPtr AnswerRecorder::End(StatusCode code, const Metadata& trailers) {
  whole_ = whole_ && answer_.size() + trailers.ListBytes() <= max_bytes_;
  return whole_ ? answer_.End(code, trailers) : StoredAnswer::OfStatus(code);
}

}  // namespace levee
