// A32: the n-th delay has the distribution of the table in the policy's documentation, by the
// Kolmogorov-Smirnov test over 10^4 draws. Seeds are fixed, so a failure replays.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "policy/backoff.h"

namespace levee {
namespace {

constexpr int kDraws = 10'000;
// sqrt(-ln(p / 2) / 2) / sqrt(draws) for p = 0.001.
constexpr double kCritical = 0.019495;

// A distribution function over seconds; what it steps by at a point is an atom.
using Distribution = std::function<double(double)>;

// Between `low` and `high` linear; a `cap` below `high` gets the rest of the probability.
Distribution Uniform(double low, double high, double cap = 1e9) {
  return [=](double x) { return x >= cap ? 1.0 : std::clamp((x - low) / (high - low), 0.0, 1.0); };
}

// sup |F_n - F|, compared at and just below each value, so that atoms count as what they are.
double Distance(std::vector<absl::Duration> draws, const Distribution& distribution) {
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  for (size_t first = 0; first < draws.size();) {
    size_t end = first;
    while (end < draws.size() && draws[end] == draws[first]) ++end;
    const double at = distribution(absl::ToDoubleSeconds(draws[first]));
    const double below = distribution(absl::ToDoubleSeconds(draws[first] - absl::Nanoseconds(1)));
    distance = std::max(distance, std::abs(static_cast<double>(end) / kDraws - at));
    distance = std::max(distance, std::abs(static_cast<double>(first) / kDraws - below));
    first = end;
  }
  return distance;
}

// The n-th delays of as many calls as there are draws.
std::vector<absl::Duration> NthDelays(const BackoffPolicy& policy, int n, uint64_t seed) {
  Random random(seed);
  std::vector<absl::Duration> draws;
  for (int i = 0; i < kDraws; ++i) {
    Backoff backoff;
    for (int k = 1; k < n; ++k) backoff.Next(policy, random);
    draws.push_back(backoff.Next(policy, random));
  }
  return draws;
}

void ExpectNth(const BackoffPolicy& policy, int n, const Distribution& distribution) {
  const uint64_t seed = 1000 + n;
  EXPECT_LT(Distance(NthDelays(policy, n, seed), distribution), kCritical)
      << "retry " << n << ", seed " << seed;
}

BackoffPolicy Policy(Jitter jitter) {
  BackoffPolicy policy;
  policy.initial = absl::Milliseconds(100);
  policy.max = absl::Seconds(1);
  policy.jitter = jitter;
  return policy;
}

// min(nominal, max) of retries 1 to 5 of that policy, in seconds.
constexpr double kNominal[] = {0.1, 0.2, 0.4, 0.8, 1.0};

TEST(BackoffDistribution, A32_FullIsUniformFromZeroToNominal) {
  for (int n = 1; n <= 5; ++n) ExpectNth(Policy(Jitter::kFull), n, Uniform(0, kNominal[n - 1]));
}

TEST(BackoffDistribution, A32_EqualIsUniformOverTheUpperHalf) {
  for (int n = 1; n <= 5; ++n) {
    ExpectNth(Policy(Jitter::kEqual), n, Uniform(kNominal[n - 1] / 2, kNominal[n - 1]));
  }
}

TEST(BackoffDistribution, A32_FactorIsUniformAroundNominal) {
  for (double factor : {0.2, 0.5, 1.0}) {
    BackoffPolicy policy = Policy(Jitter::kFactor);
    policy.factor = factor;
    for (int n = 1; n <= 5; ++n) {
      const double nominal = kNominal[n - 1];
      ExpectNth(policy, n, Uniform(nominal * (1 - factor), nominal * (1 + factor)));
    }
  }
}

TEST(BackoffDistribution, A32_AddIsUniformAboveNominalAndCutAtMax) {
  BackoffPolicy policy = Policy(Jitter::kAdd);
  policy.add = absl::Milliseconds(400);
  for (int n = 1; n <= 5; ++n) {
    ExpectNth(policy, n, Uniform(kNominal[n - 1], kNominal[n - 1] + 0.4, 1.0));
  }
}

TEST(BackoffDistribution, A32_DecorrelatedStartsBetweenInitialAndThreeTimesInitial) {
  ExpectNth(Policy(Jitter::kDecorrelated), 1, Uniform(0.1, 0.3));
}

// The n-th delay depends on the one before; its place between initial and 3 x previous does not.
TEST(BackoffDistribution, A32_DecorrelatedIsUniformUpToThreeTimesThePreviousDelay) {
  BackoffPolicy policy = Policy(Jitter::kDecorrelated);
  policy.max = absl::Hours(1000);
  for (int n = 2; n <= 5; ++n) {
    Random random(2000 + n);
    std::vector<absl::Duration> places;
    for (int i = 0; i < kDraws; ++i) {
      Backoff backoff;
      absl::Duration previous;
      for (int k = 1; k < n; ++k) previous = backoff.Next(policy, random);
      const absl::Duration above = backoff.Next(policy, random) - policy.initial;
      places.push_back(absl::Seconds(absl::FDivDuration(above, 3 * previous - policy.initial)));
    }
    EXPECT_LT(Distance(places, Uniform(0, 1)), kCritical) << "retry " << n;
  }
}

TEST(BackoffDistribution, A32_DecorrelatedIsCutAtMax) {
  BackoffPolicy policy = Policy(Jitter::kDecorrelated);
  policy.max = absl::Milliseconds(250);
  ExpectNth(policy, 1, Uniform(0.1, 0.3, 0.25));
}

// The test can fail: another distribution is told apart.
TEST(BackoffDistribution, EqualJitterIsNotTakenForFull) {
  const auto draws = NthDelays(Policy(Jitter::kEqual), 1, 1);
  EXPECT_GT(Distance(draws, Uniform(0, 0.1)), kCritical);
  EXPECT_GT(Distance(draws, Uniform(0.048, 0.1)), kCritical);
}

}  // namespace
}  // namespace levee
