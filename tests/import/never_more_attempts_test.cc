// SPDX-License-Identifier: Apache-2.0
// Random routes of Envoy, whose rules the test knows: no call is tried more often than they allow,
// none goes to another service, and none that they refuse reaches one.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "import/imported.h"

namespace levee {
namespace {

struct SourceRoute {
  std::string match;                 // as Envoy writes it
  std::vector<std::string> methods;  // of kMethods, which it takes
  bool header = false;               // only with the header x
  std::string cluster;               // empty: Envoy denies the call
  int retries = 0;
};

struct SourceHost {
  std::string domain;
  std::vector<SourceRoute> routes;
};

const std::vector<std::string> kMethods = {"/a/Get", "/a/Put", "/b/Get"};
const std::vector<std::string> kAuthorities = {"one.shop", "two.shop", "other"};

// Draws from one seed.
class Draw {
 public:
  explicit Draw(uint32_t seed) : engine_(seed) {}
  // Not std::uniform_int_distribution, which differs between libraries.
  int Below(int bound) { return static_cast<int>(engine_() % static_cast<uint32_t>(bound)); }

 private:
  std::mt19937 engine_;
};

SourceRoute DrawRoute(Draw& draw) {
  static const std::vector<SourceRoute> matches = {
      {"prefix: /", kMethods},
      {"prefix: /a/", {"/a/Get", "/a/Put"}},
      {"path: /a/Put", {"/a/Put"}},
      {"safe_regex: {regex: '/(a|b)/Get'}", {"/a/Get", "/b/Get"}},
      {"safe_regex: {regex: '/[ab]/Get'}", {"/a/Get", "/b/Get"}},
  };
  SourceRoute route = matches[static_cast<size_t>(draw.Below(static_cast<int>(matches.size())))];
  route.header = draw.Below(3) == 0;
  const int leads = draw.Below(5);
  if (leads > 0) route.cluster = leads == 1 ? "y" : "x";
  route.retries = draw.Below(3);
  return route;
}

std::vector<SourceHost> DrawHosts(Draw& draw) {
  std::vector<SourceHost> hosts;
  for (const char* domain : {"one.shop", "*.shop", "*"}) {
    if (draw.Below(3) == 0) continue;
    SourceHost host{domain, {}};
    const int routes = 1 + draw.Below(3);
    for (int i = 0; i < routes; ++i) host.routes.push_back(DrawRoute(draw));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

std::string TextOf(const std::vector<SourceHost>& hosts) {
  std::string text = "virtual_hosts:\n";
  for (const SourceHost& host : hosts) {
    absl::StrAppend(&text, "- domains: ['", host.domain, "']\n  routes:\n");
    for (const SourceRoute& route : host.routes) {
      absl::StrAppend(&text, "  - match: {", route.match,
                      route.header ? ", headers: [{name: x, present_match: true}]" : "", "}\n");
      if (route.cluster.empty()) {
        absl::StrAppend(&text, "    direct_response: {status: 403}\n");
      } else {
        absl::StrAppend(&text, "    route: {cluster: ", route.cluster,
                        ", retry_policy: {retry_on: unavailable, num_retries: ", route.retries,
                        "}}\n");
      }
    }
  }
  return text;
}

// The route that Envoy takes; nullptr if there is none.
const SourceRoute* Choose(const std::vector<SourceHost>& hosts, const std::string& authority,
                          const std::string& method, bool header) {
  for (const SourceHost& host : hosts) {  // from the most exact domain to the least
    const bool is_glob = absl::StartsWith(host.domain, "*");
    const bool here =
        is_glob ? absl::EndsWith(authority, host.domain.substr(1)) : host.domain == authority;
    if (!here) continue;
    for (const SourceRoute& route : host.routes) {
      const bool takes = absl::c_linear_search(route.methods, method);
      if (takes && (header || !route.header)) return &route;
    }
    return nullptr;
  }
  return nullptr;
}

// What Levee does with a call.
struct Fate {
  std::string upstream;  // "none" without a route
  int attempts = 0;
};

Fate FateOf(const Snapshot& snapshot, const std::string& authority, const std::string& method,
            bool header) {
  Metadata head;
  if (header) head.Add("x", "1");
  const Route* route = snapshot.routes.Find(
      {.listener = {}, .authority = authority, .path = method, .peer = "", .headers = head});
  if (route == nullptr) return {"none", 0};
  return {snapshot.upstreams[static_cast<size_t>(route->upstream)].name,
          snapshot.policies[static_cast<size_t>(route->policy)].retry.max_attempts};
}

// Why the fate is not one that Envoy's route allows; empty if it is.
std::string Wrong(const SourceRoute* route, const Fate& fate) {
  const bool nowhere = fate.upstream == "nowhere" || fate.upstream == "none";
  // A route for some of the calls that it names may take others that have none, and tries them
  // once.
  if (route == nullptr) return nowhere || fate.attempts == 1 ? "" : "has no route";
  if (route->cluster.empty()) return nowhere ? "" : "is denied";
  if (fate.upstream != route->cluster) return "goes to " + route->cluster;
  return fate.attempts <= route->retries + 1 ? ""
                                             : absl::StrCat("has ", route->retries, " retries");
}

TEST(Import, NeverTriesACallMoreOftenThanItsSource) {
  int imported = 0, retried = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    Draw draw(seed);
    const std::vector<SourceHost> hosts = DrawHosts(draw);
    if (hosts.empty()) continue;
    const std::string text = TextOf(hosts);
    const ImportedPolicy policy = ImportEnvoy({{"f", text}});
    if (!policy.faults.empty()) continue;
    ++imported;
    const auto snapshot = CheckConfig({{"out", policy.yaml}}, std::nullopt).snapshot;
    ASSERT_NE(snapshot, nullptr) << text << policy.yaml;
    for (const std::string& authority : kAuthorities) {
      for (const std::string& method : kMethods) {
        for (const bool header : {false, true}) {
          const Fate fate = FateOf(*snapshot, authority, method, header);
          const std::string wrong = Wrong(Choose(hosts, authority, method, header), fate);
          ASSERT_EQ(wrong, "") << "seed " << seed << ": " << authority << method
                               << (header ? " with x" : "") << " goes to " << fate.upstream << ", "
                               << fate.attempts << " attempts\n"
                               << text << policy.yaml;
          retried += fate.attempts > 1 ? 1 : 0;
        }
      }
    }
  }
  // Neither refuses everything nor tries everything once.
  EXPECT_GT(imported, 150);
  EXPECT_GT(retried, 300);
}

}  // namespace
}  // namespace levee
