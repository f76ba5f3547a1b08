// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/utf8.h"
#include "lab/text_layout.h"
#include "lab/words.h"

namespace levee {
namespace {

using admin::v1::Call;
using admin::v1::Upstream;

constexpr size_t kMaxCalls = 100;  // more than a screen shows
constexpr size_t kVerdicts = 3;
constexpr int kLeastUpstreams = 3;
constexpr char kBold[] = "\x1b[1m";
constexpr char kPlain[] = "\x1b[0m";

// Returns the beginning of `text` that `columns` hold, with `?` for each character that is none to
// print.
std::string Shown(std::string_view text, size_t columns) {
  std::string shown;
  for (size_t used = 0; !text.empty() && used < columns; ++used) {
    const size_t size = Utf8CharacterSize(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    // C0, DEL, and C1, which UTF-8 writes as C2 80 to C2 9F.
    const bool control = byte < 0x20 || byte == 0x7f ||
                         (byte == 0xc2 && size == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (size == 0 || control) {
      shown.push_back('?');
    } else {
      shown.append(text.substr(0, size));
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return shown;
}

std::string Clock(double seconds, const char* format = "%H:%M:%S") {
  return absl::FormatTime(format, absl::UnixEpoch() + absl::Seconds(seconds), absl::UTCTimeZone());
}

// Returns "3h2m": two units at most.
std::string Age(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(seconds, 0.0));
  if (whole >= 86400) return absl::StrCat(whole / 86400, "d", whole % 86400 / 3600, "h");
  if (whole >= 3600) return absl::StrCat(whole / 3600, "h", whole % 3600 / 60, "m");
  if (whole >= 60) return absl::StrCat(whole / 60, "m", whole % 60, "s");
  return absl::StrCat(whole, "s");
}

const char* SeverityWord(const Upstream& upstream) {
  switch (upstream.severity()) {
    case Upstream::SEVERITY_CALM:
      return "calm";
    case Upstream::SEVERITY_ALARM:
      return "ALARM";
    default:  // One of a later version is worth a look.
      return "contained";
  }
}

std::string Title(absl::string_view text, size_t columns) {
  return absl::StrCat(kBold, Shown({text.data(), text.size()}, columns), kPlain);
}

constexpr char kTableHead[] =
    "UPSTREAM          CALLS/s RETRY/s CALLERS ATTEMPTS  AMPL      P99  BUDGET  READY";

std::string Row(const Upstream& upstream) {
  const auto& rates = upstream.rates();
  const auto& ends = upstream.endpoint_counts();
  const uint32_t all =
      ends.ready() + ends.connecting() + ends.ejected() + ends.failing() + ends.idle();
  const std::string p99 = rates.p99_seconds() > 0
                              ? DurationWords(absl::Seconds(rates.p99_seconds()))
                              : std::string("-");
  return absl::StrFormat("%-17s %7.1f %7.1f %7s %8s %5.2f %8s %7.1f %6s",
                         Shown(upstream.name(), 17), rates.calls_per_second(),
                         rates.retries_per_second(), PercentWords(rates.callers_ok()),
                         PercentWords(rates.attempts_ok()), rates.amplification(), p99,
                         upstream.budget().available(), absl::StrCat(ends.ready(), "/", all));
}

void AppendCall(const Call& call, size_t columns, std::vector<std::string>& lines) {
  const int attempts = call.attempts_size();
  const std::string head =
      absl::StrCat(Clock(call.start()), "  ", call.code(), "  ", call.upstream(), " ",
                   call.method(), "  ", attempts, attempts == 1 ? " attempt, " : " attempts, ",
                   DurationWords(absl::Seconds(call.duration_seconds())));
  lines.push_back(Shown(head, columns));
  lines.push_back(Shown(absl::StrCat("          ", call.why()), columns));
}

}  // namespace

bool TopView::Take(admin::v1::State answer) {
  if (!state_.instance().empty() && state_.instance() != answer.instance()) {
    state_.Clear();
    calls_.clear();
    return false;
  }
  // An answer has all that came after since(), also what the last one had of a second that was not
  // over.
  const uint32_t since = state_.next();
  while (!calls_.empty() && calls_.back().number() > since) calls_.pop_back();
  for (Call& call : *answer.mutable_calls()) calls_.push_back(std::move(call));
  while (calls_.size() > kMaxCalls) calls_.pop_front();
  answer.clear_calls();
  state_ = std::move(answer);
  return true;
}

std::vector<const Upstream*> TopView::ByUrgency() const {
  std::vector<const Upstream*> upstreams;
  for (const Upstream& upstream : state_.upstreams()) upstreams.push_back(&upstream);
  const auto rank = [](const Upstream* one) {
    return std::pair(one->severity(), one->rates().calls_per_second());
  };
  std::stable_sort(upstreams.begin(), upstreams.end(),
                   [&](const Upstream* a, const Upstream* b) { return rank(a) > rank(b); });
  return upstreams;
}

std::string TopView::Head() const {
  const auto& sidecar = state_.sidecar();
  const bool draining = sidecar.phase() == admin::v1::Sidecar::PHASE_DRAINING;
  return absl::StrCat("levee ", sidecar.version(), "  ", address_, "  ", Clock(state_.time()),
                      " UTC  ", draining ? "draining, " : "", "up ",
                      Age(state_.time() - sidecar.started()), ", ", sidecar.active_calls(),
                      " calls, ", sidecar.downstream_connections(), " connections");
}

std::vector<std::string> TopView::Verdicts(size_t columns, const Silence& silence) const {
  std::vector<std::string> sentences;
  if (!silence.reason.empty()) {
    sentences.push_back(absl::StrCat("No answer for ", Age(absl::ToDoubleSeconds(silence.lasts)),
                                     ": ", silence.reason, ". All below is of ",
                                     Clock(state_.time()), "."));
  }
  if (state_.configuration().last_reload_refused()) {
    sentences.push_back("The last reload was refused: " +
                        absl::StrJoin(state_.configuration().faults(), "; "));
  }
  for (const Upstream* upstream : ByUrgency()) {
    const bool calm = upstream->severity() == Upstream::SEVERITY_CALM;
    if (sentences.size() >= kVerdicts || (calm && state_.upstreams_size() > 1)) break;
    sentences.push_back(absl::StrCat(calm ? "" : SeverityWord(*upstream), calm ? "" : " ",
                                     upstream->name(), ": ", upstream->verdict()));
  }
  if (sentences.empty()) sentences.emplace_back("All upstreams are calm.");
  std::string text;
  AppendSentences(sentences, columns, text);
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    lines.push_back(Shown({line.data(), line.size()}, columns));
  }
  return lines;
}

std::vector<std::string> TopView::Frame(const net::TerminalSize& size,
                                        const Silence& silence) const {
  const auto columns = static_cast<size_t>(std::max(size.columns, 1));
  const size_t rows = static_cast<size_t>(std::max(size.rows, 2)) - 1;
  std::vector<std::string> lines = {Title(Head(), columns)};
  for (std::string& line : Verdicts(columns, silence)) lines.push_back(std::move(line));
  lines.push_back(Title(kTableHead, columns));
  const size_t half = lines.size() + std::max<size_t>(kLeastUpstreams, rows / 3);
  const auto upstreams = ByUrgency();
  size_t shown = 0;
  for (; shown < upstreams.size() && lines.size() < half; ++shown) {
    lines.push_back(Shown(Row(*upstreams[shown]), columns));
  }
  if (shown < upstreams.size()) {
    lines.push_back(Shown(absl::StrCat("and ", upstreams.size() - shown, " more"), columns));
  }
  lines.push_back(Title("LAST CALLS THAT WERE RETRIED OR REFUSED", columns));
  for (auto call = calls_.rbegin(); call != calls_.rend() && lines.size() + 2 <= rows; ++call) {
    AppendCall(*call, columns, lines);
  }
  if (calls_.empty()) lines.emplace_back(Shown("none", columns));
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

std::string TopView::Line(const Silence& silence) const {
  if (!silence.reason.empty()) return Shown(absl::StrCat("no answer: ", silence.reason), 1000);
  const std::string time = Clock(state_.time(), "%Y-%m-%dT%H:%M:%SZ");
  const auto upstreams = ByUrgency();
  if (upstreams.empty()) return absl::StrCat(time, " calm no calls");
  const Upstream& first = *upstreams.front();
  const auto uneasy = std::count_if(upstreams.begin() + 1, upstreams.end(), [](const auto* one) {
    return one->severity() != Upstream::SEVERITY_CALM;
  });
  const std::string more = uneasy > 0 ? absl::StrCat(" (and ", uneasy, " more)") : "";
  return Shown(
      absl::StrCat(time, " ", SeverityWord(first), " ", first.name(), ": ", first.verdict(), more),
      1000);
}

}  // namespace levee
