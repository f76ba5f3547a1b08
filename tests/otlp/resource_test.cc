// SPDX-License-Identifier: Apache-2.0
// The attributes of the process that sends spans.
#include "otlp/resource.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::Contains;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Resource, WithoutAnEnvironmentItIsLevee) {
  EXPECT_THAT(ResourceAttributes({}, "id", "1.2"),
              UnorderedElementsAre(Pair("service.name", "levee"), Pair("service.instance.id", "id"),
                                   Pair("service.version", "1.2")));
}

TEST(Resource, TheEnvironmentNamesTheService) {
  EXPECT_THAT(ResourceAttributes({.otel_service_name = "cart"}, "id", "1"),
              Contains(Pair("service.name", "cart")));
  EXPECT_THAT(ResourceAttributes({.otel_resource_attributes = "service.name=shop"}, "id", "1"),
              Contains(Pair("service.name", "shop")));
  EXPECT_THAT(ResourceAttributes(
                  {.otel_service_name = "cart", .otel_resource_attributes = "service.name=shop"},
                  "id", "1"),
              Contains(Pair("service.name", "cart")));
}

TEST(Resource, FurtherAttributesAreReadAndDecoded) {
  EXPECT_THAT(
      ResourceAttributes({.otel_resource_attributes =
                              " deployment.environment = prod ,team=a%2Cb,service.instance.id=x"},
                         "id", "1"),
      UnorderedElementsAre(Pair("service.name", "levee"), Pair("service.instance.id", "x"),
                           Pair("service.version", "1"), Pair("deployment.environment", "prod"),
                           Pair("team", "a,b")));
}

TEST(Resource, AttributesThatCannotBeReadAreAllLeftOut) {
  for (const char* text : {"team=a,nothing", "=a,team=b", "team=%ff"}) {
    EXPECT_EQ(ResourceAttributes({.otel_resource_attributes = text}, "id", "1").size(), 3u) << text;
  }
}

TEST(Resource, ThePodIsNamedWhereItIsKnown) {
  const auto attributes = ResourceAttributes({.otel_resource_attributes = "k8s.pod.name=given",
                                              .pod_name = "cart-1",
                                              .pod_namespace = "shop"},
                                             "id", "1");
  EXPECT_THAT(attributes, Contains(Pair("k8s.pod.name", "given")));
  EXPECT_THAT(attributes, Contains(Pair("k8s.namespace.name", "shop")));
  EXPECT_THAT(ResourceAttributes({.pod_name = "cart-1"}, "id", "1"),
              Contains(Pair("k8s.pod.name", "cart-1")));
}

}  // namespace
}  // namespace levee
