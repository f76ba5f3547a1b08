// SPDX-License-Identifier: Apache-2.0
// Writes to standard output: a picture that is redrawn in place, or line after line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace levee::demo {

class Screen {
 public:
  // `redraws`: standard output is a terminal that is large enough for frames.
  explicit Screen(bool redraws) : redraws_(redraws) {}

  // Leaves the cursor visible, below the last frame.
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  bool redraws() const { return redraws_; }

  // Draws over the last frame.
  void Draw(const std::vector<std::string>& frame);

  // Prints below the last frame, which stays.
  void Print(const std::vector<std::string>& lines);

 private:
  void EndFrame();

  const bool redraws_;
  size_t frame_lines_ = 0;  // Above the cursor.
};

}  // namespace levee::demo
