// SPDX-License-Identifier: Apache-2.0
// Which regular expressions of other tools name methods, and which globs these are.
#include "import/path_regex.h"

#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace levee::importer {
namespace {

// The globs, with a "~" in front if they are fewer than the expression says; "?" if there are none.
std::string Read(const std::string& regex) {
  const PathGlobs read = GlobsOfRegex(regex);
  if (!read.known) return "?";
  return (read.narrowed ? "~" : "") + absl::StrJoin(read.globs, " ");
}

TEST(PathRegex, LiteralsAlternativesAndRunsAreGlobs) {
  EXPECT_EQ(Read("/shop\\.Cart/Get"), "/shop.Cart/Get");
  EXPECT_EQ(Read("^/shop\\.Cart/.*$"), "/shop.Cart/*");
  EXPECT_EQ(Read("/shop\\.Cart/[^/]+"), "/shop.Cart/*");
  EXPECT_EQ(Read(".*"), "*");
  EXPECT_EQ(Read("/(a|b)\\.(C|D)/(?:Get|Put)(Item)?"),
            "/a.C/GetItem /a.C/Get /a.C/PutItem /a.C/Put /a.D/GetItem /a.D/Get /a.D/PutItem "
            "/a.D/Put /b.C/GetItem /b.C/Get /b.C/PutItem /b.C/Put /b.D/GetItem /b.D/Get "
            "/b.D/PutItem /b.D/Put");
  EXPECT_EQ(Read("/a[.]A/Gets?"), "/a.A/Gets /a.A/Get");
}

TEST(PathRegex, ADotThatStandsAloneAndCaseAreReadAsTheyAreMeant) {
  EXPECT_EQ(Read("/shop.Cart/Get"), "~/shop.Cart/Get");
  EXPECT_EQ(Read("(?i)/a/Get"), "~/a/Get");
}

TEST(PathRegex, WhatNoGlobSaysIsNotKnown) {
  for (const char* regex :
       {"/[ab]/Get", "/a+/Get", "/a{2}/Get", "/(a|b)*/Get", "/\\w+/Get", "/(a", "/a)", "/a\\", "[",
        "/a\\*/b", "(?P<x>/a)", "/a$b", "(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)",
        "((((((((((((((((((a))))))))))))))))))"}) {
    EXPECT_EQ(Read(regex), "?") << regex;
  }
}

TEST(PathRegex, ThatNoPathMatchesHasNoGlobs) { EXPECT_EQ(Read("a/b"), ""); }

}  // namespace
}  // namespace levee::importer
