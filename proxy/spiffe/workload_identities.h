// SPDX-License-Identifier: Apache-2.0
// The Workload APIs that a sidecar follows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "log/event_log.h"
#include "sidecar/identity_source.h"
#include "spiffe/svid_feed.h"

namespace levee {

// One feed for each socket.
class WorkloadIdentities final : public IdentitySource {
 public:
  // How long a new API may take to answer, before the sidecar goes on without.
  static constexpr absl::Duration kPatience = absl::Seconds(1);

  // `log` outlives it.
  explicit WorkloadIdentities(EventLog& log) : log_(log) {}
  ~WorkloadIdentities() override { Stop(); }

  std::shared_ptr<const tls::Svid> Get(const std::string& socket) override;
  void OnChange(std::function<void()> changed) override;
  std::map<std::string, std::string> Faults() override;
  void Keep(const std::vector<std::string>& sockets) override;
  void Stop() override;

 private:
  using Feeds = std::map<std::string, std::shared_ptr<SvidFeed>>;

  void Changed();

  EventLog& log_;
  std::mutex mutex_;
  std::function<void()> changed_;
  Feeds feeds_;  // by socket
};

}  // namespace levee
