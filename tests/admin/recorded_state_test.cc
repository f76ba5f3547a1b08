// SPDX-License-Identifier: Apache-2.0
// What a recorded state answers, as the page asks for it.
#include "admin/recorded_state.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

using admin::v1::State;

State Recorded() {
  State state;
  state.set_next(9);
  for (const char* name : {"cart", "bank"}) {
    admin::v1::Upstream& upstream = *state.add_upstreams();
    upstream.set_name(name);
    for (uint32_t second = 1; second <= 9; ++second) upstream.add_samples()->set_number(second);
    upstream.add_endpoints()->set_address("10.0.0.7:1");
    admin::v1::Call& call = *state.add_calls();
    call.set_upstream(name);
    call.set_number(9);
  }
  return state;
}

admin::v1::GetStateRequest Since(uint32_t second, const std::string& details_of = "") {
  admin::v1::GetStateRequest request;
  request.set_since(second);
  request.set_details_of(details_of);
  return request;
}

TEST(ReadRecorded, GivesAllOnceAndThenOnlyWhatCameLater) {
  const State all = *ReadRecorded(Recorded(), Since(0));
  EXPECT_EQ(all.upstreams(1).samples_size(), 9);
  EXPECT_EQ(all.calls_size(), 2);
  const State later = *ReadRecorded(Recorded(), Since(7));
  EXPECT_EQ(later.upstreams(1).samples_size(), 2);
  EXPECT_EQ(later.calls_size(), 2);
  const State none = *ReadRecorded(Recorded(), Since(9));
  EXPECT_EQ(none.next(), 9u);
  EXPECT_EQ(none.upstreams(1).samples_size(), 0);
  EXPECT_EQ(none.calls_size(), 0);
}

TEST(ReadRecorded, GivesDetailsOfOneUpstreamAndSaysWhereItLeftThemOut) {
  const State state = *ReadRecorded(Recorded(), Since(0, "bank"));
  EXPECT_TRUE(state.upstreams(0).samples_left_out());
  EXPECT_EQ(state.upstreams(0).endpoints_left_out(), 1u);
  EXPECT_EQ(state.upstreams(0).samples_size() + state.upstreams(0).endpoints_size(), 0);
  EXPECT_EQ(state.upstreams(1).samples_size(), 9);
  EXPECT_EQ(state.upstreams(1).endpoints_size(), 1);
}

TEST(ReadRecorded, GivesOneUpstreamWithItsCalls) {
  admin::v1::GetStateRequest request;
  request.set_upstream("bank");
  const State state = *ReadRecorded(Recorded(), request);
  ASSERT_EQ(state.upstreams_size(), 1);
  EXPECT_EQ(state.upstreams(0).name(), "bank");
  ASSERT_EQ(state.calls_size(), 1);
  EXPECT_EQ(state.calls(0).upstream(), "bank");
  request.set_upstream("mail");
  EXPECT_EQ(ReadRecorded(Recorded(), request).status().message(), "there is no upstream \"mail\"");
}

}  // namespace
}  // namespace levee
