// SPDX-License-Identifier: Apache-2.0
#include "cli/top_command.h"

#include <cstdio>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/top_view.h"
#include "demo/screen.h"
#include "net/terminal.h"

namespace levee {
namespace {

using demo::Screen;

constexpr absl::Duration kPeriod = absl::Seconds(1);

// Asks once a second and shows each answer.
class Top {
 public:
  Top(const net::Address& address, const TopOptions& options)
      : options_(options), port_(address), view_(options.address) {}

  int Run();

 private:
  void Ask();
  void Show();

  const TopOptions& options_;
  AdminPort port_;
  TopView view_;
  Silence silence_;
  Instant last_answer_;
  Screen screen_{net::OutputTerminal().has_value() ? Screen::Mode::kWhole : Screen::Mode::kLines};
};

int Top::Run() {
  port_.WatchForEnd();
  Instant next = port_.now();
  for (int shown = 0; !port_.ended();) {
    Ask();
    if (port_.ended()) break;
    if (shown == 0 && !silence_.reason.empty()) {
      std::fprintf(stderr, "levee top: %s\n", silence_.reason.c_str());
      return 1;
    }
    Show();
    if (std::ferror(stdout) != 0) break;  // Its reader has seen enough.
    if (++shown == options_.count) return silence_.reason.empty() ? 0 : 1;
    next = std::max(next + kPeriod, port_.now());
    port_.WaitUntil(next);
  }
  return 0;
}

void Top::Ask() {
  auto state = port_.AskState(absl::StrCat("?since=", view_.since()));
  if (state.ok() && !view_.Take(*std::move(state))) {
    state = port_.AskState("");
    if (state.ok()) view_.Take(*std::move(state));
  }
  if (state.ok()) {
    last_answer_ = port_.now();
    silence_ = {};
  } else {
    silence_ = {.reason = std::string(state.status().message()),
                .lasts = port_.now() - last_answer_};
  }
}

void Top::Show() {
  // Asked each time, since its user may change it.
  const auto terminal = net::OutputTerminal();
  if (screen_.redraws() && terminal.has_value()) {
    screen_.Draw(view_.Frame(*terminal, silence_));
  } else {
    screen_.Print({view_.Line(silence_)});
  }
}

}  // namespace

Command AddTop(Command app, TopOptions& options) {
  Command top = app.AddCommand("top", "show what a running sidecar does, live in a terminal");
  AddAdminAddress(top, options.address);
  top.AddOption("--count", options.count, "end after this many answers; 0 means never")
      .Within(0, std::numeric_limits<int>::max())
      .ValueName("N")
      .ShowDefault("0");
  top.Footer(
      "Without a terminal it prints a line each second. Ctrl-C ends it. Exit code 1: the sidecar "
      "did not answer the first or the last request.");
  return top;
}

int RunTop(const TopOptions& options) {
  return Top(*ReadAdminAddress(options.address), options).Run();
}

}  // namespace levee
