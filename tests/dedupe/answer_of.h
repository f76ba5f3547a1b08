// SPDX-License-Identifier: Apache-2.0
// Tests keep answers that have a body and nothing else.
#pragma once

#include <string_view>

#include "dedupe/answer_recorder.h"

namespace levee {

inline StoredAnswerPtr AnswerOf(std::string_view body) {
  AnswerWriter answer;
  answer.AddBody(body);
  return answer.End(StatusCode::kOk, Metadata());
}

}  // namespace levee
