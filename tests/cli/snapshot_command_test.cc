// SPDX-License-Identifier: Apache-2.0
// What `levee snapshot` asks for where one answer does not have it all.
#include "cli/snapshot_command.h"

#include <string>

#include "admin/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// A sidecar of two upstreams, whose state leaves out the samples of one and an endpoint of the
// other.
HttpResponse Answer(const HttpRequest& request) {
  if (request.path == "/config") return {.body = "listeners: []\n"};
  if (request.query == "upstream=a%2Db") {
    return {.body = R"({"upstreams": [{"name": "a-b", "samples": [{"number": 7}]}]})"};
  }
  if (request.query == "upstream=c") {
    return {.body = R"({"upstreams": [{"name": "c", "endpoints": [{"address": "1.2.3.4:5"}]}]})"};
  }
  return {.body = R"({"next": 9, "of_a_later_version": 1, "upstreams": [
              {"name": "a-b", "samples_left_out": true}, {"name": "c", "endpoints_left_out": 1}]})"};
}

TEST(TakeSnapshot, HasTheDetailsOfAllUpstreams) {
  const auto server = HttpServer::Start(
      {.address = {.host = "127.0.0.1"}, .field = "", .headers = "", .answer = Answer});
  ASSERT_TRUE(server.ok()) << server.status();
  AdminPort port((*server)->address());
  const auto snapshot = TakeSnapshot(port);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ(snapshot->configuration().text(), "listeners: []\n");
  const auto& state = snapshot->state();
  EXPECT_EQ(state.next(), 9u);
  ASSERT_EQ(state.upstreams_size(), 2);
  ASSERT_EQ(state.upstreams(0).samples_size(), 1);
  EXPECT_EQ(state.upstreams(0).samples(0).number(), 7u);
  ASSERT_EQ(state.upstreams(1).endpoints_size(), 1);
  EXPECT_EQ(state.upstreams(1).endpoints(0).address(), "1.2.3.4:5");
}

}  // namespace
}  // namespace levee
