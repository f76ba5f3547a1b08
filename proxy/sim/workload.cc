// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <cmath>
#include <memory>

#include "base/random.h"

namespace levee {
namespace {

// Calls one after the other; each makes the event of the next.
struct Arrivals : std::enable_shared_from_this<Arrivals> {
  Arrivals(SimSidecar& to, const Workload& load)
      : sidecar(to), workload(load), random(load.poisson_seed) {}

  absl::Duration Gap() {
    const double even = 1 / workload.per_second;
    return absl::Seconds(workload.poisson_seed == 0 ? even : -even * std::log1p(-random.Uniform()));
  }

  void Next() {
    if (made == workload.calls || sidecar.clock().now() > end) return;
    sidecar.Unary(workload.facts ? workload.facts(made) : RequestFacts());
    ++made;
    sidecar.clock().After(Gap(), [self = shared_from_this()] { self->Next(); });
  }

  SimSidecar& sidecar;
  const Workload workload;
  Random random;
  const Instant end = sidecar.clock().now() + workload.length;
  int64_t made = 0;
};

}  // namespace

void BeginWorkload(SimSidecar& sidecar, const Workload& workload) {
  auto arrivals = std::make_shared<Arrivals>(sidecar, workload);
  sidecar.clock().After(absl::ZeroDuration(), [arrivals] { arrivals->Next(); });
}

void RunWorkload(SimSidecar& sidecar, const Workload& workload) {
  BeginWorkload(sidecar, workload);
  sidecar.clock().Run();
}

}  // namespace levee
