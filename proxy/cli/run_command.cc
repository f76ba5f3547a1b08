#include "cli/run_command.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "admin_grpc/grpc_admin_server.h"
#include "cli/version.h"
#include "sidecar/control_port.h"
#include "sidecar/running_sidecar.h"

namespace levee {
namespace {

void StartLogging(const std::string& level) {
  // Standard output is for the lines that name the bound addresses, so that scripts can read them.
  spdlog::set_default_logger(spdlog::stderr_color_mt("levee"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  spdlog::set_level(spdlog::level::from_str(level));
}

absl::StatusOr<std::unique_ptr<ControlPort>> OpenGrpcPort(const ListenAddress& address,
                                                          const AdminSources& sources,
                                                          StateKeeper& keeper) {
  return ToControlPort(GrpcAdminServer::Start(address, sources, keeper));
}

void Announce(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "levee: %s\n", std::string(status.message()).c_str());
  return 1;
}

// What --to says stands on the command line, not in a configuration.
bool AllOfCommandLine(const std::vector<Fault>& faults) {
  return std::all_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return fault.file == "--to"; });
}

}  // namespace

int RunSidecar(const RunOptions& options) {
  StartLogging(options.log_level);
  const CheckedConfig checked = CheckConfig(options.config);
  if (checked.snapshot == nullptr) {
    // Each fault has its own position, so nothing is put before them.
    std::fprintf(stderr, "%s\n", FormatFaults(checked.faults).c_str());
    return AllOfCommandLine(checked.faults) ? kWrongUsage : 1;
  }
  for (const Fault& warning : checked.warnings) spdlog::warn("{}", FormatFault(warning));
  auto running = RunningSidecar::Open({.config = options.config,
                                       .workers = options.workers,
                                       .version = std::string(BuildVersion()),
                                       .commit = std::string(BuildCommit()),
                                       .open_grpc = OpenGrpcPort,
                                       .announce = Announce},
                                      checked);
  if (!running.ok()) return Fail(running.status());
  spdlog::info("levee {} serving with {} worker{}", std::string(BuildVersion()), options.workers,
               options.workers == 1 ? "" : "s");
  (*running)->Run();
  spdlog::info("levee stopped");
  return 0;
}

}  // namespace levee
