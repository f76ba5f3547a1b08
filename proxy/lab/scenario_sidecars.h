// SPDX-License-Identifier: Apache-2.0
// The sidecars of a scenario: which policy a call meets in the one beside its caller, and in the
// one before its service.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "lab/scenario.h"
#include "levee/config/v1/config.pb.h"
#include "settings/snapshot.h"

namespace levee {

// Reads the policy files that a scenario names. Faults are added to the list.
class ScenarioSidecars {
 public:
  // `file`: the scenario's. `config`, if it is not nullptr, takes the place of every policy file.
  ScenarioSidecars(const std::string& file, const Positions& positions,
                   std::shared_ptr<const Snapshot> config, FaultList& faults)
      : file_(file), positions_(positions), config_(std::move(config)), faults_(faults) {}

  // Returns the configuration of the sidecar that `text`, the value at `path`, names; nullptr if it
  // is `none`, or has faults.
  std::shared_ptr<const Snapshot> Read(const std::string& path, const std::string& text);

  // Gives the call, which has a sidecar, the policy that the routes of that lead to, and its
  // shadow. `authority`: the name of its service.
  void RouteOut(const std::string& path, const std::string& authority, ScenarioCall& call);

  // Gives the call what takes it in at its service, whose sidecar has the configuration `service`:
  // the first of its inbound listeners with a route for it. Returns false if that denies the call.
  static bool RouteIn(const std::shared_ptr<const Snapshot>& service, const std::string& authority,
                      ScenarioCall& call);

  // Returns the configuration of a sidecar with nothing but this guard, the value at `path`;
  // nullptr if there are faults.
  std::shared_ptr<const Snapshot> WithGuard(const std::string& path,
                                            const config::v1::Guard& message);

 private:
  const std::string& file_;
  const Positions& positions_;
  const std::shared_ptr<const Snapshot> config_;
  FaultList& faults_;
  std::map<std::string, std::shared_ptr<const Snapshot>> known_;  // by their texts
};

}  // namespace levee
