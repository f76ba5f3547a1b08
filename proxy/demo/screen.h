// SPDX-License-Identifier: Apache-2.0
// Writes to standard output: a picture that is redrawn, in place or over the whole screen, or line
// after line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace levee::demo {

class Screen {
 public:
  enum class Mode {
    kLines,    // Standard output is no terminal, or one that is too small for frames.
    kInPlace,  // A frame takes the place of the one before, below what was printed.
    kWhole,    // Frames have a screen of their own, which goes at the end.
  };
  explicit Screen(Mode mode) : mode_(mode) {}

  // Leaves the cursor visible, below what stays.
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  bool redraws() const { return mode_ != Mode::kLines; }

  // Draws over the last frame. On a screen of its own it must have fewer lines than the terminal.
  void Draw(const std::vector<std::string>& frame);

  // Prints below the last frame, which stays unless it had a screen of its own.
  void Print(const std::vector<std::string>& lines);

 private:
  void EndFrame();

  const Mode mode_;
  size_t frame_lines_ = 0;  // Above the cursor.
};

}  // namespace levee::demo
