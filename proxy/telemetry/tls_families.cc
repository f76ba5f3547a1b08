// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using prometheus::MetricType;

class TlsFamilies {
 public:
  explicit TlsFamilies(FamilySink sink)
      : handshakes_(sink, MetricType::Counter, "levee_tls_handshakes_total",
                    "TLS handshakes, by how they ended."),
        seconds_(sink, MetricType::Histogram, "levee_tls_handshake_seconds",
                 "Time from a connection's start to the end of its TLS handshake.") {}

  // `shards`: of one upstream, of one store, or of the callers.
  void Add(std::string_view upstream, std::string_view side,
           const std::vector<const TlsSeries*>& shards) {
    HistogramSum<Histogram<kDurationBounds>> seconds;
    for (const TlsSeries* shard : shards) seconds.Add(shard->seconds);
    if (seconds.count() == 0) return;
    seconds_.Add({{"upstream", upstream}, {"side", side}}, seconds.Exposed(kNanosPerSecond));
    for (tls::Result result : kAllOf<tls::Result, tls::kResults>) {
      for (tls::Version version : kAllOf<tls::Version, tls::kVersions>) {
        uint64_t count = 0;
        for (const TlsSeries* shard : shards) count += shard->handshakes[result][version].Read();
        if (count == 0) continue;
        handshakes_.Add({{"upstream", upstream},
                         {"side", side},
                         {"result", tls::ResultName(result)},
                         {"version", tls::VersionName(version)}},
                        static_cast<double>(count));
      }
    }
  }

 private:
  Family handshakes_;
  Family seconds_;
};

}  // namespace

void CollectTls(const std::vector<UpstreamRow>& upstreams, const std::vector<StoreRow>& stores,
                std::span<const WorkerSeries> workers, FamilySink sink) {
  TlsFamilies families(sink);
  for (const UpstreamRow& row : upstreams) {
    std::vector<const TlsSeries*> shards;
    for (const UpstreamSeries& shard : row.shards) shards.push_back(&shard.tls);
    families.Add(row.first, tls::RoleName(tls::Role::kClient), shards);
  }
  for (const StoreRow& row : stores) {
    std::vector<const TlsSeries*> shards;
    for (const StoreSeries& shard : row.shards) shards.push_back(&shard.tls);
    families.Add(kNoUpstream, absl::StrCat("store ", row.first), shards);
  }
  std::vector<const TlsSeries*> callers;
  for (const WorkerSeries& worker : workers) callers.push_back(&worker.tls);
  families.Add(kNoUpstream, tls::RoleName(tls::Role::kServer), callers);
}

}  // namespace levee
