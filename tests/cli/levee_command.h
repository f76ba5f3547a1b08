// SPDX-License-Identifier: Apache-2.0
// Runs a command that ends by itself, as a user would.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "gtest/gtest.h"

namespace levee {

// What a command ended with.
struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs `levee WORDS...` in this process.
inline Answer Levee(std::vector<std::string> words) {
  words.insert(words.begin(), "levee");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer;
  answer.code = RunCommand(static_cast<int>(arguments.size()), arguments.data());
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

}  // namespace levee
