// SPDX-License-Identifier: Apache-2.0
#include "demo/screen.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace levee::demo {
namespace {

constexpr char kHideCursor[] = "\x1b[?25l";
constexpr char kShowCursor[] = "\x1b[?25h";
constexpr char kClearToEndOfLine[] = "\x1b[K";
constexpr char kClearBelow[] = "\x1b[J";
constexpr char kHome[] = "\x1b[H";
constexpr char kOwnScreen[] = "\x1b[?1049h";
constexpr char kScreenBefore[] = "\x1b[?1049l";

void Write(const std::string& text) {
  // A write that fails because the reader is gone is ignored: the run ends by itself.
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Screen::~Screen() { EndFrame(); }

void Screen::Draw(const std::vector<std::string>& frame) {
  // The frame is written in one piece, so that no half-drawn frame is seen.
  const bool whole = mode_ == Mode::kWhole;
  std::string text;
  if (frame_lines_ == 0) text = absl::StrCat(whole ? kOwnScreen : "", kHideCursor);
  if (whole) {
    text += kHome;
  } else if (frame_lines_ > 0) {
    absl::StrAppend(&text, "\x1b[", frame_lines_, "A");
  }
  for (const std::string& line : frame) absl::StrAppend(&text, line, kClearToEndOfLine, "\n");
  if (whole) text += kClearBelow;
  frame_lines_ = frame.size();
  Write(text);
}

void Screen::Print(const std::vector<std::string>& lines) {
  EndFrame();
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  Write(text);
}

void Screen::EndFrame() {
  if (frame_lines_ == 0) return;
  frame_lines_ = 0;
  Write(absl::StrCat(kShowCursor, mode_ == Mode::kWhole ? kScreenBefore : ""));
}

}  // namespace levee::demo
