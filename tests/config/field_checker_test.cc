// SPDX-License-Identifier: Apache-2.0
// Kinds of values, bounds, what is missing, and what is given twice.
#include "config/field_checker.h"

#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Retry(const std::string& fields) {
  return "policies:\n  - name: default\n    retry:\n      " + fields + "\n";
}

TEST(FieldChecker, MissingFieldsAreReportedAtTheirEntry) {
  EXPECT_EQ(FaultsOf("listeners:\n  - {}\n"),
            "f:2:5: LV110 listeners[0].name: is missing; it must be given\n"
            "f:2:5: LV110 listeners[0].address: is missing; it must be given");
  EXPECT_EQ(FaultsOf("upstreams: [{name: anywhere}]\n"),
            "f:1:13: LV110 upstreams[0].endpoints: is missing; it must be given");
  EXPECT_EQ(FaultsOf("routes:\n  - policy: default\n"),
            "f:2:5: LV110 routes[0].upstream: is missing; it must be given");
  EXPECT_EQ(FaultsOf("policies: [{timeout: 1s}]\n"),
            "f:1:12: LV110 policies[0].name: is missing; it must be given");
}

TEST(FieldChecker, ListsThatMayNotBeEmpty) {
  EXPECT_EQ(FaultsOf("listeners: []\nroutes: []\n"),
            "f:1:1: LV111 listeners: is empty; give at least one\n"
            "f:2:1: LV111 routes: is empty; give at least one");
  EXPECT_EQ(FaultsOf("upstreams: [{name: anywhere, endpoints: []}]\n"),
            "f:1:30: LV111 upstreams[0].endpoints: is empty; give at least one");
}

TEST(FieldChecker, DuplicateNamesAreReportedWithTheFirst) {
  EXPECT_EQ(
      FaultsOf("policies:\n  - name: a\n  - name: b\n  - name: a\n"),
      "f:4:11: LV303 policies[2].name: \"a\" is given twice; first at f:2:11: policies[0].name");
  EXPECT_EQ(
      FaultsOf("listeners: [{name: a, address: 127.0.0.1:1}, {name: a, address: "
               "127.0.0.1:2}]\n"),
      "f:1:53: LV303 listeners[1].name: \"a\" is given twice; first at f:1:20: listeners[0].name");
  EXPECT_EQ(FaultsOf("upstreams:\n"
                     "  - {name: anywhere, endpoints: [\"authority:\"]}\n"
                     "  - {name: anywhere, endpoints: [\"authority:\"]}\n"),
            "f:3:12: LV303 upstreams[1].name: \"anywhere\" is given twice; first at f:2:12: "
            "upstreams[0].name");
}

TEST(FieldChecker, NamesAreShortWords) {
  EXPECT_EQ(FaultsOf("policies: [{name: \"a b\"}]\n"),
            "f:1:19: LV211 policies[0].name: \"a b\" is not a name; a name has 1 to 63 letters, "
            "digits, '-', "
            "'_' and '.'");
}

TEST(FieldChecker, DurationsNeedAUnit) {
  EXPECT_EQ(
      FaultsOf(Retry("attempt_timeout: 250")),
      "f:4:24: LV204 policies[0].retry.attempt_timeout: \"250\" has no unit; say 250ms or 250s");
  EXPECT_EQ(FaultsOf(Retry("attempt_timeout: 1.5 s")),
            "f:4:24: LV204 policies[0].retry.attempt_timeout: \"1.5 s\" is not a duration; say "
            "250ms, 10s "
            "or 1m30s (units: ns, us, ms, s, m, h)");
}

TEST(FieldChecker, SizesNeedAUnit) {
  EXPECT_EQ(FaultsOf(Retry("buffer: 64")),
            "f:4:15: LV205 policies[0].retry.buffer: \"64\" has no unit; say 64KiB or 64B");
  EXPECT_EQ(FaultsOf(Retry("buffer: 64KB")),
            "f:4:15: LV205 policies[0].retry.buffer: \"64KB\" is not a size; say 64KiB (a whole "
            "number and "
            "B, KiB, MiB or GiB)");
}

TEST(FieldChecker, BoundsThatNoneSwitchesOffAndThoseItDoesNot) {
  EXPECT_EQ(FaultsOf(Retry("attempt_timeout: none")), "");
  EXPECT_EQ(
      FaultsOf(Retry("hold: none")),
      "f:4:13: LV203 policies[0].retry.hold: cannot be switched off with none; give it a value");
  EXPECT_EQ(FaultsOf("limits: {replay_bytes: none}\n"),
            "f:1:24: LV203 limits.replay_bytes: cannot be switched off with none; give it a value");
}

TEST(FieldChecker, BoundsOfTimeouts) {
  EXPECT_EQ(FaultsOf(Retry("attempt_timeout: 0s")),
            "f:4:24: LV201 policies[0].retry.attempt_timeout: 0s is too small; it must be above "
            "0s, or none");
  EXPECT_EQ(FaultsOf(Retry("hold: -1ms")),
            "f:4:13: LV201 policies[0].retry.hold: -1ms is too small; it must be at least 0s");
  EXPECT_EQ(FaultsOf("policies: [{name: default, timeout: 0ms}]\n"),
            "f:1:37: LV201 policies[0].timeout: 0ms is too small; it must be above 0s, or none");
  EXPECT_EQ(FaultsOf("drain: {timeout: -1s}\n"),
            "f:1:18: LV201 drain.timeout: -1s is too small; it must be at least 0s");
  EXPECT_EQ(FaultsOf("drain: {timeout: 9000h}\n"),
            "f:1:18: LV201 drain.timeout: \"9000h\" is too long; at most 8760h is allowed");
}

TEST(FieldChecker, BoundsOfTheBudget) {
  EXPECT_EQ(
      FaultsOf(Retry("budget: {ratio: -0.1, window: 0s}")),
      "f:4:23: LV201 policies[0].retry.budget.ratio: -0.1 is too small; it must be at least 0\n"
      "f:4:37: LV201 policies[0].retry.budget.window: 0s is too small; it must be at least 100ms");
  EXPECT_EQ(
      FaultsOf(Retry("budget: {floor: {per_second: -1, min_success: 80}}")),
      "f:4:36: LV201 policies[0].retry.budget.floor.per_second: -1 is too small; it must be at "
      "least 0\n"
      "f:4:53: LV201 policies[0].retry.budget.floor.min_success: 80 is too large; it must be at "
      "most 1");
}

TEST(FieldChecker, BoundsOfJitter) {
  EXPECT_EQ(
      FaultsOf(Retry("backoff: {jitter: {factor: 20}}")),
      "f:4:34: LV201 policies[0].retry.backoff.jitter.factor: 20 is too large; it must be at most "
      "1");
  EXPECT_EQ(
      FaultsOf(Retry("backoff: {jitter: {factor: 0}}")),
      "f:4:34: LV201 policies[0].retry.backoff.jitter.factor: 0 is too small; it must be above 0");
}

TEST(FieldChecker, BoundsOfLimits) {
  EXPECT_EQ(FaultsOf("limits:\n"
                     "  replay_bytes: 2048GiB\n"
                     "  streams_per_connection: 0\n"
                     "  metadata_bytes: 1023B\n"
                     "  metadata_fields: 15\n"
                     "  method_labels: -1\n"
                     "  destinations: 0\n"),
            "f:2:17: LV201 limits.replay_bytes: 2048GiB is too large; it must be at most 1024GiB\n"
            "f:3:27: LV201 limits.streams_per_connection: 0 is too small; it must be at least 1\n"
            "f:4:19: LV201 limits.metadata_bytes: 1023B is too small; it must be at least 1KiB\n"
            "f:5:20: LV201 limits.metadata_fields: 15 is too small; it must be at least 16\n"
            "f:6:18: LV201 limits.method_labels: -1 is too small; it must be at least 0\n"
            "f:7:17: LV201 limits.destinations: 0 is too small; it must be at least 1");
}

TEST(FieldChecker, GlobsThatCanNeverMatch) {
  EXPECT_EQ(
      FaultsOf("routes:\n"
               "  - {match: {method: shop.Cart/*}, upstream: anywhere}\n"
               "  - {match: {method: Get}, upstream: anywhere}\n"
               "  - {match: {authority: http://cart}, upstream: anywhere}\n"
               "  - {match: {method: \"*/Get\"}, upstream: anywhere}\n"),
      "f:2:22: LV213 routes[0].match.method: \"shop.Cart/*\" can never match: methods begin with "
      "'/'; say \"/shop.Cart/*\"\n"
      "f:3:22: LV213 routes[1].match.method: \"Get\" can never match: methods begin with '/'; say "
      "\"/pkg.Service/*\"\n"
      "f:4:25: LV212 routes[2].match.authority: \"http://cart\" can never match: an authority is "
      "HOST:PORT; say \"cart.shop:*\"");
}

TEST(FieldChecker, BrokenElementsAreCounted) {
  EXPECT_EQ(FaultsOf(Retry("codes: [~, [8], 17]\n      failures: [none, ~, reset]")),
            "f:4:14: LV108 policies[0].retry.codes[0]: has no value; leave the element out\n"
            "f:4:18: LV109 policies[0].retry.codes[1]: is a list; write a single value\n"
            "f:4:23: LV206 policies[0].retry.codes[2]: \"17\" is not a gRPC status code; they are "
            "1 to 16\n"
            "f:5:17: LV108 policies[0].retry.failures[1]: has no value; leave the element out\n"
            "f:5:18: LV202 policies[0].retry.failures[0]: \"none\" is unknown; allowed: refused, "
            "connect, reset, timeout");
}

TEST(FieldChecker, BrokenValuesAreReportedOnce) {
  // A name that could not be read is not also missing, and nothing is said about its references.
  EXPECT_EQ(FaultsOf("policies:\n  - name: [a]\nroutes: 7\n"),
            "f:2:5: LV109 policies[0].name: is a list; write a single value\n"
            "f:3:9: LV109 routes: is \"7\"; write a list; say [7]");
}

}  // namespace
}  // namespace levee
