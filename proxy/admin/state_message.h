// The parts of levee.admin.v1.State, made from what telemetry, configuration and pools say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admin/sources.h"
#include "insight/history.h"
#include "insight/recent_calls.h"
#include "insight/verdict.h"
#include "levee/admin/v1/admin.pb.h"
#include "settings/config_status.h"
#include "upstream/endpoint_view.h"

namespace levee {

// Seconds since 1970; 0 for InfinitePast.
double WallSeconds(absl::Time time);

admin::v1::Sidecar SidecarMessage(const AdminSources& sources);
admin::v1::Configuration ConfigurationMessage(const ConfigStatus& status);
admin::v1::Sample SampleMessage(const HistorySample& sample);
admin::v1::Budget BudgetMessage(const BudgetState& budget, int seconds_empty);
// `number`: of the second with which it is told.
admin::v1::Call CallMessage(const RememberedCall& call, uint32_t number);
admin::v1::Upstream::Severity SeverityMessage(Severity severity);

// `sum` is of `seconds` seconds, which is 1 or more.
admin::v1::Rates RatesMessage(const HistorySample& sum, int seconds);

// The endpoints of one upstream, each as often as there are workers in `views`, merged to one for
// each address (and authority): workers have connections of their own to the same one. Active
// attempts are added up, the latency is the largest, and the state, with its failure, is the best
// that one of the workers is in: ready, connecting, ejected, failing, idle.
std::vector<admin::v1::Endpoint> EndpointMessages(const std::vector<const EndpointView*>& views);

// How many of them are in which state.
admin::v1::EndpointCounts EndpointCountsMessage(const std::vector<admin::v1::Endpoint>& endpoints);

// Puts the first `most` of `endpoints` into `upstream`, and the number of the others. If there are
// others, those that are not ready come first.
void AddEndpoints(std::vector<admin::v1::Endpoint> endpoints, size_t most,
                  admin::v1::Upstream& upstream);

// The beginning of a text of callers or services, at most kMaxTextBytes of it; what is not UTF-8,
// which neither JSON nor Protobuf can carry, becomes U+FFFD.
std::string ShownText(std::string_view text);
inline constexpr size_t kMaxTextBytes = 1024;

}  // namespace levee
