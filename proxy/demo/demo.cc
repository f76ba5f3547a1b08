// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "demo/fault_port.h"
#include "demo/load_run.h"
#include "demo/metrics_text.h"
#include "demo/scenario.h"
#include "demo/screen.h"
#include "demo/service.h"
#include "demo/sidecar_process.h"
#include "demo/texts.h"
#include "net/event_loop.h"
#include "net/terminal.h"

namespace levee::demo {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it.

constexpr uint64_t kSeed = 20;  // For load and faults: every demo is the same storm.
constexpr int kFrameLines = 13;

constexpr absl::Duration kStartLimit = absl::Seconds(5);
constexpr absl::Duration kStopLimit = absl::Seconds(4);
// After a run the service's line has to become empty, so that the next run begins with an empty
// one.
constexpr absl::Duration kSettle = absl::Seconds(1);
constexpr absl::Duration kFrameEvery = absl::Milliseconds(150);
constexpr absl::Duration kLineEvery = absl::Seconds(1);
constexpr absl::Duration kPollEvery = absl::Milliseconds(250);

Screen::Mode ModeHere() {
  const auto terminal = net::OutputTerminal();
  const bool fits =
      terminal.has_value() && terminal->columns > kFrameColumns && terminal->rows > kFrameLines;
  return fits ? Screen::Mode::kInPlace : Screen::Mode::kLines;
}

// The conductor: starts everything, plays both runs, ends everything. One thread, the loop's.
class Demo final : private net::TurnHandler {
 public:
  explicit Demo(const DemoOptions& options);

  int Run();

 private:
  enum class Stage { kStarting, kWithout, kSettling, kWith, kStaying, kStopping };

  Instant OnTurnEnd(Instant now) override;
  void Enter(Stage stage);
  void Invite();
  void Begin(const std::string& address, ClientRetries retries);
  void OnPolled(const std::string& metrics);
  void Play(Instant now);
  void EndRun();
  void OnSidecarEnded(int code);
  void OnInterrupt();
  void Stop(int code);
  void Fail(const std::string& reason);
  void Show();

  const DemoOptions options_;
  const Scenario scenario_ =
      options_.guard ? Overload(options_.per_second) : RetryStorm(options_.per_second);
  const Schedule schedule_ = Schedule::Within(options_.duration);

  net::EventLoop loop_;
  Screen screen_{ModeHere()};
  const absl::Duration show_every_ = screen_.redraws() ? kFrameEvery : kLineEvery;
  DemoService service_{scenario_.capacity, kSeed};
  FaultSwitch faults_{service_.address()};
  std::unique_ptr<HttpServer> fault_port_;  // While it stays.
  std::unique_ptr<SidecarProcess> sidecar_;

  Stage stage_ = Stage::kStarting;
  Instant stage_end_ = Instant::Infinite();  // When a stage that waits has waited long enough.
  std::unique_ptr<LoadRun> run_;
  Instant next_step_;  // Of the run.
  std::optional<RunRecord> without_;
  std::optional<RunRecord> with_;
  std::optional<BudgetState> budget_;
  Instant next_show_;
  Instant next_poll_;
  int exit_code_ = 0;
};

Demo::Demo(const DemoOptions& options) : options_(options) {}

int Demo::Run() {
  if (service_.address().empty()) {
    std::fprintf(stderr, "levee: the demo's service cannot listen on 127.0.0.1\n");
    return kFailed;
  }
  auto sidecar =
      SidecarProcess::Start(loop_, options_.levee_binary, scenario_.config(service_.address()),
                            {.ready =
                                 [this] {
                                   if (stage_ == Stage::kStarting) Enter(Stage::kWithout);
                                 },
                             .polled = [this](const std::string& metrics) { OnPolled(metrics); },
                             .ended = [this](int code) { OnSidecarEnded(code); }});
  if (!sidecar.ok()) {
    std::fprintf(stderr, "levee: %s\n", std::string(sidecar.status().message()).c_str());
    return kFailed;
  }
  sidecar_ = *std::move(sidecar);
  screen_.Print(scenario_.introduction(schedule_));
  for (const int signal : {net::kInterruptSignal, net::kTerminateSignal}) {
    loop_.OnSignal(signal, [this] { OnInterrupt(); });
  }
  Enter(Stage::kStarting);
  loop_.SetTurnHandler(this);
  loop_.Run();
  run_.reset();
  sidecar_.reset();
  return exit_code_;
}

Instant Demo::OnTurnEnd(Instant now) {
  if (run_ != nullptr) Play(now);
  if (now >= stage_end_) {
    switch (stage_) {
      case Stage::kStarting:
        Fail("the sidecar does not start");
        break;
      case Stage::kSettling:
        Enter(Stage::kWith);
        break;
      case Stage::kStopping:
        sidecar_->Kill();
        stage_end_ = Instant::Infinite();
        break;
      default:
        break;
    }
  }
  return run_ != nullptr ? std::min(next_step_, stage_end_) : stage_end_;
}

void Demo::Enter(Stage stage) {
  stage_ = stage;
  const Instant now = loop_.now();
  stage_end_ = Instant::Infinite();
  switch (stage) {
    case Stage::kStarting:
      stage_end_ = now + kStartLimit;
      break;
    case Stage::kWithout:
      screen_.Print(PageHint(sidecar_->output().page));
      Begin(service_.address(), scenario_.without.retries);
      break;
    case Stage::kSettling:
      stage_end_ = now + kSettle;
      break;
    case Stage::kWith:
      Begin(sidecar_->output().calls, scenario_.with.retries);
      break;
    case Stage::kStaying:
      Invite();
      break;
    case Stage::kStopping:
      sidecar_->Terminate();
      stage_end_ = now + kStopLimit;
      break;
  }
}

void Demo::Invite() {
  auto port = ServeFaults(service_);
  if (!port.ok()) return Fail(std::string(port.status().message()));
  fault_port_ = *std::move(port);
  screen_.Print(Invitation({.faults = fault_port_->address().ToString(),
                            .calls = sidecar_->output().calls,
                            .metrics = sidecar_->output().metrics,
                            .page = sidecar_->output().page,
                            .config_file = sidecar_->config_file(),
                            .program = options_.called_as},
                           scenario_.suggestions));
}

void Demo::Begin(const std::string& address, ClientRetries retries) {
  run_ = std::make_unique<LoadRun>(LoadRun::Setup{.address = address,
                                                  .retries = retries,
                                                  .load = scenario_.load,
                                                  .schedule = schedule_,
                                                  .seed = kSeed},
                                   service_, faults_, loop_.now());
  next_step_ = next_poll_ = loop_.now();
  next_show_ = loop_.now() + show_every_;
}

void Demo::Play(Instant now) {
  next_step_ = run_->Advance(now);
  if (stage_ == Stage::kWith && now >= next_poll_) {
    sidecar_->Poll();
    next_poll_ = now + kPollEvery;
  }
  if (now >= next_show_) {
    Show();
    next_show_ = next_show_ + show_every_;
  }
  if (run_->over()) EndRun();
}

void Demo::OnPolled(const std::string& metrics) {
  if (stage_ != Stage::kWith || run_ == nullptr) return;
  if (options_.guard) {
    run_->AddGuard(loop_.now(), ReadGuard(metrics));
  } else {
    budget_ = ReadBudget(metrics);
  }
}

void Demo::EndRun() {
  if (screen_.redraws()) Show();
  (stage_ == Stage::kWithout ? without_ : with_) = run_->record();
  run_.reset();
  if (stage_ == Stage::kWithout) {
    Enter(Stage::kSettling);
    return;
  }
  screen_.Print({""});
  screen_.Print(scenario_.table(*without_, *with_));
  if (options_.stay && screen_.redraws()) {
    Enter(Stage::kStaying);
  } else {
    Stop(0);
  }
}

void Demo::Show() {
  RunView without{.name = scenario_.without.name};
  RunView with{.name = scenario_.with.name};
  without.record = without_.has_value() ? &*without_ : &run_->record();
  if (stage_ == Stage::kWith) {
    with.record = &run_->record();
    with.budget = budget_;
  }
  if (screen_.redraws()) {
    screen_.Draw(scenario_.frame({without, with}));
  } else {
    screen_.Print({scenario_.line(stage_ == Stage::kWith ? with : without)});
  }
}

void Demo::OnSidecarEnded(int code) {
  if (stage_ != Stage::kStopping) {
    Fail(absl::StrCat("the sidecar has ended with exit code ", code));
    for (const std::string& line : sidecar_->output().rest) {
      std::fprintf(stderr, "  %s\n", line.c_str());
    }
  }
  loop_.Stop();
}

void Demo::OnInterrupt() {
  if (stage_ == Stage::kStopping) {
    sidecar_->Kill();  // A second interrupt ends it at once.
    return;
  }
  Stop(stage_ == Stage::kStaying ? 0 : kInterrupted);
}

void Demo::Fail(const std::string& reason) {
  screen_.Print({});
  std::fprintf(stderr, "levee: %s\n", reason.c_str());
  Stop(kFailed);
}

void Demo::Stop(int code) {
  exit_code_ = code;
  run_.reset();
  Enter(Stage::kStopping);
}

}  // namespace

int RunDemo(const DemoOptions& options) {
  if (options.duration < kShortestDemo || options.duration > kLongestDemo) {
    std::fprintf(stderr, "levee: the demo takes from %s to %s\n",
                 absl::FormatDuration(kShortestDemo).c_str(),
                 absl::FormatDuration(kLongestDemo).c_str());
    return kWrongUsage;
  }
  if (options.guard && options.per_second < kLeastGuardedRate) {
    std::fprintf(stderr, "levee: with --guard the rate is %.0f or more\n", kLeastGuardedRate);
    return kWrongUsage;
  }
  return Demo(options).Run();
}

}  // namespace levee::demo
