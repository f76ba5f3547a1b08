// SPDX-License-Identifier: Apache-2.0
// Fields of the contract whose features are not built: accepted at their default, else refused.
#include <set>
#include <string>

#include "config/faults_of.h"
#include "config/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "levee/config/v1/config.pb.h"

namespace levee {
namespace {

TEST(NotSupported, Routes) {
  EXPECT_EQ(FaultsOf("routes: [{upstream: anywhere,\n   match: {headers: [a]}}]\n"),
            "f:2:12: LV501 routes[0].match.headers: not supported yet: needs route candidates with "
            "predicates; leave it out");
  EXPECT_EQ(
      FaultsOf("routes: [{upstream: anywhere,\n   timeout: 1s}]\n"),
      "f:2:13: LV501 routes[0].timeout: not supported yet: needs timeouts per route; leave it "
      "out");
}

TEST(NotSupported, ValueIsStillChecked) {
  EXPECT_EQ(
      FaultsOf("routes: [{upstream: anywhere,\n   timeout: 10}]\n"),
      "f:2:13: LV204 routes[0].timeout: \"10\" has no unit; say 10ms or 10s\n"
      "f:2:13: LV501 routes[0].timeout: not supported yet: needs timeouts per route; leave it "
      "out");
}

// Collects the fields and enum values that the schema marks as not supported.
void CollectLater(const google::protobuf::Descriptor& type, std::set<std::string>& seen,
                  std::set<std::string>& later) {
  if (!seen.insert(type.full_name()).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (!RuleOf(field).later().empty()) later.insert(type.name() + "." + field.name());
    if (field.message_type() != nullptr) CollectLater(*field.message_type(), seen, later);
    if (field.enum_type() == nullptr) continue;
    for (int j = 0; j < field.enum_type()->value_count(); ++j) {
      const auto& value = *field.enum_type()->value(j);
      if (value.options().HasExtension(config::v1::value_later)) later.insert(value.name());
    }
  }
}

TEST(NotSupported, EveryFieldThatTheSchemaMarksIsTestedAbove) {
  std::set<std::string> seen, later;
  CollectLater(*config::v1::Config::descriptor(), seen, later);
  EXPECT_EQ(later, (std::set<std::string>{"Match.headers", "Route.timeout"}));
}

}  // namespace
}  // namespace levee
