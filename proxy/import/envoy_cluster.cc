// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "config/addresses.h"
#include "import/envoy_connection.h"
#include "import/outliers.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

// The bound of a policy's burst.
constexpr int64_t kMostLeast = 1'000'000;

// Envoy's defaults for a cluster and for a retry_budget.
constexpr absl::Duration kDefaultConnectTimeout = absl::Seconds(5);
constexpr double kDefaultBudgetPercent = 20;

constexpr char kDialsAuthority[] = "Until then this dials what a call's :authority says.";

// Returns an endpoint's address in the form of a policy; empty if it has none.
std::string ReadAddress(Section address, Notes& notes) {
  std::optional<Section> socket = address.Map("socket_address");
  if (socket.has_value()) {
    socket->Ignore({"protocol"});
    const std::string host = socket->Text("address").value_or("");
    const std::string port = socket->Text("port_value").value_or("");
    AddNote(socket->Unread(), notes);
    AddNote(address.Unread(), notes);
    const bool ipv6 = host.find(':') != std::string::npos;
    const std::string plain = absl::StrCat(ipv6 ? "[" : "", host, ipv6 ? "]" : "", ":", port);
    const bool name = !ipv6 && host.find_first_not_of("0123456789.") != std::string::npos;
    return name && host != "localhost" ? absl::StrCat("dns:", plain) : plain;
  }
  std::optional<Section> pipe = address.Map("pipe");
  const std::string path = pipe.has_value() ? pipe->Text("path").value_or("") : "";
  if (pipe.has_value()) AddNote(pipe->Unread(), notes);
  AddNote(address.Unread(), notes);
  return pipe.has_value() ? absl::StrCat("unix:", path) : "";
}

// Istio's clusters have the service in their names: outbound|80|v1|cart.shop.svc.cluster.local. The
// endpoints, which its control plane tells, are those behind that name.
std::string AddressInName(const std::string& cluster) {
  const std::vector<std::string> parts = absl::StrSplit(cluster, '|');
  if (parts.size() != 4 || parts[0] != "outbound") return "";
  return absl::StrCat("dns:", parts[3], ":", parts[1]);
}

// Istio's cluster for calls that shall go nowhere.
bool IsBlackHole(const std::string& cluster) { return cluster == "BlackHoleCluster"; }

void ReadEndpoints(Section& cluster, UpstreamDraft& upstream) {
  std::vector<std::string> endpoints;
  std::optional<Section> assignment = cluster.Map("load_assignment");
  if (assignment.has_value()) {
    for (Section& locality : assignment->Maps("endpoints")) {
      for (Section& entry : locality.Maps("lb_endpoints")) {
        std::optional<Section> endpoint = entry.Map("endpoint");
        std::optional<Section> address =
            endpoint.has_value() ? endpoint->Map("address") : std::nullopt;
        if (address.has_value()) {
          endpoints.push_back(ReadAddress(*std::move(address), upstream.notes));
        }
        if (endpoint.has_value()) AddNote(endpoint->Unread(), upstream.notes);
        AddNote(entry.Unread(), upstream.notes);
      }
      AddNote(locality.Unread(), upstream.notes);
    }
    assignment->Ignore({"cluster_name"});
    AddNote(assignment->Unread(), upstream.notes);
  }
  if (endpoints.empty() && IsBlackHole(upstream.name)) endpoints.emplace_back(kNoAddress);
  if (endpoints.empty() && !AddressInName(upstream.name).empty()) {
    endpoints.push_back(AddressInName(upstream.name));
  }
  upstream.endpoints.value.emplace();
  for (const std::string& text : endpoints) {
    const absl::Status status = ParseEndpoint(text).status();
    if (status.ok()) {
      upstream.endpoints.value->push_back(text);
    } else {
      upstream.endpoints.notes.push_back(
          absl::StrCat("Left out: ", std::string(status.message()), "."));
    }
  }
  if (!upstream.endpoints.value->empty()) return;
  upstream.endpoints.value = {"authority:"};
  upstream.endpoints.notes.push_back(absl::StrCat(
      endpoints.empty() ? "The file has no endpoints of this cluster; name them here. " : "",
      kDialsAuthority));
}

// `share`: the beginning of the note on Envoy's share.
void ReadBudgetInterval(absl::Duration interval, const std::string& share,
                        Field<BudgetDraft>& field) {
  field.notes.push_back(absl::StrCat(share, "the requests of the last budget_interval, Levee of ",
                                     "the calls of the window."));
  SetWindow("budget_interval", interval, field);
}

void ReadLeastRetries(Section& budget, Field<BudgetDraft>& field) {
  const std::optional<int64_t> stated = budget.Whole("min_retry_concurrency");
  if (!stated.has_value()) return;
  const int64_t least = std::clamp<int64_t>(*stated, 0, kMostLeast);
  field.value->least = static_cast<double>(least);
  field.notes.push_back(absl::StrCat(
      "min_retry_concurrency: Envoy always lets ", *stated,
      " retries be under way. Levee's burst lets as many fail in a row, and then successes have to "
      "pay for more."));
  if (least != *stated) {
    field.notes.push_back(absl::StrCat("burst.least is at most ", kMostLeast, "."));
  }
}

void ReadRetryBudget(Section budget, const std::string& cluster, Field<BudgetDraft>& field) {
  double percent = kDefaultBudgetPercent;
  std::optional<Section> value = budget.Map("budget_percent");
  if (value.has_value()) {
    percent = value->Number("value").value_or(0);  // Protobuf: absent is 0.
    AddNote(value->Unread(), field.notes);
  }
  if (percent < 0 || percent > 100) value->Refuse("value", "must be from 0 to 100");
  field.value = BudgetDraft{.ratio = percent / 100};
  const std::string share = absl::StrCat("retry_budget of cluster ", Quoted(cluster),
                                         ": Envoy lets retries be ", YamlNumber(percent), "% of ");
  const std::optional<absl::Duration> interval = budget.Duration("budget_interval");
  if (interval.has_value() && *interval > absl::ZeroDuration()) {
    ReadBudgetInterval(*interval, share, field);
  } else {
    field.notes.push_back(
        absl::StrCat(share, "the requests under way, Levee of the calls in the last 10s."));
  }
  ReadLeastRetries(budget, field);
  AddNote(budget.Unread(), field.notes);
}

// One entry of circuit_breakers.thresholds.
void ReadThreshold(Section threshold, ClusterDraft& draft) {
  const std::string priority = threshold.Text("priority").value_or("DEFAULT");
  if (priority != "DEFAULT" && priority != "0") {
    draft.upstream.notes.push_back(absl::StrCat(threshold.place().path,
                                                " has no equivalent: there is one priority, not ",
                                                Quoted(priority), "."));
    return;
  }
  std::optional<Section> budget = threshold.Map("retry_budget");
  const std::optional<int64_t> retries = threshold.Whole("max_retries");
  if (budget.has_value()) {
    ReadRetryBudget(*std::move(budget), draft.upstream.name, draft.budget);
    if (retries.has_value()) {
      draft.budget.notes.emplace_back("max_retries: Envoy ignores it beside retry_budget.");
    }
  } else if (retries.has_value()) {
    draft.budget.notes.push_back(absl::StrCat(
        "max_retries of cluster ", Quoted(draft.upstream.name), ": at most ", *retries,
        " retries under way. This has no equivalent: the budget bounds their share of the calls."));
  }
  threshold.Ignore({"track_remaining"});
  AddNote(threshold.Unread(), draft.upstream.notes);
}

}  // namespace

ClusterDraft ReadEnvoyCluster(Section cluster) {
  ClusterDraft draft;
  draft.upstream.name = cluster.Text("name").value_or("");
  ReadEndpoints(cluster, draft.upstream);
  const std::optional<absl::Duration> timeout = cluster.Duration("connect_timeout");
  SetDuration(timeout.value_or(kDefaultConnectTimeout), draft.upstream.connect_timeout);
  if (!timeout.has_value())
    draft.upstream.connect_timeout.notes.emplace_back(
        "Envoy's default for a cluster without connect_timeout.");
  if (timeout == absl::ZeroDuration()) cluster.Refuse("connect_timeout", "must be above 0s");
  std::optional<Section> breakers = cluster.Map("circuit_breakers");
  if (breakers.has_value()) {
    for (Section& threshold : breakers->Maps("thresholds")) {
      ReadThreshold(std::move(threshold), draft);
    }
    AddNote(breakers->Unread(), draft.upstream.notes);
  }
  ReadProtocolOptions(cluster, draft.upstream);
  ReadTransportSocket(cluster, draft.upstream);
  if (std::optional<Section> outliers = cluster.Map("outlier_detection"); outliers.has_value()) {
    ReadOutlierDetection(*std::move(outliers),
                         {"consecutive_5xx", "base_ejection_time", "max_ejection_time"},
                         draft.upstream.ejection);
  }
  // The endpoints themselves are read, so their source is not needed.
  cluster.Ignore({"@type", "type", "alt_stat_name", "eds_cluster_config"});
  AddNote(cluster.Unread(), draft.upstream.notes);
  return draft;
}

bool SameCluster(const ClusterDraft& a, const ClusterDraft& b) {
  const UpstreamDraft &one = a.upstream, &other = b.upstream;
  return a.budget.value == b.budget.value && one.endpoints.value == other.endpoints.value &&
         one.connect_timeout.value == other.connect_timeout.value &&
         one.keepalive.value == other.keepalive.value &&
         one.max_connection_age.value == other.max_connection_age.value &&
         one.tls.value == other.tls.value && one.ejection.value == other.ejection.value;
}

UpstreamDraft StubUpstream(const std::string& name, const std::string& why) {
  UpstreamDraft stub;
  stub.name = name;
  stub.endpoints.value = {"authority:"};
  stub.endpoints.notes = {absl::StrCat(why, " ", kDialsAuthority)};
  return stub;
}

}  // namespace levee::importer
