// SPDX-License-Identifier: Apache-2.0
#include "dedupe/answer_recorder.h"

#include <utility>

namespace levee {

StoredAnswerPtr AnswerRecorder::End(StatusCode code, const Metadata& trailers) {
  answer_.trailers = StoredAnswer::Copy(trailers);
  answer_.whole = whole_ && answer_.bytes() <= max_bytes_ + sizeof answer_;
  if (!answer_.whole) answer_ = StoredAnswer();
  answer_.code = code;
  return std::make_shared<const StoredAnswer>(std::move(answer_));
}

}  // namespace levee
