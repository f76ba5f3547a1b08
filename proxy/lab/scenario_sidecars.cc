// SPDX-License-Identifier: Apache-2.0
#include "lab/scenario_sidecars.h"

#include "absl/strings/str_cat.h"
#include "config/build_guard.h"
#include "config/load.h"
#include "config/read_file.h"
#include "config/validate_inbound.h"

namespace levee {
namespace {

std::string MethodOf(const std::string& authority, const ScenarioCall& call) {
  return absl::StrCat("/", authority, "/", call.method);
}

// Returns the route of `call` at the first listener of that direction that has one; nullptr: none
// has. `authority`: the name of its service.
const Route* Find(const Snapshot& snapshot, Direction direction, const std::string& authority,
                  const ScenarioCall& call) {
  const std::string method = MethodOf(authority, call);
  Metadata head;
  for (const auto& [name, value] : call.headers) head.Add(name, value);
  for (size_t i = 0; i < snapshot.listeners.size(); ++i) {
    if (snapshot.listeners[i].direction != direction) continue;
    const Route* const route = snapshot.routes.Find({.listener = {static_cast<int>(i), direction},
                                                     .authority = authority,
                                                     .path = method,
                                                     .peer = call.peer,
                                                     .headers = head});
    if (route != nullptr) return route;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const Snapshot> ScenarioSidecars::Read(const std::string& path,
                                                       const std::string& text) {
  if (text == "none") return nullptr;
  if (config_ != nullptr) return config_;
  const auto known = known_.find(text);
  if (known != known_.end()) return known->second;
  ConfigInput input;
  if (!text.empty()) input.files.push_back(PathBeside(file_, text));
  const CheckedConfig checked = CheckConfig(input);
  if (!checked.faults.empty()) {
    faults_.Add(positions_.Find(path), CheckCode::kUnreadableFile,
                absl::StrCat("the policy file has faults: ", FormatFault(checked.faults.front()),
                             "; levee check names all"));
  }
  known_[text] = checked.snapshot;
  return checked.snapshot;
}

void ScenarioSidecars::RouteOut(const std::string& path, const std::string& authority,
                                ScenarioCall& call) {
  const Snapshot& snapshot = *call.sidecar;
  const std::string method = MethodOf(authority, call);
  const Route* const route = Find(snapshot, Direction::kEgress, authority, call);
  if (route == nullptr) {
    faults_.Add(positions_.Find(path), CheckCode::kDanglingReference,
                absl::StrCat("the sidecar has no route for authority ", Quoted(authority),
                             ", method ", Quoted(method)));
    return;
  }
  call.policy = &snapshot.policies[static_cast<size_t>(route->policy)];
  call.timeout = route->timeout;
  if (route->shadow.has_value()) {
    call.shadow = &snapshot.policies[static_cast<size_t>(*route->shadow)];
  }
  const UpstreamSpec& upstream = snapshot.upstreams[static_cast<size_t>(route->upstream)];
  call.connect_wait = upstream.connect_wait;
  const auto& methods = upstream.methods;
  call.idempotent = methods != nullptr && methods->idempotent.contains(method);
  if (methods != nullptr) call.described = methods->KindOf(method);
}

bool ScenarioSidecars::RouteIn(const std::shared_ptr<const Snapshot>& service,
                               const std::string& authority, ScenarioCall& call) {
  const Route* const route = Find(*service, Direction::kInbound, authority, call);
  if (route == nullptr) return true;
  if (route->deny) return false;
  call.inbound = service;
  call.inbound_policy = &service->policies[static_cast<size_t>(route->policy)];
  const auto& methods = service->upstreams[static_cast<size_t>(route->upstream)].methods;
  if (methods != nullptr) call.inbound_described = methods->KindOf(MethodOf(authority, call));
  return true;
}

std::shared_ptr<const Snapshot> ScenarioSidecars::WithGuard(const std::string& path,
                                                            const config::v1::Guard& message) {
  ValidateGuard(path, message, positions_, faults_);
  if (message.has_dedupe()) {
    faults_.Add(positions_.Find(path + ".dedupe"), CheckCode::kNeedsField,
                "means nothing in a scenario, whose calls have no idempotency keys; leave it out");
  }
  if (!faults_.empty()) return nullptr;
  // As `levee run --guard` has it. The addresses are never used.
  const CheckedConfig checked = CheckConfig({.to = "127.0.0.1:1", .guard = "127.0.0.1:2"});
  auto snapshot = std::make_shared<Snapshot>(*checked.snapshot);
  for (CallPolicy& policy : snapshot->policies) {
    if (policy.guard.has_value()) policy.guard = BuildGuard(message);
  }
  return snapshot;
}

}  // namespace levee
