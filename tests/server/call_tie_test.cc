// SPDX-License-Identifier: Apache-2.0
#include "server/call_tie.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Duration kTimeout = absl::Seconds(2);

class CallTieTest : public testing::Test {
 protected:
  // A served call ends with that code after that time.
  void EndAfter(absl::Duration time, StatusCode code) {
    CallTie tie(environment_, policy_, *table_);
    Metadata request;
    request.Add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    tie.Serve(request, kTimeout, "", begin_);
    tie.EndServing(code, /*caller_left=*/false, begin_ + time);
    trace_ = tie.trace();
  }

  const Instant begin_ = Instant() + absl::Seconds(1);
  std::vector<TraceNumber> gone_;
  Ties ties_{/*seed=*/1, [this](TraceNumber trace) { gone_.push_back(trace); }};
  std::shared_ptr<TieTable> table_ = ties_.Get(/*max_traces=*/10);
  const TiePolicy policy_{.cancel = true};
  Random random_{1};
  WorkerSeries series_;
  const TieEnvironment environment_{ties_, random_, series_};
  TraceNumber trace_ = 0;
};

// The service's clock runs ahead, or the deadline that it was told was rounded down.
TEST_F(CallTieTest, ACallerWhoseServiceEndsTheCallAboutItsDeadlineHasGone) {
  EndAfter(kTimeout - absl::Milliseconds(3), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(gone_, ElementsAre(trace_));
}

TEST_F(CallTieTest, ACallerWhoseServiceHasMissedADeadlineOfItsOwnIsThere) {
  EndAfter(kTimeout / 2, StatusCode::kDeadlineExceeded);
  EXPECT_THAT(gone_, IsEmpty());
}

TEST_F(CallTieTest, ACallerThatHasItsAnswerIsThere) {
  EndAfter(kTimeout, StatusCode::kOk);
  EXPECT_THAT(gone_, IsEmpty());
}

}  // namespace
}  // namespace levee
