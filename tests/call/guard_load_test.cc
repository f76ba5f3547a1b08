// SPDX-License-Identifier: Apache-2.0
// What the guard does for a service under load: cases G1 to G8.
#include "call/guard_load.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

constexpr uint64_t kSeeds = 5;
constexpr WorkKind kKinds[] = {WorkKind::kFixed, WorkKind::kExponential, WorkKind::kCpu};

constexpr auto kAll = [](const LoadCall&) { return true; };
constexpr auto kGood = [](const LoadCall& call) { return call.ok(); };
constexpr auto kRefused = [](const LoadCall& call) {
  return call.code == StatusCode::kResourceExhausted;
};

std::string KindName(WorkKind kind) {
  switch (kind) {
    case WorkKind::kFixed:
      return "fixed";
    case WorkKind::kExponential:
      return "exponential";
    case WorkKind::kCpu:
      return "cpu";
  }
  return "";
}

TEST(CallGuardLoad, PRINT) {
  for (const WorkKind kind : kKinds) {
    for (const double load : {0.5, 0.9, 1.0, 2.0, 4.0, 10.0}) {
      double goodput = 0, p99 = 0, refused = 0;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        GuardLoad setting{.kind = kind, .seconds = 15};
        setting.load = [=](double) { return load; };
        GuardRun run(setting, seed);
        goodput += run.Goodput(5, 15) / kSeeds;
        p99 += run.QuantileMs(0.99, 5, 15, kGood) / kSeeds;
        refused += run.QuantileMs(0.99, 5, 15, kRefused) / kSeeds;
      }
      printf("%s %.1f: goodput %.3f p99 %.1f ms, refusals %.1f ms\n", KindName(kind).c_str(), load, goodput, p99, refused);
    }
  }
}

}  // namespace
}  // namespace levee
