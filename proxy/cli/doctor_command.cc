// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_command.h"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/dial.h"
#include "cli/format_option.h"
#include "cli/handshake.h"
#include "cli/input.h"
#include "doctor/pod_checks.h"
#include "doctor/sidecar_checks.h"
#include "doctor/sidecar_facts.h"
#include "net/descriptors.h"
#include "net/event_loop.h"
#include "net/memory_limit.h"

namespace levee {
namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Severity;

// As large as what `levee inject` takes.
constexpr size_t kMaxPodBytes = 16 << 20;

// Each takes up to kDialTimeout, or twice that with a handshake, and nobody waits for more.
constexpr size_t kMaxDials = 8;
constexpr absl::Duration kDialTimeout = absl::Seconds(2);

void Append(Findings more, Findings& findings) {
  for (Finding& finding : more) findings.push_back(std::move(finding));
}

Findings CheckFile(const std::string& file) {
  FaultList unreadable;
  const std::optional<ConfigText> input = ReadInput(file, kMaxPodBytes, unreadable);
  if (input.has_value()) return doctor::CheckPods(input->name, input->text);
  return {
      {Severity::kFault, "LD200", FormatFaults(unreadable.Sorted({file})), "name another file"}};
}

std::string NameOf(const EndpointSpec& endpoint) {
  return endpoint.path.empty() ? absl::StrCat(endpoint.host, ":", endpoint.port) : endpoint.path;
}

// Dials the endpoints that the sidecar has not dialled since no call has come.
std::vector<doctor::Dialled> DialIdle(const admin::v1::State& state, const Snapshot& snapshot) {
  std::vector<doctor::Dialled> dialled;
  for (const admin::v1::Upstream& upstream : state.upstreams()) {
    const admin::v1::EndpointCounts& counts = upstream.endpoint_counts();
    const auto endpoints = snapshot.endpoints.find(upstream.name());
    if (counts.ready() + counts.failing() + counts.ejected() > 0) continue;
    if (endpoints == snapshot.endpoints.end()) continue;
    for (const EndpointSpec& endpoint : *endpoints->second) {
      if (dialled.size() == kMaxDials) return dialled;
      const absl::Status status = Dial(endpoint, kDialTimeout);
      dialled.push_back({upstream.name(), NameOf(endpoint), std::string(status.message())});
    }
  }
  return dialled;
}

// Makes TLS handshakes as the sidecar would make them now, whatever connections it has. Names that
// it looks up past /etc/hosts would lead back to itself from here.
std::vector<doctor::Handshake> ShakeHandsWithAll(const Snapshot& snapshot) {
  std::vector<doctor::Handshake> handshakes;
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    const auto endpoints = snapshot.endpoints.find(upstream.name);
    if (!upstream.tls.has_value() || upstream.past_hosts_file) continue;
    if (endpoints == snapshot.endpoints.end()) continue;
    for (const EndpointSpec& endpoint : *endpoints->second) {
      if (handshakes.size() == kMaxDials) return handshakes;
      const auto ended = ShakeHands(endpoint, *upstream.tls, kDialTimeout);
      doctor::Handshake handshake = {upstream.name, NameOf(endpoint), std::nullopt,
                                     std::string(ended.status().message())};
      if (ended.ok()) {
        handshake.result = ended->result;
        handshake.failure = ended->text;
      }
      handshakes.push_back(std::move(handshake));
    }
  }
  return handshakes;
}

Findings CheckRunning(const DoctorOptions& options) {
  const bool here = options.address.empty();
  AdminPort port(*ReadAdminAddress(here ? kDefaultAdminAddress : options.address));
  auto state = port.AskState("");
  const auto text = state.ok() ? port.Ask("/config") : state.status();
  if (!text.ok()) {
    return {{Severity::kFault, "LD101",
             absl::StrCat("the sidecar does not answer: ", std::string(text.status().message())),
             "start it with levee run, or give its admin.address as --address"}};
  }
  doctor::SidecarFacts facts;
  facts.state = *std::move(state);
  facts.config = CheckConfig({{"/config", *text}}, std::nullopt);
  facts.now = net::WallClock();
  facts.here = here;
  if (here) {
    facts.memory = net::MemoryLimit();
    net::RaiseDescriptorLimit();  // as `levee run` does
    facts.descriptors = net::DescriptorsForCallers(net::DescriptorLimit());
    if (facts.config.snapshot != nullptr) {
      facts.dialled = DialIdle(facts.state, *facts.config.snapshot);
      facts.handshakes = ShakeHandsWithAll(*facts.config.snapshot);
    }
  }
  Findings findings = {{Severity::kOk, "LD101",
                        absl::StrCat("levee ", facts.state.sidecar().version(), " answers"), ""}};
  Append(doctor::CheckSidecar(facts), findings);
  return findings;
}

}  // namespace

Command AddDoctor(Command app, DoctorOptions& options) {
  Command doctor = app.AddCommand("doctor", "say what is wrong with a sidecar, and what helps");
  doctor
      .AddOption("--pod", options.pod,
                 "check the pods of these manifests ('-' is standard input), and a sidecar only "
                 "with --address")
      .ValueName("FILE");
  doctor
      .AddOption(
          "--address", options.address,
          absl::StrCat("admin.address of a sidecar; without it, the sidecar in this container, at ",
                       kDefaultAdminAddress))
      .Check([](const std::string& text) {
        return std::string(ReadAdminAddress(text).status().message());
      })
      .ValueName("IP:PORT");
  AddFormat(doctor, options.output);
  doctor.AddFlag("--strict", options.strict, "exit with 1 on a warning, too");
  doctor.Footer(
      "Prints a line for each check: ok, warning or fault, its code, what was found, and what "
      "helps. Exit code 0: no fault, 1: a fault.");
  return doctor;
}

int RunDoctor(const DoctorOptions& options) {
  Findings findings;
  if (!options.pod.empty()) findings = CheckFile(options.pod);
  if (options.pod.empty() || !options.address.empty()) Append(CheckRunning(options), findings);
  const Severity worst = doctor::WorstOf(findings);
  const bool ok = worst == Severity::kOk || (worst == Severity::kWarning && !options.strict);
  if (options.output == "json") {
    std::printf("%s\n", doctor::FindingsJson(findings, ok).c_str());
  } else {
    std::printf("%s", doctor::FindingsText(findings).c_str());
  }
  return ok ? 0 : 1;
}

}  // namespace levee
