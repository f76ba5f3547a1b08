#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/check_command.h"
#include "cli/import_command.h"
#include "cli/run_command.h"
#include "cli/version.h"
#include "demo/demo.h"

namespace levee {
namespace {

constexpr int kWrongUsage = 2;
constexpr int kMaxWorkers = 64;

constexpr const char* kAbout =
    "Levee carries a service's outbound gRPC calls, retries what is worth retrying, and keeps\n"
    "retries within a budget, so that they never become the outage.";

constexpr const char* kExitCodes =
    "Exit codes: 0 fine, 1 the configuration or the run failed, 2 wrong usage.";

CLI::App* AddRun(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run the sidecar");
  run->add_option("--config", options.config.files,
                  "policy file (YAML); several are one configuration, later ones over earlier "
                  "ones. Without any: the built-in default")
      ->type_name("FILE");
  run->add_option("--to", options.config.to, "send every call to this address")
      ->type_name("HOST:PORT");
  run->add_option("--workers", options.workers, "threads that carry calls")
      ->check(CLI::Range(1, kMaxWorkers))
      ->capture_default_str();
  run->add_option("--log-level", options.log_level, "least level that is logged, to stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}))
      ->capture_default_str();
  run->footer(
      "Prints a line per bound address on stdout. SIGTERM drains and ends it, a second one ends it "
      "at once.");
  return run;
}

CLI::App* AddCheck(CLI::App& app, std::vector<std::string>& files) {
  CLI::App* check = app.add_subcommand("check", "print all faults of a configuration at once");
  check
      ->add_option("files", files,
                   "policy files (YAML), '-': standard input; several are one "
                   "configuration, as for run")
      ->type_name("FILE")
      ->required();
  return check;
}

// What `levee import` is asked for.
struct ImportOptions {
  CLI::App* grpc_service_config = nullptr;
  CLI::App* envoy = nullptr;
  std::string file;
};

CLI::App* AddImport(CLI::App& app, ImportOptions& options) {
  CLI::App* import_from =
      app.add_subcommand("import", "print another tool's policy as one of Levee's");
  import_from->require_subcommand(1);
  options.grpc_service_config = import_from->add_subcommand(
      "grpc-service-config", "retries, hedging and timeouts of a gRPC service config (JSON)");
  options.envoy = import_from->add_subcommand(
      "envoy",
      "routes, retries and clusters of an Envoy configuration (YAML or JSON), or of a "
      "part of one");
  for (CLI::App* format : {options.grpc_service_config, options.envoy}) {
    format->add_option("file", options.file, "what to import, '-': standard input")
        ->type_name("FILE")
        ->required();
  }
  import_from->footer("What has no equivalent is a comment at the place where it would stand.");
  return import_from;
}

// The reason why `text` is no duration of a demo; empty if it is one.
std::string CheckDemoDuration(const std::string& text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration >= demo::kShortestDemo &&
      duration <= demo::kLongestDemo) {
    return "";
  }
  return absl::StrCat("\"", text, "\" is no duration with a unit from ",
                      absl::FormatDuration(demo::kShortestDemo), " to ",
                      absl::FormatDuration(demo::kLongestDemo));
}

CLI::App* AddDemo(CLI::App& app, demo::DemoOptions& options) {
  CLI::App* command = app.add_subcommand(
      "demo", "show a retry storm without and with Levee, with a real service and real calls");
  command
      ->add_option_function<std::string>(
          "--duration",
          [&options](const std::string& text) { absl::ParseDuration(text, &options.duration); },
          "how long it takes")
      ->check(CheckDemoDuration)
      ->type_name("DURATION")
      ->default_str(absl::FormatDuration(options.duration));
  command->add_option("--rate", options.calls_per_second, "calls per second")
      ->check(CLI::Range(50, 5000))
      ->capture_default_str();
  command->add_flag("--stay", options.stay,
                    "keep service and sidecar up afterwards until Ctrl-C (on a terminal)");
  return command;
}

}  // namespace

int RunCommand(int argc, char** argv) {
  CLI::App app{kAbout, "levee"};
  app.require_subcommand(1);
  app.footer(kExitCodes);
  app.set_version_flag("--version", VersionText());
  RunOptions run_options;
  CLI::App* run = AddRun(app, run_options);
  demo::DemoOptions demo_options;
  CLI::App* demo = AddDemo(app, demo_options);
  std::vector<std::string> check_files;
  CLI::App* check = AddCheck(app, check_files);
  ImportOptions import_options;
  CLI::App* import_from = AddImport(app, import_options);
  CLI::App* version = app.add_subcommand("version", "print version, commit, library versions");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and version as "errors" of code 0.
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  if (run->parsed()) return RunSidecar(run_options);
  if (check->parsed()) return RunCheck(check_files);
  if (import_from->parsed()) {
    return RunImport(
        import_options.envoy->parsed() ? ImportFormat::kEnvoy : ImportFormat::kGrpcServiceConfig,
        import_options.file);
  }
  if (demo->parsed()) return demo::RunDemo(demo_options);
  if (version->parsed()) std::fputs(VersionText().c_str(), stdout);
  return 0;
}

}  // namespace levee
