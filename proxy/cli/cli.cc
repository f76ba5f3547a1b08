// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
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
#include "cli/doctor_command.h"
#include "cli/duration_option.h"
#include "cli/explain_options.h"
#include "cli/fleet_command.h"
#include "cli/help_text.h"
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

CLI::App* AddRun(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run the sidecar");
  run->add_option(
         "--config", options.config.files,
         "policy file (YAML), '-': standard input; several are one configuration, later ones "
         "over earlier ones. Without any: the built-in default")
      ->type_name("FILE");
  run->add_option("--to", options.config.to, "send every call to this address")
      ->type_name("HOST:PORT");
  run->add_option("--guard", options.config.guard,
                  "without a file: take calls to the application at this address, and protect it; "
                  "it is at --to, and its own calls go where they say")
      ->type_name("HOST:PORT");
  run->add_option("--listen", options.config.listen,
                  "without a file: where callers reach it, instead of 127.0.0.1:9460")
      ->type_name("HOST:PORT");
  run->add_option("--metrics", options.config.metrics,
                  "without a file: where metrics are, instead of 127.0.0.1:9461, or none")
      ->type_name("HOST:PORT");
  run->add_option("--admin", options.config.admin,
                  "without a file: where the page is, instead of 127.0.0.1:9462, or none")
      ->type_name("HOST:PORT");
  run->add_option("--workers", options.workers, "threads that carry calls")
      ->check(CLI::Range(1, kMaxWorkers))
      ->capture_default_str();
  run->add_option("--log-level", options.log_level, "least level that is logged, to stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}))
      ->capture_default_str();
  run->add_option("--log-format", options.log_format,
                  "how it is logged: text, or json with one object for each line")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  run->add_flag("--keep-code-pages", options.keep_code_pages,
                "keep program code in memory after the start, and with it the breakpoints and "
                "probes of tools; always so while a debugger is attached");
  run->footer(
      "Prints a line per bound address on stdout. A changed file or SIGHUP reloads the "
      "configuration; a faulty one changes nothing. SIGTERM drains and ends it, a second one ends "
      "it at once.");
  return run;
}

CLI::App* AddCheck(CLI::App& app, CheckOptions& options) {
  CLI::App* check =
      app.add_subcommand("check", "print all faults and warnings of a configuration at once");
  AddFiles(*check, options.files);
  check->add_option("-o,--output", options.output, "how it is printed: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  check->add_flag("--each", options.each, "check each file alone, as a configuration of its own");
  check->add_flag("--strict", options.strict, "exit with 1 on a warning, too");
  check
      ->add_option_function<std::string>(
          "--memory", [&options](const std::string& text) { options.memory = *ParseSize(text); },
          "of the container, as 128MiB: print what the limits may take of it, and warn if that is "
          "too much")
      ->check([](const std::string& text) {
        const auto size = ParseSize(text);
        if (!size.ok()) return std::string(size.status().message());
        return std::string(*size > 0 ? "" : "is no memory");
      })
      ->type_name("SIZE");
  return check;
}

// The options of `levee import`.
struct ImportOptions {
  std::vector<std::pair<CLI::App*, ImportFormat>> formats;
  std::vector<std::string> files;
};

CLI::App* AddImport(CLI::App& app, ImportOptions& options) {
  CLI::App* import_from =
      app.add_subcommand("import", "print another tool's policy as one of Levee's");
  import_from->require_subcommand(1);
  const auto add = [&](ImportFormat format, const char* name, const char* what) {
    CLI::App* from = import_from->add_subcommand(name, what);
    from->add_option("file", options.files, "what to import, '-': standard input")
        ->type_name("FILE")
        ->required();
    options.formats.emplace_back(from, format);
  };
  add(ImportFormat::kGrpcServiceConfig, "grpc-service-config",
      "retries, hedging and timeouts of gRPC service configs (JSON)");
  add(ImportFormat::kEnvoy, "envoy",
      "routes, retries and clusters of an Envoy configuration (YAML or JSON), or of parts of one");
  add(ImportFormat::kGatewayApi, "gateway-api",
      "GRPCRoute, HTTPRoute, XBackendTrafficPolicy and BackendTLSPolicy of the Kubernetes Gateway "
      "API (YAML or JSON)");
  add(ImportFormat::kLinkerd, "linkerd",
      "retries and timeouts of Linkerd's annotations and ServiceProfiles (YAML or JSON)");
  add(ImportFormat::kIstio, "istio", "Istio's VirtualServices and DestinationRules (YAML or JSON)");
  import_from->footer("What has no equivalent is a comment at the place where it would stand.");
  return import_from;
}

int RunImport(const ImportOptions& options) {
  for (const auto& [from, format] : options.formats) {
    if (from->parsed()) return RunImport(format, options.files);
  }
  return kWrongUsage;
}

CLI::App* AddDemo(CLI::App& app, demo::DemoOptions& options) {
  CLI::App* command = app.add_subcommand(
      "demo", "show a retry storm without and with Levee, with a real service and real calls");
  AddDuration(*command, "--duration", options.duration, demo::kShortestDemo, demo::kLongestDemo,
              "how long it takes");
  command->add_flag("--guard", options.guard,
                    "show instead a service that gets three times the calls that it can do, "
                    "without and with a guard");
  command
      ->add_option(
          "--rate", options.per_second,
          absl::StrCat("calls per second; with --guard, calls that the service can do, from ",
                       demo::kLeastGuardedRate))
      ->check(CLI::Range(50, 5000))
      ->capture_default_str();
  command->add_flag("--stay", options.stay,
                    "keep service and sidecar up afterwards until Ctrl-C (on a terminal)");
  return command;
}

std::string CheckHostPort(const std::string& text) {
  if (SplitHostPort(text).has_value()) return "";
  return absl::StrCat("\"", text, "\" is no HOST:PORT");
}

CLI::App* AddProbe(CLI::App& app, ProbeOptions& options) {
  CLI::App* probe = app.add_subcommand(
      "probe", "ask a running sidecar whether it is healthy, for health checks of containers");
  probe->add_flag("--ready", options.ready, "ask whether it is ready for calls");
  probe->add_option("--address", options.address, "its metrics.address")
      ->check(CheckHostPort)
      ->type_name("HOST:PORT")
      ->capture_default_str();
  probe->footer("Prints one line. Exit code 0: yes, 1: no, or no answer within 2 s.");
  return probe;
}

// The longest time for which `levee sleep`, as a hook, may delay the end of a container.
constexpr absl::Duration kLongestSleep = absl::Hours(1);

CLI::App* AddSleep(CLI::App& app, absl::Duration& duration) {
  CLI::App* command = app.add_subcommand(
      "sleep", "wait and exit with 0, for preStop hooks of containers, which have no shell");
  command
      ->add_option_function<std::string>(
          "duration",
          [&duration](const std::string& text) { absl::ParseDuration(text, &duration); },
          "how long")
      ->check(DurationWithin(absl::ZeroDuration(), kLongestSleep))
      ->type_name("DURATION")
      ->required();
  return command;
}

CLI::App* AddHelp(CLI::App& app, std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  CLI::App* help = app.add_subcommand("help", "explain a command, as its option --help does");
  help->add_option("command", words, "the command; without it, all are listed")
      ->type_name(absl::StrCat("COMMAND:{", absl::StrJoin(names, ","), "}"));
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

// The command `levee`, whose layout of help the commands below it take over.
struct Levee : CLI::App {
  Levee() : CLI::App(kAbout, "levee") { formatter(std::make_shared<HelpText>()); }
};

// The definition of all commands, and their options.
struct CommandLine {
  Levee app;
  RunOptions run_options;
  CLI::App* run = AddRun(app, run_options);
  demo::DemoOptions demo_options;
  CLI::App* demo = AddDemo(app, demo_options);
  CheckOptions check_options;
  CLI::App* check = AddCheck(app, check_options);
  ExplainOptions explain_options;
  CLI::App* explain = AddExplain(app, explain_options);
  SimulateOptions simulate_options;
  CLI::App* simulate = AddSimulate(app, simulate_options);
  ReplayOptions replay_options;
  CLI::App* replay = AddReplay(app, replay_options);
  AdviseOptions advise_options;
  CLI::App* advise = AddAdvise(app, advise_options);
  ImportOptions import_options;
  CLI::App* import_from = AddImport(app, import_options);
  InjectCommandOptions inject_options;
  CLI::App* inject = AddInject(app, inject_options);
  DoctorOptions doctor_options;
  CLI::App* doctor = AddDoctor(app, doctor_options);
  FleetOptions fleet_options;
  CLI::App* fleet = AddFleet(app, fleet_options);
  ProbeOptions probe_options;
  CLI::App* probe = AddProbe(app, probe_options);
  CaptureOptions capture_options;
  CLI::App* capture = AddCapture(app, capture_options);
  SnapshotOptions snapshot_options;
  CLI::App* snapshot = AddSnapshot(app, snapshot_options);
  PageOptions page_options;
  CLI::App* page = AddPage(app, page_options);
  TopOptions top_options;
  CLI::App* top = AddTop(app, top_options);
  absl::Duration sleep_duration;
  CLI::App* sleep = AddSleep(app, sleep_duration);
  CLI::App* version = app.add_subcommand("version", "print version, commit, library versions");
  std::vector<std::string> help_words;
  CLI::App* help = AddHelp(app, help_words);

  CommandLine() {
    app.require_subcommand(1);
    app.footer(kExitCodes);
    app.set_version_flag("--version", VersionText());
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

// Returns what Levee says instead of CLI11 of a word that is missing; empty if none is.
std::string DescribeMissingWord(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::RequiredError)) return "";
  const std::string fault = DescribeMissingCommand(app);
  return fault.empty() ? DescribeMissingArgument(app) : fault;
}

}  // namespace

CommandDescription DescribeCommandLine() { return ReadCommand(CommandLine().app); }

int RunCommand(int argc, char** argv) {
  CommandLine line;
  if (argc > 0) line.demo_options.called_as = argv[0];
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and version as "errors" of code 0.
    const bool asked = error.get_exit_code() == 0;
    std::string fault = DescribeUnknownWord(line.app);
    if (fault.empty() && !asked) fault = DescribeMissingWord(line.app, error);
    if (!fault.empty()) {
      std::fprintf(stderr, "%s\n", fault.c_str());
      return kWrongUsage;
    }
    line.app.exit(error);
    return asked ? 0 : kWrongUsage;
  }
  if (line.run->parsed()) return RunSidecar(line.run_options);
  if (line.check->parsed()) return AfterOutput(RunCheck(line.check_options));
  if (line.explain->parsed()) return AfterOutput(RunExplain(line.explain_options));
  if (line.simulate->parsed()) return AfterOutput(RunSimulate(line.simulate_options));
  if (line.replay->parsed()) return AfterOutput(RunReplay(line.replay_options));
  if (line.advise->parsed()) return AfterOutput(RunAdvise(line.advise_options));
  if (line.import_from->parsed()) return AfterOutput(RunImport(line.import_options));
  if (line.inject->parsed()) return AfterOutput(RunInject(line.inject_options));
  if (line.doctor->parsed()) return AfterOutput(RunDoctor(line.doctor_options));
  if (line.fleet->parsed()) return AfterOutput(RunFleet(line.fleet_options));
  if (line.demo->parsed()) return demo::RunDemo(line.demo_options);
  if (line.probe->parsed()) return RunProbe(line.probe_options);
  if (line.capture->parsed()) return AfterOutput(RunCapture(line.capture_options));
  if (line.snapshot->parsed()) return AfterOutput(RunSnapshot(line.snapshot_options));
  if (line.page->parsed()) return RunPage(line.page_options);
  if (line.top->parsed()) return RunTop(line.top_options);
  if (line.sleep->parsed()) absl::SleepFor(line.sleep_duration);
  if (line.version->parsed()) return PrintVersion();
  if (line.help->parsed()) return ShowHelp(line.help_words);
  return 0;
}

}  // namespace levee
