// SPDX-License-Identifier: Apache-2.0
#include "fleet/graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace levee::fleet {
namespace {

// The counters of callers and of a guard are read at different times, and attempts that reach
// nobody are counted by callers alone. Less than this share of the calls that came is no caller.
constexpr double kOutside = 0.1;
constexpr double kSome = 10;

// Layers that are looked through. A way of more edges may be missed.
constexpr size_t kLongestWay = 6;

using NodesByName = std::map<std::string, Node>;
using EdgesByEnds = std::map<std::tuple<std::string, std::string>, Edge>;

NodesByName NodesOf(const std::vector<Sidecar>& sidecars) {
  NodesByName nodes;
  for (const Sidecar& sidecar : sidecars) {
    Node& node = nodes[sidecar.application];
    node.name = sidecar.application;
    ++node.sidecars;
    for (const auto& [upstream, arrivals] : sidecar.figures.served) node.served += arrivals;
  }
  return nodes;
}

EdgesByEnds EdgesOf(const std::vector<Sidecar>& sidecars, const Joins& joins, NodesByName& nodes) {
  std::vector<std::string> applications;
  for (const auto& [name, node] : nodes) applications.push_back(name);
  EdgesByEnds edges;
  for (const Sidecar& sidecar : sidecars) {
    for (const auto& [upstream, figures] : sidecar.figures.upstreams) {
      if (figures.called + figures.app_refused <= 0) continue;
      Edge& edge = edges[{sidecar.application, upstream}];
      edge.from = sidecar.application;
      edge.upstream = upstream;
      edge.to = ApplicationOf(upstream, sidecar.application, applications, joins);
      if (edge.to.empty()) edge.to = upstream;
      nodes[edge.to].name = edge.to;
      edge.figures += figures;
    }
  }
  return edges;
}

// The calls that came to an application.
struct Came {
  double first = 0;
  double repeated = 0;
};

// Loops of callers do not say that they are retries, and callers outside the fleet are only known
// by the guard. So each source may know of more than the other.
Came CameTo(const Node& node, const EdgesByEnds& edges) {
  double all = 0, repeated = 0;
  for (const auto& [ends, edge] : edges) {
    if (edge.to != node.name || edge.from == node.name) continue;
    all += edge.figures.attempts;
    repeated += edge.figures.More() + edge.figures.above;
  }
  all = std::max(all, node.served.first + node.served.retries);
  repeated = std::max(repeated, node.served.retries);
  return {std::max(all - repeated, 0.0), repeated};
}

// Where callers retry, an application makes its calls anew, and they look like a loop of its own.
// For each repeated call that came to it this finds as many as it makes for a first one.
void TakeAbove(EdgesByEnds& edges, const NodesByName& nodes) {
  for (auto& [ends, edge] : edges) {
    const Came came = CameTo(nodes.at(edge.from), edges);
    if (came.repeated <= 0) continue;
    const double each = came.first > 0 ? edge.figures.Asked() / came.first : 1;
    Figures& figures = edge.figures;
    const double above = std::min(figures.app_loop, came.repeated * each);
    figures.above += above;
    figures.app_loop -= above;
  }
}

// Returns the calls that came to the node beside the attempts that sidecars of the fleet sent to
// it.
Edge FromOutside(const Node& node, const EdgesByEnds& edges) {
  double attempts = 0, retries = 0;
  for (const auto& [ends, edge] : edges) {
    if (edge.to != node.name) continue;
    attempts += edge.figures.attempts;
    // Of these the caller's sidecar says that they are retries.
    retries += edge.figures.retries + edge.figures.hedges + edge.figures.app_header;
  }
  Edge outside{.outside = true, .to = node.name};
  outside.figures.called = std::max(node.served.first + node.served.retries - attempts, 0.0);
  outside.figures.attempts = outside.figures.called;
  outside.figures.app_header =
      std::clamp(node.served.retries - retries, 0.0, outside.figures.called);
  return outside;
}

bool Matters(const Edge& outside, const Node& node) {
  return outside.figures.called >= kSome &&
         outside.figures.called > kOutside * (node.served.first + node.served.retries);
}

bool Visits(const Way& way, const std::string& node) {
  return std::any_of(way.begin(), way.end(), [&](const Edge* edge) {
    return edge->to == node || (!edge->outside && edge->from == node);
  });
}

}  // namespace

const Node* Graph::Find(const std::string& name) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

Graph MakeGraph(const std::vector<Sidecar>& sidecars, const Joins& joins) {
  NodesByName nodes = NodesOf(sidecars);
  EdgesByEnds edges = EdgesOf(sidecars, joins, nodes);
  TakeAbove(edges, nodes);
  Graph graph;
  for (const auto& [name, node] : nodes) {
    graph.nodes.push_back(node);
    Edge outside = FromOutside(node, edges);
    if (Matters(outside, node)) graph.edges.push_back(std::move(outside));
  }
  for (const auto& [ends, edge] : edges) graph.edges.push_back(edge);
  return graph;
}

Way LargestWay(const Graph& graph) {
  std::map<std::string, Way> ways;  // by the node at which they end
  for (size_t edges = 0; edges < kLongestWay; ++edges) {
    for (const Edge& edge : graph.edges) {
      Way way = edge.outside ? Way() : ways[edge.from];
      if (Visits(way, edge.to) || edge.from == edge.to) continue;
      way.push_back(&edge);
      if (Product(way) > Product(ways[edge.to])) ways[edge.to] = std::move(way);
    }
  }
  Way largest;
  for (const auto& [node, way] : ways) {
    if (Product(way) > Product(largest)) largest = way;
  }
  return largest;
}

double Product(const Way& way) {
  double product = 1;
  for (const Edge* edge : way) product *= edge->figures.PerCall();
  return product;
}

}  // namespace levee::fleet
