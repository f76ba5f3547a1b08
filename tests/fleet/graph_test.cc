// SPDX-License-Identifier: Apache-2.0
#include "fleet/graph.h"

#include <string>
#include <vector>

#include "fleet/fleet_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee::fleet {
namespace {

const std::vector<std::string> kApplications = {"cart.shop", "cart.test", "orders"};

TEST(Joins, AnUpstreamIsTheApplicationOfItsName) {
  EXPECT_EQ(ApplicationOf("orders", "web", kApplications, {}), "orders");
  EXPECT_EQ(ApplicationOf("dns:orders:50051", "web", kApplications, {}), "orders");
  EXPECT_EQ(ApplicationOf("orders.shop.svc.cluster.local:50051", "web", kApplications, {}),
            "orders");
  EXPECT_EQ(ApplicationOf("cart.test", "web", kApplications, {}), "cart.test");
  EXPECT_EQ(ApplicationOf("ord", "web", kApplications, {}), "");
  EXPECT_EQ(ApplicationOf("orders-v2", "web", kApplications, {}), "");
}

TEST(Joins, OfSeveralItIsTheOneInTheNamespaceOfTheCaller) {
  EXPECT_EQ(ApplicationOf("cart", "web.test", kApplications, {}), "cart.test");
  EXPECT_EQ(ApplicationOf("cart", "web.shop", kApplications, {}), "cart.shop");
  EXPECT_EQ(ApplicationOf("cart", "web.other", kApplications, {}), "");
  EXPECT_EQ(ApplicationOf("cart", "web", kApplications, {}), "");
}

TEST(Joins, WhatTheReaderSaysComesFirst) {
  EXPECT_EQ(ApplicationOf("orders", "web", kApplications, {{"orders", "cart.shop"}}), "cart.shop");
}

TEST(Graph, AddsTheSidecarsOfAnApplicationUp) {
  const Graph graph = MakeGraph({Calls("web", "cart", kCalm), Calls("web", "cart", kOwn)}, {});
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.edges[0].from, "web");
  EXPECT_EQ(graph.edges[0].to, "cart");
  EXPECT_EQ(graph.edges[0].figures.PerCall(), 2);
  EXPECT_EQ(graph.Find("web")->sidecars, 2);
  EXPECT_EQ(graph.Find("cart")->sidecars, 0);
  EXPECT_EQ(graph.Find("nobody"), nullptr);
}

TEST(Graph, LeavesOutUpstreamsWithoutCalls) {
  EXPECT_TRUE(MakeGraph({Calls("web", "cart", {})}, {}).edges.empty());
}

TEST(Graph, ShowsCallersOutsideTheFleetByWhatAGuardSaw) {
  const Graph graph = MakeGraph({Serves("web", {.first = 100, .retries = 50})}, {});
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_TRUE(graph.edges[0].outside);
  EXPECT_EQ(graph.edges[0].to, "web");
  EXPECT_EQ(graph.edges[0].figures.PerCall(), 1.5);
}

TEST(Graph, CallersInTheFleetAreNotOutside) {
  const Figures retried = {.called = 100, .attempts = 150, .retries = 50};
  const Arrivals served = {.first = 105, .retries = 50};  // Some ended a moment later.
  const Graph graph = MakeGraph({Calls("web", "cart", retried), Serves("cart", served)}, {});
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_FALSE(graph.edges[0].outside);
}

TEST(Graph, OfCallersInsideAndOutsideEachHasItsShare) {
  const Figures retried = {.called = 100, .attempts = 150, .retries = 50};
  const Graph graph = MakeGraph(
      {Calls("web", "cart", retried), Serves("cart", {.first = 200, .retries = 150})}, {});
  ASSERT_EQ(graph.edges.size(), 2u);
  EXPECT_TRUE(graph.edges[0].outside);
  EXPECT_EQ(graph.edges[0].figures.attempts, 200);
  EXPECT_EQ(graph.edges[0].figures.app_header, 100);
}

// The edge from orders to cart, where web calls orders with three attempts and `arrivals` came.
Figures BelowRetries(const Figures& figures, const Arrivals& arrivals) {
  const Graph graph =
      MakeGraph({Calls("web", "orders", kOwn), Calls("orders", "cart", figures, arrivals)}, {});
  for (const Edge& edge : graph.edges) {
    if (edge.from == "orders") return edge.figures;
  }
  return {};
}

TEST(Graph, CallsThatAreMadeAnewForRetriesOfCallersAreNoLoop) {
  for (const Arrivals& arrivals : {Arrivals{}, Arrivals{.first = 100, .retries = 200}}) {
    const Figures cart = BelowRetries(kLoops, arrivals);
    EXPECT_EQ(cart.app_loop, 0);
    EXPECT_EQ(cart.above, 200);
    EXPECT_EQ(cart.PerCall(), 1);
  }
}

TEST(Graph, ALoopBelowRetriesOfCallersHasItsOwnShare) {
  // Three for each of the 300 calls that came.
  const Figures cart = BelowRetries({.called = 900, .attempts = 900, .app_loop = 800},
                                    {.first = 100, .retries = 200});
  EXPECT_EQ(cart.above, 200);
  EXPECT_EQ(cart.app_loop, 600);
  EXPECT_EQ(cart.PerCall(), 3);
}

TEST(Graph, AnApplicationThatMakesTwoCallsMakesTwoForEachRetry) {
  const Figures cart = BelowRetries({.called = 600, .attempts = 600, .app_loop = 400},
                                    {.first = 100, .retries = 200});
  EXPECT_EQ(cart.above, 400);
  EXPECT_EQ(cart.PerCall(), 1);
}

TEST(Graph, LayersMultiplyEachOther) {
  const Graph graph = MakeGraph({Calls("web", "orders", kOwn), Calls("orders", "stock", kCalm),
                                 Calls("stock", "cart", kOwn), Calls("cart", "web", kCalm)},
                                {});
  const Way way = LargestWay(graph);
  ASSERT_EQ(way.size(), 3u);
  EXPECT_EQ(way.front()->from, "web");
  EXPECT_EQ(way.back()->to, "cart");
  EXPECT_EQ(Product(way), 9);
}

TEST(Graph, WithoutMultiplicationThereIsNoWay) {
  EXPECT_TRUE(LargestWay(MakeGraph({Calls("web", "orders", kCalm), Calls("web", "web", kOwn)}, {}))
                  .empty());
}

TEST(Graph, AllCallingAllIsJudgedInTime) {
  std::vector<Sidecar> sidecars;
  for (int i = 0; i < 40; ++i) {
    Sidecar& sidecar = sidecars.emplace_back(Sidecar{"a" + std::to_string(i), {}});
    for (int j = 0; j < 40; ++j) sidecar.figures.upstreams["a" + std::to_string(j)] = kOwn;
  }
  EXPECT_GE(Product(LargestWay(MakeGraph(sidecars, {}))), 9);
}

}  // namespace
}  // namespace levee::fleet
