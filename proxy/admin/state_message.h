// SPDX-License-Identifier: Apache-2.0
// Makes the parts of levee.admin.v1.State from telemetry, configuration and pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admin/sidecar_view.h"
#include "insight/history.h"
#include "insight/recent_calls.h"
#include "insight/verdict.h"
#include "levee/admin/v1/admin.pb.h"
#include "settings/config_status.h"
#include "upstream/endpoint_view.h"

namespace levee {

// Returns seconds since 1970; 0 for InfinitePast.
double WallSeconds(absl::Time time);

admin::v1::Sidecar SidecarMessage(const SidecarView& view);
admin::v1::Configuration ConfigurationMessage(const ConfigStatus& status);
admin::v1::Sample SampleMessage(const HistorySample& sample);
admin::v1::Budget BudgetMessage(const BudgetState& budget, int seconds_empty);
// `number`: the second under which the call is shown.
admin::v1::Call CallMessage(const RememberedCall& call, uint32_t number);
admin::v1::Upstream::Severity SeverityMessage(Severity severity);

// `sum` covers `seconds` seconds; at least 1.
admin::v1::Rates RatesMessage(const HistorySample& sum, int seconds);

// `sum` covers `seconds` seconds, at whose end the guard is `guard`; at least 1.
admin::v1::Guard GuardMessage(const UpstreamTotals& sum, const GuardState& guard, int seconds);

// Merges the endpoints of one upstream to one for each address (and authority). `views` has each
// endpoint once for every worker, since workers have connections of their own. Active attempts are
// added up, the latency is the largest, and the state, with its failure, is the best of all
// workers: ready, connecting, ejected, failing, idle.
std::vector<admin::v1::Endpoint> EndpointMessages(const std::vector<const EndpointView*>& views);

// Counts the endpoints in each state.
admin::v1::EndpointCounts EndpointCountsMessage(const std::vector<admin::v1::Endpoint>& endpoints);

// Puts the first `most` of `endpoints` into `upstream`, and the number of the others. If there are
// others, the endpoints that are not ready come first.
void AddEndpoints(std::vector<admin::v1::Endpoint> endpoints, size_t most,
                  admin::v1::Upstream& upstream);

// Returns the beginning of a text of callers or services, at most kMaxTextBytes. Bytes that are not
// UTF-8 become U+FFFD, since neither JSON nor Protobuf can carry them.
std::string ShownText(std::string_view text);
inline constexpr size_t kMaxTextBytes = 1024;

}  // namespace levee
