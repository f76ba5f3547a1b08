// SPDX-License-Identifier: Apache-2.0
#include "demo/service_model.h"

#include <algorithm>
#include <cmath>

namespace levee::demo {

Capacity Capacity::Of(double per_second) {
  Capacity capacity;
  const double busy = per_second * absl::ToDoubleSeconds(capacity.work);
  capacity.workers = std::max(1, static_cast<int>(std::lround(busy)));
  // A few workers make coarse steps, so the work per request compensates the rounding.
  capacity.work = absl::Seconds(1) * (capacity.workers / per_second);
  capacity.line =
      static_cast<size_t>(capacity.PerSecond() * absl::ToDoubleSeconds(2 * capacity.time_limit));
  return capacity;
}

ServiceModel::ServiceModel(const Capacity& capacity, uint64_t seed)
    : capacity_(capacity), random_(seed) {}

void ServiceModel::Arrive(Instant now, Finish finish, std::vector<Ended>& ended) {
  Advance(now, ended);
  if (line_.size() >= capacity_.line) {
    ended.push_back({std::move(finish), Verdict::kLineFull, absl::ZeroDuration()});
    return;
  }
  line_.push_back({now, std::move(finish)});
  StartWork(now);
}

void ServiceModel::Advance(Instant now, std::vector<Ended>& ended) {
  while (!in_work_.empty() && in_work_.front().end <= now) {
    Request done = std::move(in_work_.front());
    in_work_.pop_front();
    StartWork(done.end);
    const absl::Duration took = done.end - done.arrived;
    ended.push_back({std::move(done.finish), Judge(took), took});
  }
  StartWork(now);
}

void ServiceModel::Stop(Instant now, std::vector<Ended>& ended) {
  Advance(now, ended);
  for (std::deque<Request>* requests : {&in_work_, &line_}) {
    for (Request& request : *requests) {
      ended.push_back({std::move(request.finish), Verdict::kStopped, now - request.arrived});
    }
    requests->clear();
  }
}

void ServiceModel::StartWork(Instant now) {
  while (!line_.empty() && in_work_.size() < WorkersUp()) {
    line_.front().end = now + capacity_.work;
    in_work_.push_back(std::move(line_.front()));
    line_.pop_front();
  }
}

size_t ServiceModel::WorkersUp() const {
  return static_cast<size_t>(std::lround(capacity_.workers * (1 - faults_.workers_down)));
}

Verdict ServiceModel::Judge(absl::Duration took) {
  if (took > capacity_.time_limit) return Verdict::kTooLate;
  return random_.Uniform() < faults_.failing ? Verdict::kFault : Verdict::kOk;
}

}  // namespace levee::demo
