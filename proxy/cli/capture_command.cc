// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_command.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/capture_rules.h"
#include "cli/run_command.h"
#include "cli/run_tool.h"

namespace levee {
namespace {

// The system shows this file only to processes in its first network namespace, which is the host's.
constexpr char kOnlyOnTheHost[] = "/proc/sys/net/core/netdev_max_backlog";

constexpr char kNft[] = "nft";
constexpr char kIptables[] = "iptables";

struct FamilyTools {
  IpFamily family;
  const char* save;
  const char* restore;
};
constexpr std::array<FamilyTools, 2> kFamilies = {
    {{IpFamily::kV4, "iptables-save", "iptables-restore"},
     {IpFamily::kV6, "ip6tables-save", "ip6tables-restore"}}};

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& command,
                                     std::string_view input = "") {
  ToolResult result = RunTool(command, input);
  if (result.code == 0) return std::move(result.output);
  return absl::UnavailableError(
      absl::StrCat(command[0], " failed: ", absl::StripAsciiWhitespace(result.message)));
}

absl::StatusOr<CaptureRules> RulesOf(const CaptureOptions& options) {
  CaptureRules rules = {.to = options.to, .uid = options.uid, .gid = options.gid};
  if (options.ports.empty() || options.to == 0) {
    return absl::InvalidArgumentError("--ports and --to are needed");
  }
  if (!options.uid.has_value() && !options.gid.has_value()) {
    return absl::InvalidArgumentError(
        "give Levee's user or group with --uid or --gid, or Levee's own calls would be redirected "
        "to it");
  }
  auto ports = ParsePorts(options.ports);
  if (!ports.ok()) return ports.status();
  rules.ports = *std::move(ports);
  for (const std::string& text : options.excluded) {
    auto network = ParseNetwork(text);
    if (!network.ok()) return network.status();
    rules.excluded.push_back(*std::move(network));
  }
  return rules;
}

std::string BackendOf(const CaptureOptions& options) {
  if (!options.backend.empty()) return options.backend;
  return RunTool({kNft, "--version"}).code == 0 ? kNft : kIptables;
}

absl::Status ApplyNft(const std::string& table) {
  return OutputOf({kNft, "-f", "-"}, NftScript(table)).status();
}

absl::StatusOr<std::vector<std::string>> PresentRules(const FamilyTools& tools) {
  const auto saved = OutputOf({tools.save, "-t", "nat"});
  if (!saved.ok()) return saved.status();
  return OwnRules(*saved);
}

absl::Status Restore(const FamilyTools& tools, const std::string& script, bool test) {
  std::vector<std::string> command = {tools.restore, "--wait", "5", "--noflush"};
  if (test) command.emplace_back("--test");
  return OutputOf(command, script).status();
}

// One family after the other can be changed, so the first goes back if the second fails.
absl::Status ApplyIptables(const std::array<std::vector<std::string>, 2>& wanted) {
  std::array<std::vector<std::string>, 2> present;
  std::array<std::string, 2> scripts;
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    auto own = PresentRules(kFamilies[i]);
    if (!own.ok()) return own.status();
    present[i] = *std::move(own);
    scripts[i] = IptablesScript(present[i], wanted[i]);
    const absl::Status usable = Restore(kFamilies[i], scripts[i], /*test=*/true);
    if (!usable.ok()) return usable;
  }
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    const absl::Status done = Restore(kFamilies[i], scripts[i], /*test=*/false);
    if (done.ok()) continue;
    for (size_t j = 0; j < i; ++j) {
      const absl::Status back =
          Restore(kFamilies[j], IptablesScript(wanted[j], present[j]), /*test=*/false);
      if (!back.ok())
        return absl::InternalError(absl::StrCat(done.message(), "; ", back.message()));
    }
    return done;
  }
  return absl::OkStatus();
}

std::array<std::vector<std::string>, 2> BothFamilies(const CaptureRules& rules) {
  return {IptablesRules(rules, IpFamily::kV4), IptablesRules(rules, IpFamily::kV6)};
}

absl::Status Apply(const std::string& backend, const CaptureRules& rules) {
  return backend == kNft ? ApplyNft(NftTable(rules)) : ApplyIptables(BothFamilies(rules));
}

absl::Status Remove(const std::string& backend) {
  return backend == kNft ? ApplyNft("") : ApplyIptables({});
}

bool InPlace(const std::string& backend, const CaptureRules& rules) {
  if (backend == kNft) {
    const auto table = OutputOf({kNft, "-nn", "list", "table", "inet", "levee"});
    return table.ok() && *table == NftTable(rules);
  }
  const auto wanted = BothFamilies(rules);
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    const auto present = PresentRules(kFamilies[i]);
    if (!present.ok() || *present != wanted[i]) return false;
  }
  return true;
}

std::string Printed(const std::string& backend, const CaptureRules& rules) {
  if (backend == kNft) return NftScript(NftTable(rules));
  std::string text;
  for (const FamilyTools& tools : kFamilies) {
    absl::StrAppend(&text, "# ", tools.restore, " --noflush\n",
                    IptablesScript({}, IptablesRules(rules, tools.family)));
  }
  return text;
}

int Failed(const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "levee capture: %s\n", message.c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? kWrongUsage : 1;
}

int Done(const std::string& text) {
  std::puts(text.c_str());
  return 0;
}

// `rules`: nullptr to have none.
int Change(const std::string& backend, const CaptureRules* rules) {
  if (access(kOnlyOnTheHost, F_OK) == 0) {
    return Failed(absl::FailedPreconditionError(
        "this is the host's network, where the rules would redirect the connections of all its "
        "programs; run it in the network of the pod or container (without hostNetwork)"));
  }
  if (rules == nullptr) {
    const absl::Status removed = Remove(backend);
    return removed.ok() ? Done("no connection is redirected to Levee") : Failed(removed);
  }
  const absl::Status applied = Apply(backend, *rules);
  if (!applied.ok()) return Failed(applied);
  if (InPlace(backend, *rules)) {
    return Done(absl::StrCat("TCP connections to these ports are redirected to ", rules->to,
                             ", by ", backend, " for IPv4 and IPv6"));
  }
  return Failed(
      absl::InternalError(absl::StrCat(backend, " has accepted the rules, but lists others")));
}

}  // namespace

Command AddCapture(Command app, CaptureOptions& options) {
  Command capture = app.AddCommand(
      "capture", "redirect the application's own connections to Levee, for init containers");
  capture.AddOption("--ports", options.ports, "ports of the services, such as 50051,9090-9099")
      .ValueName("PORTS");
  capture.AddOption("--to", options.to, "port of a listener with `capture: [original_dst]`")
      .Within(1, 65535)
      .ValueName("PORT");
  capture.AddOption("--uid", options.uid, "Levee's user, whose connections are not redirected")
      .ValueName("NUMBER");
  capture.AddOption("--gid", options.gid, "Levee's group, whose connections are not redirected")
      .ValueName("NUMBER");
  capture
      .AddOption("--exclude", options.excluded, "network to which connections are not redirected")
      .ValueName("CIDR");
  capture
      .AddOption("--backend", options.backend,
                 "program that sets the rules; by default nft if it is installed")
      .OneOf({kNft, kIptables})
      .ValueName("PROGRAM");
  const CommandOption print =
      capture.AddFlag("--print", options.print, "print the rules and change nothing");
  const CommandOption check =
      capture.AddFlag("--check", options.check,
                      "exit with 0 if exactly these rules are in place, otherwise with 1");
  capture.AddFlag("--remove", options.remove, "remove the rules, if there are any")
      .Excludes(print)
      .Excludes(check);
  print.Excludes(check);
  capture.Footer(
      "Needs NET_ADMIN in the application's network namespace, and refuses to run in the host's. "
      "Connections over the loopback interface are not redirected. It changes IPv4 and IPv6, or "
      "neither. A second run changes nothing.");
  return capture;
}

int RunCapture(const CaptureOptions& options) {
  const std::string backend = BackendOf(options);
  if (options.remove) return Change(backend, nullptr);
  const absl::StatusOr<CaptureRules> rules = RulesOf(options);
  if (!rules.ok()) return Failed(rules.status());
  if (options.print) {
    std::fputs(Printed(backend, *rules).c_str(), stdout);
    return 0;
  }
  if (!options.check) return Change(backend, &*rules);
  const bool in_place = InPlace(backend, *rules);
  std::puts(in_place ? "the rules are in place" : "the rules are not in place");
  return in_place ? 0 : 1;
}

}  // namespace levee
