// The destinations that one worker knows.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "config/snapshot.h"
#include "net/address.h"
#include "net/resolver.h"
#include "policy/retry_budget.h"
#include "server/budget_table.h"
#include "server/call_plan.h"
#include "telemetry/metrics.h"
#include "upstream/http2_connection.h"
#include "upstream/upstream_connection.h"

namespace levee {

// What destinations are made with; outlives the table.
struct DestinationParts {
  WorkerIo& io;
  net::Resolver& resolver;
  Random& random;
  Metrics& metrics;
  WorkerSeries& series;
  BudgetTable& budgets;
  const std::vector<net::Address>& own_listeners;
  int worker;
};

// Bounded by limits.destinations: beyond it the least recently used ones go. Calls that run on one
// that has gone keep it until they end. One thread.
class DestinationTable {
 public:
  // `snapshot` must outlive the table. `session`: of connections to endpoints.
  DestinationTable(const DestinationParts& parts, const Snapshot& snapshot,
                   const h2::Session::Options& session);

  // The one that calls of `upstream` with that :authority go to; an error if it cannot be dialled.
  // If it is `over_limit`, it must be asked for again for the next call.
  absl::StatusOr<std::shared_ptr<Destination>> Find(const UpstreamSpec& upstream,
                                                    const RetryBudgetPolicy& budget,
                                                    std::string_view authority);

  // Whether some have gone (Destination::gone) since the last time this was asked.
  bool TakeGone() { return std::exchange(some_gone_, false); }

  // Closes every connection.
  void Close();

 private:
  absl::StatusOr<std::vector<Pool::Target>> TargetsOf(const UpstreamSpec& upstream,
                                                      std::string_view authority) const;
  const ConnectPolicy& ConnectPolicyOf(const UpstreamSpec& upstream);
  void TakeBudget(Destination& destination, const std::string& authority,
                  const RetryBudgetPolicy& policy);
  void MakeRoom();

  const DestinationParts parts_;
  const Snapshot& snapshot_;
  const h2::Session::Options session_;
  std::map<std::string, ConnectPolicy> connect_policies_;  // by upstream
  std::map<std::string, std::shared_ptr<Destination>> destinations_;
  bool some_gone_ = false;
};

}  // namespace levee
