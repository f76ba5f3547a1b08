// SPDX-License-Identifier: Apache-2.0
// Names and durations of a draft, and how it is written.
#include "import/draft.h"

#include <string>

#include "gtest/gtest.h"
#include "import/draft_writer.h"

namespace levee::importer {
namespace {

TEST(Names, AreWhatAPolicyFileAllows) {
  Names names({});
  EXPECT_EQ(names.Next("shop.Cart"), "shop.Cart");
  EXPECT_EQ(names.Next("outbound|80||cart"), "outbound-80--cart");
  EXPECT_EQ(names.Next(""), "unnamed");
  EXPECT_EQ(names.Next(std::string(60, 'a') + ".end"), std::string(51, 'a') + ".end");
}

TEST(Names, AreNeverGivenOutTwice) {
  Names names({"none"});
  EXPECT_EQ(names.Next("a"), "a");
  EXPECT_EQ(names.Next("a"), "a-2");
  EXPECT_EQ(names.Next("a-2"), "a-2-2");
  EXPECT_EQ(names.Next("none"), "none-2");
}

TEST(SetDuration, BoundsWhatAPolicyWouldRefuse) {
  Field<absl::Duration> field;
  SetDuration(absl::Hours(8760), field);
  EXPECT_EQ(field, (Field<absl::Duration>{absl::Hours(8760), {}}));
  SetDuration(absl::Hours(10000), field);
  EXPECT_EQ(field.value, absl::Hours(8760));
  EXPECT_EQ(field.notes, Notes{"10000h is longer than a year, the longest that Levee takes."});
}

TEST(DraftWriter, WritesNotesOfAbsentFieldsWhereTheFieldsWouldStand) {
  Draft draft;
  draft.notes = {"Title.", "More."};
  draft.upstreams = {AnywhereUpstream()};
  RouteDraft out;
  out.notes = {"Not this."};
  out.left_out = true;
  draft.routes.push_back(out);
  out.upstream = "anywhere";
  out.policy = "p";
  out.method = "/a/*";
  draft.routes.push_back(out);
  draft.routes.push_back({.authority = "a:1", .upstream = "anywhere", .policy = "p"});
  PolicyDraft policy{"p", {"About p."}, {}};
  policy.rules.timeout.notes = {"No timeout."};
  policy.rules.retry.max_attempts.value = 1;
  policy.rules.retry.http.notes = {"No http."};
  policy.rules.retry.notes = {"No more."};
  policy.rules.hedge.notes = {"No hedge."};
  draft.policies = {policy};
  EXPECT_EQ(WriteDraft(draft),
            "# Title.\n"
            "#\n"
            "# More.\n"
            "\n"
            "upstreams:\n"
            "  - name: anywhere\n"
            "    endpoints: [\"authority:\"]\n"
            "\n"
            "routes:\n"
            "  # Not this.\n"
            "  # Not this.\n"
            "  # - match: {method: \"/a/*\"}\n"
            "  #   upstream: anywhere\n"
            "  #   policy: p\n"
            "  - match: {authority: \"a:1\"}\n"
            "    upstream: anywhere\n"
            "    policy: p\n"
            "\n"
            "policies:\n"
            "  # About p.\n"
            "  - name: p\n"
            "    # No timeout.\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "      # No http.\n"
            "      # No more.\n"
            "    # No hedge.\n");
}

}  // namespace
}  // namespace levee::importer
