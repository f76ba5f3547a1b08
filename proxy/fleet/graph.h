// SPDX-License-Identifier: Apache-2.0
// Who calls whom in a fleet, and how often for each call.
#pragma once

#include <string>
#include <vector>

#include "fleet/figures.h"
#include "fleet/join.h"

namespace levee::fleet {

// One sidecar, and the application that it stands beside. Several may stand beside one.
struct Sidecar {
  std::string application;
  SidecarFigures figures;
};

// An application. Its sidecars are added up.
struct Node {
  std::string name;
  int sidecars = 0;  // 0: it is only known as an upstream
  Arrivals served;   // what its guards saw come
};

// The calls of one application to one upstream, with attempts, or the calls of callers without a
// sidecar of the fleet to an application, as its guards see them: each is an attempt.
struct Edge {
  bool outside = false;
  std::string from;      // the name of a node; empty: outside
  std::string upstream;  // as the policy of `from` calls it; empty: outside
  std::string to;        // the name of a node
  Figures figures;
};

// Nodes and edges by their names.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;

  const Node* Find(const std::string& name) const;
};

// Upstreams that are no application of the fleet (ApplicationOf) are nodes of their own name.
// Edges without calls are left out.
Graph MakeGraph(const std::vector<Sidecar>& sidecars, const Joins& joins);

// Edges of which each begins where the one before it ends.
using Way = std::vector<const Edge*>;

// Returns a way on which a call comes to the most attempts, if each layer calls the next as often
// as it is called: the product of the attempts per call of its edges is large. No node is on it
// twice, and it neither begins nor ends with edges that do not multiply. Empty if no edge does. Of
// many ways through many layers it may not find the largest.
Way LargestWay(const Graph& graph);
double Product(const Way& way);

}  // namespace levee::fleet
