// SPDX-License-Identifier: Apache-2.0
#include "config/validate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "config/addresses.h"
#include "config/element.h"
#include "config/route_upstreams.h"
#include "config/shadow.h"
#include "config/suggest.h"
#include "config/validate_policy.h"
#include "config/values.h"
#include "policy/header_match.h"

namespace levee {
namespace {

namespace v1 = config::v1;

// The names that a reference may use.
struct Names {
  const char* list;  // "upstreams"
  const char* kind;  // "upstream"
  std::set<std::string> set;
};

class Validator {
 public:
  Validator(const v1::Config& config, const Positions& positions, FaultList& faults)
      : config_(config), positions_(positions), faults_(faults) {}

  void CheckAddresses();
  void CheckUpstreams();
  void CheckRoutes();
  bool IsFaulty(const std::string& header) const;
  void CheckSplit(const std::string& path, const v1::Route& route);
  void CheckHeaders(const std::string& path, const v1::Route::Match& match);
  void CheckShadow(const std::string& path, const v1::Route& route, const Names& policies);
  void CheckPolicies();
  void CheckLimits();

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
  }
  void CheckAddress(const std::string& path, const std::string& text, bool is_listener = false);
  void CheckCaptures(const std::string& path, const v1::Listener& listener);
  void CheckEndpoints(const std::string& path, const v1::Upstream& upstream);
  void CheckNameOfService(const std::string& path, const v1::Upstream& upstream);
  void CheckReference(const std::string& path, const std::string& name, const Names& known);

  const v1::Config& config_;
  const Positions& positions_;
  FaultList& faults_;
  // A socket on which something of the configuration listens.
  struct Used {
    std::string path;  // of the field
    std::string text;
    ListenAddress address;

    bool Excludes(const Used& other) const;
  };
  std::vector<Used> used_;
};

bool Validator::Used::Excludes(const Used& other) const {
  if (address.path != other.address.path || address.port != other.address.port) return false;
  const std::optional<IpValue> one = ReadIp(address.host), two = ReadIp(other.address.host);
  if (!one.has_value() || !two.has_value()) return address.host == other.address.host;
  return TakesConnectionsTo(*one, *two) || TakesConnectionsTo(*two, *one);
}

// The system would report a busy port, but not that the configuration itself uses the port twice.
void Validator::CheckAddresses() {
  for (int i = 0; i < config_.listeners_size(); ++i) {
    const std::string path = Element("listeners", i);
    const std::string& address = config_.listeners(i).address();
    CheckAddress(path + ".address", address, /*is_listener=*/true);
    if (positions_.Has(path + ".mode") && !address.empty() && !address.starts_with("unix:")) {
      Add(path + ".mode", CheckCode::kModeWithoutSocket,
          "is for Unix sockets, and the address is not one; leave it out");
    }
    CheckCaptures(path, config_.listeners(i));
  }
  CheckAddress("metrics.address", config_.metrics().address());
  CheckAddress("admin.address", config_.admin().address());
  CheckAddress("admin.grpc_address", config_.admin().grpc_address());
}

void Validator::CheckCaptures(const std::string& path, const v1::Listener& listener) {
  const auto add = [&](v1::Listener::Capture value, CheckCode code, const char* text) {
    const auto& captures = listener.capture();
    const auto found = std::find(captures.begin(), captures.end(), value);
    if (found == captures.end()) return;
    Add(absl::StrCat(path, ".capture[", found - captures.begin(), "]"), code, text);
  };
  if (listener.has_tls()) {
    add(v1::Listener::CAPTURE_CONNECT, CheckCode::kConnectOverTls,
        "connect cannot come through TLS, whose callers speak HTTP/2; say [h2c]");
    add(v1::Listener::CAPTURE_ORIGINAL_DST, CheckCode::kNothingRedirected,
        "original_dst passes TLS on untouched, and this listener would end it; leave out tls");
  } else if (listener.address().starts_with("unix:")) {
    add(v1::Listener::CAPTURE_ORIGINAL_DST, CheckCode::kNothingRedirected,
        "no connection is redirected to a Unix socket; listen on 127.0.0.1");
  } else if (listener.direction() == v1::Listener::DIRECTION_INBOUND) {
    add(v1::Listener::CAPTURE_ORIGINAL_DST, CheckCode::kNothingRedirected,
        "only the application's own connections are redirected; give it to an egress listener");
  }
}

// A listener on localhost has a socket of each family; metrics and admin have that of IPv4.
void Validator::CheckAddress(const std::string& path, const std::string& text, bool is_listener) {
  const absl::StatusOr<ListenAddress> address = ParseListenerAddress(text);
  if (!address.ok() || (address->port == 0 && address->path.empty())) return;
  std::vector<Used> own = {{path, text, *address}};
  if (is_listener && address->ipv6_loopback) {
    own.push_back(own.front());
    own.back().address.host = "::1";
  }
  std::optional<Used> before;
  bool same = false;
  for (const Used& each : own) {
    const auto found = absl::c_find_if(used_, [&](const Used& it) { return it.Excludes(each); });
    if (found == used_.end()) continue;
    before = *found;
    same = ReadIp(found->address.host) == ReadIp(each.address.host);
  }
  used_.insert(used_.end(), own.begin(), own.end());
  if (!before.has_value()) return;
  // If one of the two addresses is a default, the fault is placed at the given one, which can be
  // changed.
  const bool given = positions_.Has(path);
  const std::string& here = given ? text : before->text;
  const std::string& there = given ? before->text : text;
  Add(given ? path : before->path, CheckCode::kAddressTwice,
      absl::StrCat(Quoted(here),
                   same ? " is used twice" : absl::StrCat(" has the same port as ", Quoted(there)),
                   "; the other is ", FormatPlace(positions_.Find(given ? before->path : path))));
}

void Validator::CheckUpstreams() {
  for (int i = 0; i < config_.upstreams_size(); ++i) {
    const v1::Upstream& upstream = config_.upstreams(i);
    const std::string path = Element("upstreams", i);
    if (upstream.name() == "none") {
      Add(path + ".name", CheckCode::kReservedName,
          "\"none\" is what metrics call a call without upstream; choose another");
    }
    CheckEndpoints(path + ".endpoints", upstream);
    CheckNameOfService(path, upstream);
    ValidateReconnect(path + ".reconnect", upstream.reconnect(), positions_, faults_);
  }
}

void Validator::CheckEndpoints(const std::string& path, const v1::Upstream& upstream) {
  for (int i = 0; i < upstream.endpoints_size(); ++i) {
    const std::string& endpoint = upstream.endpoints(i);
    const bool from_call = endpoint == "authority:" || endpoint == "original:";
    if (!from_call || upstream.endpoints_size() == 1) continue;
    Add(absl::StrCat(path, "[", i, "]"), CheckCode::kAuthorityNotAlone,
        absl::StrCat(Quoted(endpoint), " stands beside other endpoints; it must be the only one"));
    return;
  }
}

// An IP address or a path says nothing of who should be there.
void Validator::CheckNameOfService(const std::string& path, const v1::Upstream& upstream) {
  const v1::UpstreamTls& tls = upstream.tls();
  const bool named = tls.server_name() != "none" || tls.subject_alt_names_size() > 0;
  if (!upstream.has_tls() || tls.insecure_skip_verify() || named) return;
  for (const std::string& text : upstream.endpoints()) {
    const absl::StatusOr<EndpointSpec> endpoint = ParseEndpoint(text);
    if (!endpoint.ok() || endpoint->kind == EndpointSpec::Kind::kAuthority) continue;
    if (!endpoint->host.empty() && !ReadIp(endpoint->host).has_value()) continue;
    Add(path + ".tls", CheckCode::kNoNameToCheck,
        absl::StrCat("the certificate of ", Quoted(text),
                     " must have a name, and Levee does not know which; ",
                     "give server_name or subject_alt_names"));
    return;
  }
}

void Validator::CheckReference(const std::string& path, const std::string& name,
                               const Names& known) {
  if (name.empty() || known.set.contains(name) || positions_.Broken(known.list)) return;
  if (faults_.full()) {
    Add(path, CheckCode::kDanglingReference,
        "");  // Searching thousands of names for the nearest takes long.
    return;
  }
  Add(path, CheckCode::kDanglingReference,
      absl::StrCat("there is no ", known.kind, " named ", Quoted(name),
                   Suggestion(name, {known.set.begin(), known.set.end()}, "there are")));
}

void Validator::CheckRoutes() {
  Names upstreams{"upstreams", "upstream", {}};
  for (const v1::Upstream& upstream : config_.upstreams()) upstreams.set.insert(upstream.name());
  Names policies{"policies", "policy", {}};
  for (const v1::Policy& policy : config_.policies()) policies.set.insert(policy.name());
  Names listeners{"listeners", "listener", {}};
  for (const v1::Listener& listener : config_.listeners()) listeners.set.insert(listener.name());
  listeners.set.erase("");
  upstreams.set.erase("");  // Entries whose name is missing were reported.
  policies.set.erase("");
  if (!positions_.Has("routes")) {
    // The only built-in reference: a file may have replaced the upstream that it needs.
    const std::string& name = config_.routes(0).upstream();
    if (upstreams.set.contains(name) || positions_.Broken("upstreams")) return;
    Add("upstreams", CheckCode::kBuiltInRoute,
        absl::StrCat("none is named \"", name, "\", where the built-in route sends ",
                     "every call; add routes, or an upstream of that name"));
    return;
  }
  for (int i = 0; i < config_.routes_size(); ++i) {
    const std::string path = Element("routes", i);
    for (const auto& [field, name] : UpstreamsOf(config_.routes(i))) {
      CheckReference(absl::StrCat(path, ".", field), name, upstreams);
    }
    CheckSplit(path + ".split", config_.routes(i));
    CheckReference(path + ".policy", config_.routes(i).policy(), policies);
    CheckShadow(path, config_.routes(i), policies);
    CheckReference(path + ".match.listener", config_.routes(i).match().listener(), listeners);
    CheckHeaders(path + ".match.headers", config_.routes(i).match());
  }
}

void Validator::CheckSplit(const std::string& path, const v1::Route& route) {
  const auto& parts = route.split();
  const bool some = std::any_of(parts.begin(), parts.end(),
                                [](const v1::Route::Part& part) { return part.weight() != 0; });
  if (parts.empty() || some || positions_.Broken(path)) return;
  Add(path, CheckCode::kSplitWithoutWeight,
      "gives every upstream weight 0, so that no call has one; give one of them more");
}

// Whether a fault of the header's condition was reported.
bool Validator::IsFaulty(const std::string& header) const {
  const google::protobuf::Descriptor& type = *v1::HeaderMatch::descriptor();
  bool broken = positions_.Broken(header) || positions_.HasUnknownField(header);
  for (int i = 0; i < type.field_count(); ++i) {
    broken |= positions_.Broken(absl::StrCat(header, ".", type.field(i)->name()));
  }
  return broken;
}

void Validator::CheckHeaders(const std::string& path, const v1::Route::Match& match) {
  for (int i = 0; i < match.headers_size(); ++i) {
    const std::string header = absl::StrCat(path, "[", i, "]");
    if (i == kMaxHeaderMatches) {
      Add(header, CheckCode::kOutOfRange,
          absl::StrCat("is one too many; a route has at most ", kMaxHeaderMatches));
      return;
    }
    if (match.headers(i).test_case() != v1::HeaderMatch::TEST_NOT_SET || IsFaulty(header)) continue;
    Add(header, CheckCode::kNeedsField,
        "says nothing of the header; give one of exact, prefix, suffix, regex, present");
  }
}

void Validator::CheckShadow(const std::string& path, const v1::Route& route,
                            const Names& policies) {
  const std::string shadow = ShadowOf(route);
  if (shadow.empty()) return;
  CheckReference(path + ".shadow", shadow, policies);
  if (shadow != route.policy()) return;
  Add(path + ".shadow", CheckCode::kUselessShadow,
      absl::StrCat(shadow, " is the route's own policy, with which it would always agree; ",
                   "name another policy, or leave it out"));
}

void Validator::CheckPolicies() {
  for (int i = 0; i < config_.policies_size(); ++i) {
    ValidatePolicy(Element("policies", i), config_.policies(i), positions_, faults_);
  }
}

// Where one of them is not given, it follows the other.
void Validator::CheckLimits() {
  const std::string path = "limits.header_block_bytes";
  const v1::Limits& limits = config_.limits();
  const absl::StatusOr<int64_t> block = ParseSize(limits.header_block_bytes());
  const absl::StatusOr<int64_t> metadata = ParseSize(limits.metadata_bytes());
  if (!block.ok() || !metadata.ok() || *block >= *metadata) return;
  Add(path, CheckCode::kHeaderBlockBelowMetadata,
      absl::StrCat(limits.header_block_bytes(), " is below metadata_bytes, ",
                   limits.metadata_bytes(), "; it must be at least that"));
}

}  // namespace

void Validate(const v1::Config& config, const Positions& positions, FaultList& faults) {
  Validator validator(config, positions, faults);
  validator.CheckAddresses();
  validator.CheckUpstreams();
  validator.CheckRoutes();
  validator.CheckPolicies();
  validator.CheckLimits();
}

}  // namespace levee
