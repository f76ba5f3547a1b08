// SPDX-License-Identifier: Apache-2.0
// The limits of the configuration and those of the data plane are the same.
#include "settings/limits.h"

#include <set>
#include <string>

#include "config/schema.h"
#include "gtest/gtest.h"
#include "levee/config/v1/config.pb.h"

namespace levee {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

TEST(Limits, EveryFieldOfTheConfigurationHasARowInTheTable) {
  std::set<std::string> rows;
#define LEVEE_CONFIGURED(enumerator, name, type) rows.insert(#name);
#define LEVEE_FIXED(enumerator, name)
  LEVEE_LIMITS(LEVEE_CONFIGURED, LEVEE_FIXED)
#undef LEVEE_CONFIGURED
#undef LEVEE_FIXED
  std::set<std::string> fields;
  const Descriptor& limits = *config::v1::Limits::descriptor();
  for (int i = 0; i < limits.field_count(); ++i) fields.insert(limits.field(i)->name());
  EXPECT_EQ(rows, fields);
}

TEST(Limits, EveryFieldHasADefaultBoundsAndWhatHappensThen) {
  const Descriptor& limits = *config::v1::Limits::descriptor();
  for (int i = 0; i < limits.field_count(); ++i) {
    const FieldDescriptor& field = *limits.field(i);
    const config::v1::FieldRule& rule = RuleOf(field);
    EXPECT_NE(rule.default_() + rule.limit().default_text(), "") << field.name();
    EXPECT_EQ(rule.limit().default_text().empty(), rule.limit().example().empty()) << field.name();
    EXPECT_NE(rule.min() + rule.above(), "") << field.name();
    EXPECT_TRUE(!rule.max().empty() || rule.none()) << field.name();
    EXPECT_NE(rule.limit().when_reached(), "") << field.name();
  }
}

TEST(Limits, EveryBoundHasALabelOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < kLimits; ++i) names.insert(LimitName(static_cast<Limit>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kLimits));
}

}  // namespace
}  // namespace levee
