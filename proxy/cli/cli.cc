// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/host_port.h"
#include "cli/capture_command.h"
#include "cli/check_command.h"
#include "cli/command_line.h"
#include "cli/doctor_command.h"
#include "cli/drain_command.h"
#include "cli/duration_option.h"
#include "cli/explain_options.h"
#include "cli/fleet_command.h"
#include "cli/format_option.h"
#include "cli/import_command.h"
#include "cli/inject_command.h"
#include "cli/page_command.h"
#include "cli/probe_command.h"
#include "cli/replay_command.h"
#include "cli/run_command.h"
#include "cli/simulate_options.h"
#include "cli/snapshot_command.h"
#include "cli/top_command.h"
#include "cli/unknown_word.h"
#include "cli/version.h"
#include "config/values.h"
#include "demo/demo.h"

namespace levee {
namespace {

constexpr int kMaxWorkers = 64;

constexpr const char* kAbout =
    "Levee carries a service's outbound gRPC calls, retries what is worth retrying, and keeps "
    "retries within a budget, so that they never become the outage.";

constexpr const char* kExitCodes =
    "Exit codes: 0 fine, 1 the configuration or the run failed, 2 wrong usage.";

Command AddRun(Command app, RunOptions& options) {
  Command run = app.AddCommand("run", "run the sidecar");
  run.AddOption(
         "--config", options.config.files,
         "policy file (YAML); '-' is standard input. Several files are one configuration, in which "
         "later files override earlier ones. Without a file, the built-in default applies")
      .ValueName("FILE");
  run.AddOption("--to", options.config.to, "send every call to this address")
      .ValueName("HOST:PORT");
  run.AddOption("--guard", options.config.guard,
                "without a file: put a guard at this address, in front of the application at --to; "
                "the application's own calls go to their :authority")
      .ValueName("HOST:PORT");
  run.AddOption("--listen", options.config.listen,
                "without a file: the address for callers, instead of 127.0.0.1:9460")
      .ValueName("HOST:PORT");
  run.AddOption("--metrics", options.config.metrics,
                "without a file: the address of the metrics, instead of 127.0.0.1:9461, or none")
      .ValueName("HOST:PORT");
  run.AddOption("--admin", options.config.admin,
                "without a file: the address of the page, instead of 127.0.0.1:9462, or none")
      .ValueName("HOST:PORT");
  run.AddOption("--workers", options.workers, "threads that carry calls")
      .Within(1, kMaxWorkers)
      .ShowDefault();
  run.AddOption("--log-level", options.log_level, "lowest level that is logged, to standard error")
      .OneOf({"trace", "debug", "info", "warning", "error", "critical", "off"})
      .ShowDefault();
  run.AddOption("--log-format", options.log_format,
                "format of the log: text, or json with one object per line")
      .OneOf({"text", "json"})
      .ValueName("FORMAT")
      .ShowDefault();
  run.AddFlag("--keep-code-pages", options.keep_code_pages,
              "keep program code in memory after the start, with the breakpoints and probes of "
              "tools; this is always done while a debugger is attached");
  run.Footer(
      "Prints a line for each bound address on standard output. A changed file or SIGHUP reloads "
      "the configuration; a faulty file changes nothing. SIGTERM drains the sidecar and ends it; a "
      "second SIGTERM ends it at once.");
  return run;
}

Command AddCheck(Command app, CheckOptions& options) {
  Command check =
      app.AddCommand("check", "print all faults and warnings of a configuration at once");
  AddFiles(check, options.files);
  AddFormat(check, options.output);
  check.AddFlag("--each", options.each, "check each file alone, as a configuration of its own");
  check.AddFlag("--strict", options.strict, "exit with 1 on a warning, too");
  check
      .AddOption(
          "--memory", [&options](const std::string& text) { options.memory = *ParseSize(text); },
          "memory of the container, such as 128MiB: print how much of it the limits may take, and "
          "warn if that is too much")
      .Check([](const std::string& text) {
        const auto size = ParseSize(text);
        if (!size.ok()) return std::string(size.status().message());
        return std::string(*size > 0 ? "" : "is not a size of memory");
      })
      .ValueName("SIZE");
  return check;
}

// The options of `levee import`.
struct ImportOptions {
  std::vector<std::pair<Command, ImportFormat>> formats;
  std::vector<std::string> files;
  bool strict = false;
};

Command AddImport(Command app, ImportOptions& options) {
  Command import_from =
      app.AddCommand("import", "print another tool's policy as a policy of Levee");
  import_from.RequireCommand();
  const auto add = [&](ImportFormat format, const char* name, const char* what) {
    Command from = import_from.AddCommand(name, what);
    from.AddOption("file", options.files, "file to import; '-' is standard input")
        .ValueName("FILE")
        .Required();
    from.AddFlag("--strict", options.strict, "exit with 1 unless every route is exact");
    options.formats.emplace_back(from, format);
  };
  add(ImportFormat::kGrpcServiceConfig, "grpc-service-config",
      "retries, hedging and timeouts of gRPC service configs (JSON)");
  add(ImportFormat::kEnvoy, "envoy",
      "routes, retries and clusters of an Envoy configuration (YAML or JSON), or of parts of one");
  add(ImportFormat::kGatewayApi, "gateway-api",
      "GRPCRoute, HTTPRoute, XBackendTrafficPolicy and BackendTLSPolicy of the Kubernetes Gateway "
      "API, Envoy Gateway's BackendTrafficPolicy and kgateway's TrafficPolicy (YAML or JSON)");
  add(ImportFormat::kLinkerd, "linkerd",
      "retries and timeouts of Linkerd's annotations and ServiceProfiles (YAML or JSON)");
  add(ImportFormat::kIstio, "istio", "Istio's VirtualServices and DestinationRules (YAML or JSON)");
  import_from.Footer(
      "A setting without an equivalent becomes a comment at its place. Standard error counts the "
      "routes that are exact, narrowed, guarded (tried once or not at all) and refused.");
  return import_from;
}

int RunImport(const ImportOptions& options) {
  for (const auto& [from, format] : options.formats) {
    if (from.parsed()) return RunImport(format, options.files, options.strict);
  }
  return kWrongUsage;
}

Command AddDemo(Command app, demo::DemoOptions& options) {
  Command command = app.AddCommand(
      "demo", "show a retry storm without and with Levee, with a real service and real calls");
  AddDuration(command, "--duration", options.duration, demo::kShortestDemo, demo::kLongestDemo,
              "duration of the demo");
  command.AddFlag("--guard", options.guard,
                  "show instead a service that gets three times the calls that it can carry, "
                  "without and with a guard");
  command
      .AddOption(
          "--rate", options.per_second,
          absl::StrCat("calls per second; with --guard, calls that the service can carry, from ",
                       demo::kLeastGuardedRate))
      .Within(50, 5000)
      .ShowDefault();
  command.AddFlag("--stay", options.stay,
                  "keep service and sidecar up afterwards until Ctrl-C (on a terminal)");
  return command;
}

std::string CheckHostPort(const std::string& text) {
  if (SplitHostPort(text).has_value()) return "";
  return absl::StrCat("\"", text, "\" is not HOST:PORT");
}

Command AddProbe(Command app, ProbeOptions& options) {
  Command probe = app.AddCommand(
      "probe", "ask a running sidecar whether it is healthy, for health checks of containers");
  probe.AddFlag("--ready", options.ready, "ask whether it is ready for calls");
  probe.AddOption("--address", options.address, "metrics.address of the sidecar")
      .Check(CheckHostPort)
      .ValueName("HOST:PORT")
      .ShowDefault();
  probe.Footer("Prints one line. Exit code 0: yes, 1: no, or no answer within 2 s.");
  return probe;
}

// The longest time for which `levee sleep`, as a hook, may delay the end of a container.
constexpr absl::Duration kLongestSleep = absl::Hours(1);

Command AddSleep(Command app, absl::Duration& duration) {
  Command command = app.AddCommand(
      "sleep", "wait and exit with 0, for preStop hooks of containers, which have no shell");
  command
      .AddOption(
          "duration",
          [&duration](const std::string& text) { absl::ParseDuration(text, &duration); },
          "how long")
      .Check(DurationWithin(absl::ZeroDuration(), kLongestSleep))
      .ValueName("DURATION")
      .Required();
  return command;
}

Command AddHelp(Command app, std::vector<std::string>& words) {
  const std::string names = absl::StrJoin(app.CommandNames(), ",");
  Command help = app.AddCommand("help", "explain a command, as its option --help does");
  help.AddOption("command", words, "the command; without it, all are listed")
      .ValueName(absl::StrCat("COMMAND:{", names, "}"));
  return help;
}

// Returns the exit code of a command that is run only for its output. If the output could not be
// written, as on a full disk, the command has failed.
int AfterOutput(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // A reader such as head that has seen enough is no fault to tell of.
  pollfd reader = {.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  const bool left = poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0;
  if (!left) std::fputs("levee: standard output cannot be written\n", stderr);
  return code == 0 ? 1 : code;
}

int PrintVersion() {
  std::fputs(VersionText().c_str(), stdout);
  return AfterOutput(0);
}

// The definition of all commands, and their options. Above 20 data members: each command is one,
// and its options are another.
struct Levee {
  CommandLine line{"levee", kAbout, VersionText()};
  RunOptions run_options;
  Command run = AddRun(line.top(), run_options);
  demo::DemoOptions demo_options;
  Command demo = AddDemo(line.top(), demo_options);
  CheckOptions check_options;
  Command check = AddCheck(line.top(), check_options);
  ExplainOptions explain_options;
  Command explain = AddExplain(line.top(), explain_options);
  SimulateOptions simulate_options;
  Command simulate = AddSimulate(line.top(), simulate_options);
  ReplayOptions replay_options;
  Command replay = AddReplay(line.top(), replay_options);
  AdviseOptions advise_options;
  Command advise = AddAdvise(line.top(), advise_options);
  ImportOptions import_options;
  Command import_from = AddImport(line.top(), import_options);
  InjectCommandOptions inject_options;
  Command inject = AddInject(line.top(), inject_options);
  DoctorOptions doctor_options;
  Command doctor = AddDoctor(line.top(), doctor_options);
  FleetOptions fleet_options;
  Command fleet = AddFleet(line.top(), fleet_options);
  ProbeOptions probe_options;
  Command probe = AddProbe(line.top(), probe_options);
  DrainOptions drain_options;
  Command drain = AddDrain(line.top(), drain_options);
  CaptureOptions capture_options;
  Command capture = AddCapture(line.top(), capture_options);
  SnapshotOptions snapshot_options;
  Command snapshot = AddSnapshot(line.top(), snapshot_options);
  PageOptions page_options;
  Command page = AddPage(line.top(), page_options);
  TopOptions top_options;
  Command top = AddTop(line.top(), top_options);
  absl::Duration sleep_duration;
  Command sleep = AddSleep(line.top(), sleep_duration);
  Command version = line.top().AddCommand("version", "print version, commit, library versions");
  std::vector<std::string> help_words;
  Command help = AddHelp(line.top(), help_words);

  Levee() {
    line.top().RequireCommand();
    line.top().Footer(kExitCodes);
  }
};

// Answers `levee help COMMAND` as `levee COMMAND --help`.
int ShowHelp(const std::vector<std::string>& words) {
  std::vector<std::string> texts = {"levee"};
  texts.insert(texts.end(), words.begin(), words.end());
  texts.emplace_back("--help");
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  return RunCommand(static_cast<int>(arguments.size()), arguments.data());
}

// Prints what a command line asks for that names no command, or what is wrong with it.
int Answer(const Reading& reading, const std::vector<ParsedCommand>& commands) {
  const bool asked = reading.kind == Reading::Kind::kText;
  std::string fault = DescribeUnknownWord(commands);
  if (fault.empty() && reading.kind == Reading::Kind::kIncomplete) {
    fault = DescribeMissingWord(commands);
  }
  if (fault.empty()) {
    std::fputs(reading.text.c_str(), asked ? stdout : stderr);
    return asked ? 0 : kWrongUsage;
  }
  std::fprintf(stderr, "%s\n", fault.c_str());
  return kWrongUsage;
}

}  // namespace

CommandDescription DescribeCommandLine() { return Levee().line.Describe(); }

int RunCommand(int argc, char** argv) {
  Levee levee;
  if (argc > 0) levee.demo_options.called_as = argv[0];
  const Reading reading = levee.line.Read(argc, argv);
  if (reading.kind != Reading::Kind::kCommand) return Answer(reading, levee.line.ParsedCommands());
  if (levee.run.parsed()) return RunSidecar(levee.run_options);
  if (levee.check.parsed()) return AfterOutput(RunCheck(levee.check_options));
  if (levee.explain.parsed()) return AfterOutput(RunExplain(levee.explain_options));
  if (levee.simulate.parsed()) return AfterOutput(RunSimulate(levee.simulate_options));
  if (levee.replay.parsed()) return AfterOutput(RunReplay(levee.replay_options));
  if (levee.advise.parsed()) return AfterOutput(RunAdvise(levee.advise_options));
  if (levee.import_from.parsed()) return AfterOutput(RunImport(levee.import_options));
  if (levee.inject.parsed()) return AfterOutput(RunInject(levee.inject_options));
  if (levee.doctor.parsed()) return AfterOutput(RunDoctor(levee.doctor_options));
  if (levee.fleet.parsed()) return AfterOutput(RunFleet(levee.fleet_options));
  if (levee.demo.parsed()) return demo::RunDemo(levee.demo_options);
  if (levee.probe.parsed()) return RunProbe(levee.probe_options);
  if (levee.drain.parsed()) return RunDrain(levee.drain_options);
  if (levee.capture.parsed()) return AfterOutput(RunCapture(levee.capture_options));
  if (levee.snapshot.parsed()) return AfterOutput(RunSnapshot(levee.snapshot_options));
  if (levee.page.parsed()) return RunPage(levee.page_options);
  if (levee.top.parsed()) return RunTop(levee.top_options);
  if (levee.sleep.parsed()) absl::SleepFor(levee.sleep_duration);
  if (levee.version.parsed()) return PrintVersion();
  if (levee.help.parsed()) return ShowHelp(levee.help_words);
  return 0;
}

}  // namespace levee
