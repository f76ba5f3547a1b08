// What an upstream is: where its endpoints are, and how they are connected to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/retry_policy.h"

namespace levee {

struct EndpointSpec {
  enum class Kind {
    kAddress,    // host:port; host is an IP literal, or a name to be looked up
    kUnix,       // the socket at `path`
    kAuthority,  // dial what the call's :authority says
  };
  Kind kind = Kind::kAddress;
  std::string host;
  uint16_t port = 0;
  std::string path;
};

// The methods of an upstream's descriptor set, as paths: "/pkg.Service/Method".
struct DescribedMethods {
  std::set<std::string, std::less<>> all;
  std::set<std::string, std::less<>> idempotent;  // NO_SIDE_EFFECTS or IDEMPOTENT
};

// `reconnect`: full jitter over initial x multiplier^n up to max, unless said otherwise.
struct UpstreamSpec {
  std::string name;
  std::vector<EndpointSpec> endpoints;  // one kAuthority, or any number of the others
  absl::Duration connect_timeout = absl::Seconds(1);
  BackoffPolicy reconnect;
  absl::Duration keepalive_interval = absl::InfiniteDuration();  // Infinite: no PINGs
  absl::Duration keepalive_timeout = absl::Seconds(20);
  std::shared_ptr<const DescribedMethods> methods;  // nullptr: no descriptor set
  bool by_authority() const {
    return !endpoints.empty() && endpoints[0].kind == EndpointSpec::Kind::kAuthority;
  }
};

}  // namespace levee
