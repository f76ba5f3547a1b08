// SPDX-License-Identifier: Apache-2.0
#include "config/command_line.h"

#include <initializer_list>
#include <string>

#include "config/addresses.h"

namespace levee {
namespace {

namespace v1 = config::v1;

void SetGiven(const char* option, std::initializer_list<const char*> paths, ReadConfig& read) {
  for (const char* path : paths) read.positions.Set(path, {option, 0, 0, ""});
}

// Returns `--to` as an endpoint: a name needs no "dns:" there.
std::string EndpointOf(const std::string& address) {
  const bool name = !ParseEndpoint(address).ok() && ParseEndpoint("dns:" + address).ok();
  return name ? "dns:" + address : address;
}

void AddUpstream(const char* name, const std::string& endpoint, ReadConfig& read) {
  v1::Upstream& upstream = *read.config.add_upstreams();
  upstream.set_name(name);
  upstream.add_endpoints(endpoint);
}

v1::Route& AddRoute(const char* upstream, const char* policy, ReadConfig& read) {
  v1::Route& route = *read.config.add_routes();
  route.set_upstream(upstream);
  route.set_policy(policy);
  return route;
}

void AddListener(const char* name, const std::string& address, ReadConfig& read) {
  v1::Listener& listener = *read.config.add_listeners();
  listener.set_name(name);
  listener.set_address(address);
}

// `--to`: one upstream and one route instead of those of the files.
void SendEverythingTo(const std::string& address, ReadConfig& read) {
  for (const char* section : {"upstreams", "routes"}) read.positions.Erase(section);
  SetGiven("--to",
           {"upstreams", "routes", "upstreams[0].name", "upstreams[0].endpoints",
            "upstreams[0].endpoints[0]", "routes[0].upstream", "routes[0].policy"},
           read);
  read.config.clear_upstreams();
  read.config.clear_routes();
  AddUpstream("to", EndpointOf(address), read);
  AddRoute("to", "default", read);
}

// `--guard` with `--to`: a guard in front of the application, as in config/examples/guard.yaml. The
// application's own calls go where they say.
void GuardApplication(const ConfigInput& input, ReadConfig& read) {
  SetGiven("--guard", {"listeners", "upstreams", "routes", "policies", "listeners[1].address"},
           read);
  SetGiven("--to", {"upstreams[0].endpoints", "upstreams[0].endpoints[0]"}, read);
  if (input.listen.has_value()) SetGiven("--listen", {"listeners[0].address"}, read);
  AddListener("egress", input.listen.value_or("127.0.0.1:9460"), read);
  AddListener("ingress", *input.guard, read);
  read.config.mutable_listeners(1)->set_direction(v1::Listener::DIRECTION_INBOUND);
  AddUpstream("app", EndpointOf(*input.to), read);
  AddUpstream("anywhere", "authority:", read);
  v1::Route& health = AddRoute("app", "free", read);
  health.mutable_match()->set_listener("ingress");
  health.mutable_match()->set_method("/grpc.health.v1.Health/*");
  AddRoute("app", "protect", read).mutable_match()->set_listener("ingress");
  AddRoute("anywhere", "default", read);
  v1::Policy& free = *read.config.add_policies();
  free.set_name("free");
  free.mutable_retry()->set_max_attempts(1);
  v1::Policy& protect = *read.config.add_policies();
  protect.set_name("protect");
  protect.mutable_guard();
}

}  // namespace

void TakeOptions(const ConfigInput& input, ReadConfig& read) {
  if (input.guard.has_value()) {
    GuardApplication(input, read);
  } else {
    if (input.to.has_value()) SendEverythingTo(*input.to, read);
    if (input.listen.has_value()) {
      SetGiven("--listen", {"listeners", "listeners[0].name", "listeners[0].address"}, read);
      AddListener("egress", *input.listen, read);
    }
  }
  if (input.metrics.has_value()) {
    SetGiven("--metrics", {"metrics.address"}, read);
    read.config.mutable_metrics()->set_address(*input.metrics);
  }
  if (input.admin.has_value()) {
    SetGiven("--admin", {"admin.address"}, read);
    read.config.mutable_admin()->set_address(*input.admin);
  }
}

}  // namespace levee
