// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_command.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/output.h"
#include "cli/version.h"

namespace levee {
namespace {

int FailToTake(const absl::Status& status) {
  std::fprintf(stderr, "levee snapshot: %s\n", std::string(status.message()).c_str());
  return 1;
}

// Asks for each upstream alone whose details a state of many upstreams leaves out.
absl::Status CompleteUpstreams(AdminPort& port, admin::v1::State& state) {
  for (admin::v1::Upstream& upstream : *state.mutable_upstreams()) {
    if (!upstream.samples_left_out() && upstream.endpoints_left_out() == 0) continue;
    auto alone = port.AskState(absl::StrCat("?upstream=", QueryText(upstream.name())));
    if (!alone.ok()) return alone.status();
    if (alone->upstreams_size() == 1) upstream = std::move(*alone->mutable_upstreams(0));
  }
  return absl::OkStatus();
}

}  // namespace

Command AddSnapshot(Command app, SnapshotOptions& options) {
  Command snapshot = app.AddCommand(
      "snapshot", "write what a running sidecar knows of itself to one file, for support");
  AddAdminAddress(snapshot, options.address);
  snapshot
      .AddOption("-o,--output", options.output, "the file to write; without it, standard output")
      .ValueName("FILE");
  snapshot.Footer(
      "It is JSON: the configuration in effect, five minutes of history, last calls, budgets, "
      "endpoints, limits reached, versions. It has no keys or certificates, no metadata, bodies or "
      "status messages of calls.");
  return snapshot;
}

absl::StatusOr<admin::v1::Snapshot> TakeSnapshot(AdminPort& port) {
  auto state = port.AskState("");
  if (!state.ok()) return state.status();
  if (const absl::Status status = CompleteUpstreams(port, *state); !status.ok()) return status;
  for (admin::v1::Call& call : *state->mutable_calls()) call.clear_message();
  auto config = port.Ask("/config");
  if (!config.ok()) return config.status();
  admin::v1::Snapshot snapshot;
  snapshot.set_version(std::string(BuildVersion()));
  snapshot.mutable_configuration()->set_sha256(state->configuration().sha256());
  snapshot.mutable_configuration()->set_text(*std::move(config));
  *snapshot.mutable_state() = *std::move(state);
  return snapshot;
}

int RunSnapshot(const SnapshotOptions& options) {
  AdminPort port(*ReadAdminAddress(options.address));
  const auto snapshot = TakeSnapshot(port);
  if (!snapshot.ok()) return FailToTake(snapshot.status());
  google::protobuf::util::JsonPrintOptions layout;
  layout.preserve_proto_field_names = true;
  layout.add_whitespace = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(*snapshot, &json, layout).ok()) {
    return FailToTake(absl::InternalError("the state cannot be written as JSON"));
  }
  if (!options.output.empty()) return WriteOutput("levee snapshot", options.output, json) ? 0 : 1;
  std::fputs(json.c_str(), stdout);
  return 0;
}

}  // namespace levee
