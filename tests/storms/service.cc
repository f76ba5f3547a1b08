// SPDX-License-Identifier: Apache-2.0
// The service that a storm hits: it works on each call for a while in one of its slots, breaks for
// a time, and counts what arrives.
#include "demo/service.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "demo/load_run.h"

namespace {

using std::chrono::steady_clock;

steady_clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

struct Storm {
  int slots = 1000;
  double work_ms = 5;
  levee::demo::FaultShares fault;
  double calm = 5;  // here and below: seconds
  double broken = 10;
  double after = 5;
};

// Returns 0, or the status to exit with.
int Read(int argc, char** argv, Storm& storm) {
  CLI::App app("the service of tests/storms/run");
  app.add_option("--slots", storm.slots, "calls that it works on at a time; others wait in line");
  app.add_option("--work-ms", storm.work_ms, "work for each call");
  app.add_option("--failing", storm.fault.failing, "share of the calls that the fault fails");
  app.add_option("--slots-down", storm.fault.workers_down, "share of the slots that it stops");
  app.add_option("--calm", storm.calm, "seconds before the fault");
  app.add_option("--fault", storm.broken, "seconds of the fault");
  app.add_option("--after", storm.after, "seconds after the fault");
  CLI11_PARSE(app, argc, argv);
  return 0;
}

levee::demo::Capacity CapacityOf(const Storm& storm) {
  levee::demo::Capacity capacity;
  capacity.workers = storm.slots;
  capacity.work = absl::Milliseconds(storm.work_ms);
  // It works on calls whose callers have gone, and turns none away.
  capacity.time_limit = absl::InfiniteDuration();
  capacity.line = 1'000'000;
  return capacity;
}

// Runs the storm's time, and prints how many calls arrived in each tenth of a second.
void Run(const Storm& storm, steady_clock::time_point start,
         const levee::demo::DemoService& service) {
  levee::demo::FaultSwitch faults(service.address());
  const auto begin = start + Seconds(storm.calm);
  const auto end = begin + Seconds(storm.broken);
  const auto over = end + Seconds(storm.after);
  bool broken = false;
  int64_t before = 0;
  for (auto at = start; at <= over; at += std::chrono::milliseconds(100)) {
    std::this_thread::sleep_until(at);
    const bool breaks = at >= begin && at < end;
    if (breaks != broken) faults.Set(breaks ? storm.fault : levee::demo::FaultShares());
    broken = breaks;
    const int64_t arrived = service.arrived();
    if (at > start) std::cout << arrived - before << '\n';
    before = arrived;
  }
  std::cout.flush();
}

}  // namespace

// Prints its address, and reads from the standard input when the storm's time begins, in
// nanoseconds of the monotonic clock.
int main(int argc, char** argv) {
  Storm storm;
  if (const int status = Read(argc, argv, storm); status != 0) return status;
  levee::demo::DemoService service(CapacityOf(storm), /*seed=*/1);
  std::cout << service.address() << std::endl;
  int64_t nanos = 0;
  if (!(std::cin >> nanos)) return 1;
  Run(storm, steady_clock::time_point(std::chrono::nanoseconds(nanos)), service);
  // The calls in line may be many, and nobody waits for them.
  _exit(0);
}
