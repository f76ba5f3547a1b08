// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "admin_grpc/grpc_admin_server.h"
#include "cli/input.h"
#include "cli/log_sink.h"
#include "cli/version.h"
#include "config/room_warnings.h"
#include "net/descriptors.h"
#include "net/environment.h"
#include "net/line_writer.h"
#include "net/process_memory.h"
#include "net/terminal.h"
#include "otlp/otlp_exporter.h"
#include "sidecar/control_port.h"
#include "sidecar/running_sidecar.h"
#include "sidecar/span_exporter.h"
#include "spiffe/workload_identities.h"

namespace levee {
namespace {

absl::StatusOr<std::unique_ptr<ControlPort>> OpenGrpcPort(const ListenAddress& address,
                                                          SidecarView& view, StateKeeper& keeper) {
  return ToControlPort(GrpcAdminServer::Start(address, view, keeper));
}

std::unique_ptr<SpanExporter> MakeExporter(SpanSeries& series, EventLog& log) {
  const ResourceEnvironment environment = {
      .otel_service_name = net::EnvironmentVariable("OTEL_SERVICE_NAME"),
      .otel_resource_attributes = net::EnvironmentVariable("OTEL_RESOURCE_ATTRIBUTES"),
      .pod_name = net::EnvironmentVariable("POD_NAME"),
      .pod_namespace = net::EnvironmentVariable("POD_NAMESPACE")};
  return std::make_unique<OtlpExporter>(environment, std::string(BuildVersion()), series, log);
}

void Announce(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "levee: %s\n", std::string(status.message()).c_str());
  return 1;
}

// Another sidecar has the built-in ports. Without a file the message names no place to change them.
int FailToOpen(const ConfigInput& config, const absl::Status& status) {
  const int code = Fail(status);
  if (config.files.empty() && absl::StrContains(status.message(), "in use")) {
    std::fprintf(stderr, "Choose other addresses by --listen, --metrics and --admin.\n");
  }
  return code;
}

// Reads standard input if it is one of the files. Returns false, with the reason on standard error,
// if it cannot be read.
bool ReadStandardInput(ConfigInput& config) {
  if (std::find(config.files.begin(), config.files.end(), kStandardInput) == config.files.end()) {
    return true;
  }
  FaultList faults;
  std::optional<ConfigText> text = ReadInput(kStandardInput, kMaxConfigFileBytes, faults);
  if (!text.has_value()) {
    std::fprintf(stderr, "%s\n", FormatFaults(faults.Sorted({kStandardInput})).c_str());
    return false;
  }
  config.standard_input = std::move(text->text);
  return true;
}

// Returns whether all faults are faults of options such as --to, so that the command line is wrong
// and no file is.
bool AllOfCommandLine(const std::vector<Fault>& faults) {
  return std::all_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return fault.file.starts_with("--"); });
}

// Returns whether an address is given as an option beside a file, which has addresses of its own;
// says so on standard error.
bool AddressBesideFile(const ConfigInput& config) {
  struct AddressOption {
    const char* name;
    bool given;
    const char* field;
  };
  const AddressOption options[] = {{"--guard", config.guard.has_value(), "listeners[1].address"},
                                   {"--listen", config.listen.has_value(), "listeners[0].address"},
                                   {"--metrics", config.metrics.has_value(), "metrics.address"},
                                   {"--admin", config.admin.has_value(), "admin.address"}};
  for (const AddressOption& option : options) {
    if (!option.given || config.files.empty()) continue;
    std::fprintf(stderr,
                 "levee run: %s and --config exclude each other; give the address in the file, as "
                 "%s\n",
                 option.name, option.field);
    return true;
  }
  return false;
}

bool GuardsNothing(const ConfigInput& config) {
  if (!config.guard.has_value() || config.to.has_value()) return false;
  std::fprintf(stderr, "levee run: --guard needs --to, the address of the application\n");
  return true;
}

// Warns if callers may have fewer descriptors than the configuration says. The default gives way
// without a word.
void WarnOfDescriptors(const Limits& limits, EventLog& log) {
  const int64_t limit = net::DescriptorLimit();
  const int64_t callers = net::DescriptorsForCallers(limit);
  if (limits.connections <= callers) return;
  if (limits.connections == DefaultConnections()) return;
  log.Write(EventKind::kDescriptorsFew, [&] {
    return std::vector<LogField>{
        {"rlimit_nofile", limit}, {"for_callers", callers}, {"connections", limits.connections}};
  });
}

// Says on standard error what RLIMIT_NOFILE must be for the sidecar to serve anybody.
int FailForDescriptors(int64_t needed, int workers) {
  return Fail(absl::ResourceExhaustedError(absl::StrCat(
      "this process may have ", net::DescriptorLimit(),
      " file descriptors (RLIMIT_NOFILE), which leaves too few for callers: a sidecar of ", workers,
      workers == 1 ? " worker" : " workers", " needs at least ", needed,
      " here. Raise the limit: `ulimit -n`, LimitNOFILE of systemd, `--ulimit nofile` of "
      "Docker.")));
}

}  // namespace

int RunSidecar(const RunOptions& options) {
  if (AddressBesideFile(options.config) || GuardsNothing(options.config)) return kWrongUsage;
  if (options.keep_code_pages) net::KeepCodePages();
  // Standard output is for the lines that name the bound addresses, so that scripts can read them.
  const auto log_lines = net::LineWriter::ToStandardError();
  EventLog log(ParseLogLevel(options.log_level),
               LineSink(options.log_format == "json" ? LogFormat::kJson : LogFormat::kText,
                        net::ErrorsHaveColours(), *log_lines));
  ConfigInput config = options.config;
  if (!ReadStandardInput(config)) return 1;
  net::RaiseDescriptorLimit();
  const int64_t descriptors = net::DescriptorsNeeded(options.workers);
  if (net::DescriptorLimit() < descriptors) return FailForDescriptors(descriptors, options.workers);
  net::ReserveDescriptorTable();  // before the first thread
  const auto identities = std::make_shared<WorkloadIdentities>(log);
  config.svids = [identities](const std::string& socket) { return identities->Get(socket); };
  const CheckedConfig checked = CheckConfig(config);
  if (checked.snapshot == nullptr) {
    // Each fault names its own position, so nothing is printed before them.
    std::fprintf(stderr, "%s\n", FormatFaults(checked.faults).c_str());
    return AllOfCommandLine(checked.faults) ? kWrongUsage : 1;
  }
  for (const Fault& warning : checked.warnings) {
    log.Write(EventKind::kConfigWarning, [&] {
      return std::vector<LogField>{{"warning", FormatFault(warning)}};
    });
  }
  WarnOfDescriptors(checked.snapshot->limits, log);
  auto running = RunningSidecar::Open({.config = config,
                                       .workers = options.workers,
                                       .version = std::string(BuildVersion()),
                                       .commit = std::string(BuildCommit()),
                                       .open_grpc = OpenGrpcPort,
                                       .make_exporter = MakeExporter,
                                       .identities = identities,
                                       .log_lines = log_lines.get(),
                                       .announce = Announce},
                                      checked, log);
  if (!running.ok()) return FailToOpen(config, running.status());
  if (const int64_t missing = net::DescriptorsMissing(); missing > 0) {
    return FailForDescriptors(missing, options.workers);
  }
  log.Write(EventKind::kStarted, [&] {
    return std::vector<LogField>{{"version", BuildVersion()}, {"workers", options.workers}};
  });
  (*running)->Run();
  log.Write(EventKind::kStopped);
  return 0;
}

}  // namespace levee
