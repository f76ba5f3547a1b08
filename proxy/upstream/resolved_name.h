// SPDX-License-Identifier: Apache-2.0
// A name whose addresses are endpoints. It is looked up, kept, and looked up again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "log/conditions.h"
#include "net/address.h"
#include "net/resolver.h"
#include "policy/backoff.h"
#include "telemetry/series.h"
#include "upstream/endpoint_view.h"
#include "upstream/upstream_connection.h"

namespace levee {

class Pool;

// While calls come that no address can serve, the name is looked up once a second, in the first
// moments after a loss five times. Otherwise it is looked up again when its time to live is over,
// or after the delays of `reconnect` if the look-up failed, each only if calls have wanted it
// since. Tells its pool of the answers. The last good answer stays in use however many look-ups
// fail after it. One thread. Above 20 data members: when to look up again depends on calls, answers
// and losses alike.
class ResolvedName final : private Timer {
 public:
  // Bounds of the time to live. A record that may change at any moment is not asked for more often
  // than DNS servers of Kubernetes renew their answers. A record that lasts for a day does not keep
  // us from an endpoint that has moved.
  static constexpr absl::Duration kMinTtl = absl::Seconds(5);
  static constexpr absl::Duration kMaxTtl = absl::Minutes(5);

  // The least time between two look-ups; kHastyPause in the first kHasty after the addresses were
  // lost, when others are to be expected. Each pause is up to a quarter longer, at random, so that
  // sidecars do not ask in step.
  static constexpr absl::Duration kPause = absl::Seconds(1);
  static constexpr absl::Duration kHastyPause = absl::Milliseconds(200);
  static constexpr absl::Duration kHasty = absl::Seconds(2);

  // `policy`: of the upstream; look-ups that fail are repeated as its connections are. `asker`: for
  // whom the name is looked up until it has had an address. References outlive the name. Above 6
  // parameters: the references are to objects of the worker that the endpoints of the name use.
  ResolvedName(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
               UpstreamSeries& series, Pool& pool, std::string host, uint16_t port,
               net::Asker asker);
  ~ResolvedName() override;

  // A call wants the addresses.
  void Use();

  // No call waits for them any more.
  void Release();

  // An endpoint of the name was lost, so its address may have changed. Looks the name up soon, but
  // at least kMinTtl after the last look-up.
  void AskSoon();

  // A call wants an address, and none can be reached. Looks the name up at once, or as soon as a
  // pause has passed since the last look-up: kHastyPause if the addresses were `just_lost`, else
  // kPause.
  void AskNow(bool just_lost);

  // Whether calls may wait for the answer to come: it is the first one since the name fell out of
  // use, or calls have asked for it and the answer before came quickly.
  bool awaited() const { return state_ == State::kAwaited || (pressing_ && query_ != nullptr); }

  // Why there is no address: "cannot resolve cart.shop: domain name not found"; empty if the last
  // look-up did not fail.
  const std::string& failure() const { return failure_; }

  // Returns the name as one endpoint, as it is shown while it has no address.
  EndpointView View() const;

  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }

  // Makes no more look-ups.
  void Close();

 private:
  // Before the first answer, calls wait for it, or have been told that there is none.
  enum class State { kIdle, kAwaited, kFailing, kKnown };

  void OnTimer(Instant now) override;
  void AskAt(Instant when);
  Instant After(absl::Duration pause) const;
  void Ask();
  void OnAnswer(absl::StatusOr<net::Resolver::Found> answer);
  void SetState(State state);
  std::optional<EndpointState> shown() const;
  void Count();

  WorkerIo& io_;
  net::Resolver& resolver_;
  const ConnectPolicy& policy_;
  Random& random_;
  UpstreamSeries& series_;
  Pool& pool_;
  const std::string host_;
  const uint16_t port_;
  const net::Asker asker_;

  State state_ = State::kIdle;
  std::optional<EndpointState> counted_;  // as metrics have it
  bool closed_ = false;
  bool used_ = false;             // since the last look-up
  bool stale_ = true;             // the next use asks
  bool urgent_ = false;           // the timer asks whether or not the name is used
  bool pressing_ = false;         // calls may wait for the answer that AskNow has asked for
  bool answered_quickly_ = true;  // the last look-up
  Instant asked_at_;
  double spread_ = 0;  // of this sidecar among those that ask at the same time, in [0, 1)
  std::string failure_;
  Condition unreachable_{ConditionKind::kUnreachable};
  Backoff backoff_;
  std::unique_ptr<net::Resolver::Query> query_;
};

}  // namespace levee
