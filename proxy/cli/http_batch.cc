// SPDX-License-Identifier: Apache-2.0
#include "cli/http_batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/http_get.h"

namespace levee {
namespace {

using Answers = std::vector<absl::StatusOr<std::string>>;

// Asks the questions from `begin` to `end`, all at once.
void AskSome(ClientLoop& loop, const std::vector<HttpQuestion>& questions, size_t begin, size_t end,
             absl::Duration patience, Answers& answers) {
  size_t missing = end - begin;
  std::vector<std::unique_ptr<net::HttpGet>> gets;
  for (size_t i = begin; i < end; ++i) {
    gets.push_back(std::make_unique<net::HttpGet>(loop.loop(), questions[i].address,
                                                  questions[i].path,
                                                  [&, i](absl::StatusOr<std::string> answer) {
                                                    answers[i] = std::move(answer);
                                                    if (--missing == 0) loop.Wake();
                                                  }));
  }
  loop.WaitUntil(loop.now() + patience);
}

}  // namespace

std::vector<absl::StatusOr<std::string>> AskAll(ClientLoop& loop,
                                                const std::vector<HttpQuestion>& questions,
                                                absl::Duration patience) {
  const auto none = absl::DeadlineExceededError(
      absl::StrCat("no answer within ", absl::FormatDuration(patience)));
  Answers answers(questions.size(), none);
  for (size_t begin = 0; begin < questions.size(); begin += kQuestionsAtOnce) {
    AskSome(loop, questions, begin, std::min(begin + kQuestionsAtOnce, questions.size()), patience,
            answers);
  }
  return answers;
}

}  // namespace levee
