// SPDX-License-Identifier: Apache-2.0
// What `levee top` makes of the state of a sidecar.
#include "cli/top_view.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using admin::v1::State;
using admin::v1::Upstream;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::ResultOf;
using testing::StartsWith;

constexpr net::TerminalSize kSmall = {.rows = 24, .columns = 80};

void AddUpstream(State& state, const std::string& name, Upstream::Severity severity, double calls) {
  Upstream& upstream = *state.add_upstreams();
  upstream.set_name(name);
  upstream.set_severity(severity);
  upstream.set_verdict(absl::StrCat(calls, " calls/s"));
  upstream.mutable_rates()->set_calls_per_second(calls);
  upstream.mutable_rates()->set_callers_ok(0.92);
  upstream.mutable_rates()->set_amplification(1.09);
  upstream.mutable_endpoint_counts()->set_ready(2);
  upstream.mutable_endpoint_counts()->set_failing(1);
}

State At(uint32_t second) {
  State state;
  state.set_next(second);
  state.set_instance("one");
  state.set_time(1767225600.0 + second);
  state.mutable_sidecar()->set_started(1767225600);
  AddUpstream(state, "cart", Upstream::SEVERITY_CALM, 40);
  AddUpstream(state, "bank", Upstream::SEVERITY_ALARM, 7);
  AddUpstream(state, "mail", Upstream::SEVERITY_CONTAINED, 9);
  return state;
}

void AddCall(State& state, uint32_t second, const std::string& method) {
  admin::v1::Call& call = *state.add_calls();
  call.set_number(second);
  call.set_start(1767225600.0 + second);
  call.set_code("OK");
  call.set_upstream("bank");
  call.set_method(method);
  call.set_why("retried once");
  call.add_attempts();
  call.add_attempts();
}

std::string Text(const TopView& view, net::TerminalSize size = kSmall) {
  return absl::StrJoin(view.Frame(size, {}), "\n");
}

// How many columns a line takes: its escape sequences take none.
size_t Width(const std::string& line) {
  size_t width = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b')
      at = line.find('m', at);
    else if ((line[at] & 0xc0) != 0x80)
      ++width;
  }
  return width;
}

TEST(TopView, ShowsTheWorstUpstreamFirst) {
  TopView view("127.0.0.1:9462");
  ASSERT_TRUE(view.Take(At(3)));
  const std::string text = Text(view);
  EXPECT_THAT(text, AllOf(HasSubstr("127.0.0.1:9462  00:00:03 UTC  up 3s"),
                          HasSubstr("- ALARM bank: 7 calls/s\n  - contained mail: 9 calls/s\n")));
  EXPECT_LT(text.find("\nbank "), text.find("\nmail "));
  EXPECT_LT(text.find("\nmail "), text.find("\ncart "));
  EXPECT_EQ(view.Line({}), "2026-01-01T00:00:03Z ALARM bank: 7 calls/s (and 1 more)");
}

TEST(TopView, ShowsTheNewestCallsAndEachOnce) {
  TopView view("a");
  State state = At(3);
  AddCall(state, 3, "Old");
  AddCall(state, 4, "OfASecondThatIsNotOver");
  ASSERT_TRUE(view.Take(state));
  EXPECT_EQ(view.since(), 3u);
  state = At(4);
  AddCall(state, 4, "OfASecondThatIsNotOver");
  AddCall(state, 4, "New");
  ASSERT_TRUE(view.Take(state));
  const std::string text = Text(view);
  EXPECT_LT(text.find("bank New  2 attempts"), text.find("bank OfASecond"));
  EXPECT_EQ(text.find("bank OfASecond"), text.rfind("bank OfASecond"));
  EXPECT_THAT(text, HasSubstr("bank Old"));
}

TEST(TopView, ForgetsASidecarThatHasBeenRestarted) {
  TopView view("a");
  State state = At(3);
  AddCall(state, 3, "Old");
  ASSERT_TRUE(view.Take(state));
  state = At(1);
  state.set_instance("another");
  EXPECT_FALSE(view.Take(state));
  EXPECT_EQ(view.since(), 0u);
  ASSERT_TRUE(view.Take(state));
  EXPECT_THAT(Text(view), Not(HasSubstr("Old")));
}

TEST(TopView, FitsEveryTerminal) {
  TopView view("127.0.0.1:9462");
  State state = At(3);
  for (int i = 0; i < 30; ++i) {
    AddUpstream(state, absl::StrCat("upstream-with-a-long-name-", i), Upstream::SEVERITY_ALARM, i);
    state.mutable_upstreams()->rbegin()->set_verdict(std::string(300, 'v') + " ü words");
    AddCall(state, 3, std::string(300, 'm'));
  }
  ASSERT_TRUE(view.Take(state));
  for (const int rows : {1, 2, 5, 10, 24, 50}) {
    for (const int columns : {1, 20, 80, 200}) {
      const auto frame = view.Frame({.rows = rows, .columns = columns},
                                    {.reason = "connection refused", .lasts = absl::Seconds(5)});
      EXPECT_LE(frame.size(), static_cast<size_t>(std::max(rows - 1, 1)));
      EXPECT_THAT(frame, Each(ResultOf(Width, testing::Le(static_cast<size_t>(columns)))));
    }
  }
  // The calls keep room beside many upstreams.
  EXPECT_THAT(Text(view, {.rows = 40, .columns = 80}),
              AllOf(HasSubstr("and 20 more"), HasSubstr("bank mmmm")));
}

TEST(TopView, SaysThatItIsOldWhileThereIsNoAnswer) {
  TopView view("a");
  ASSERT_TRUE(view.Take(At(3)));
  const Silence silence = {.reason = "connection refused", .lasts = absl::Seconds(65)};
  EXPECT_THAT(absl::StrJoin(view.Frame(kSmall, silence), "\n"),
              HasSubstr("No answer for 1m5s: connection refused. All below is of 00:00:03."));
  EXPECT_EQ(view.Line(silence), "no answer: connection refused");
}

TEST(TopView, LetsNoCallerReachTheTerminal) {
  TopView view("a");
  State state = At(3);
  AddCall(state, 3,
          "\x1b]0;owned\x07\x7f\n\xc2\x9b"
          "31m"
          "\xff");
  ASSERT_TRUE(view.Take(state));
  EXPECT_THAT(Text(view), HasSubstr("bank ?]0;owned????31m?  2 attempts"));
}

}  // namespace
}  // namespace levee
