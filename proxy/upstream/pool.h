// The endpoints of one destination, and who gets a stream on which of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/intrusive_list.h"
#include "base/random.h"
#include "h2/stream.h"
#include "upstream/endpoint.h"
#include "upstream/http2_connection.h"

namespace levee {

// Who wants a stream. Waits in at most one pool; unlinking it withdraws the wish.
class StreamUser : public h2::StreamHandler, public ListLink<StreamUser> {
 public:
  // The stream is open, on the pool's endpoint of that index: send the head. May be called from
  // within Pool::Open.
  virtual void OnOpened(h2::Stream& stream, int endpoint) = 0;

  // No endpoint can be reached, or too many wait; nothing was sent. Never called from within
  // Pool::Open. `to_self`: the only address is a listener of this sidecar.
  virtual void OnOpenFailed(const std::string& reason, bool to_self) = 0;

  // Kept by the pool: `avoid` while the user waits, `forbidden` until it asks again.
  absl::InlinedVector<int64_t, 2> avoid;
  absl::InlinedVector<int64_t, 2> forbidden;

 protected:
  ~StreamUser() = default;
};

// One worker's connections to one destination. One thread.
class Pool final : private EndpointOwner, private TurnTask {
 public:
  struct Target {
    std::string host;
    uint16_t port;
  };

  // At least one target. All references must outlive the pool.
  Pool(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
       UpstreamSeries& series, WorkerSeries& worker_series, const std::vector<Target>& targets);

  // Gives `user` a stream on a ready connection, now or when there is one. Endpoints in `avoid`
  // are taken only if no other has a free stream, those in `forbidden` never.
  void Open(StreamUser& user, std::span<const int64_t> avoid, std::span<const int64_t> forbidden);

  Instant now() { return io_.loop.now(); }

  // Whether an attempt could go to another endpoint than this one and those that are forbidden.
  bool HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const;

  int size() const { return static_cast<int>(endpoints_.size()); }
  std::string EndpointName(int endpoint) const { return endpoints_[endpoint]->name(); }

  void Close();

 private:
  void OnEndpointChanged(Endpoint& endpoint) override;
  void OnTurnEnd() override;

  bool TryOpen(StreamUser& user, std::span<const int64_t> avoid,
               std::span<const int64_t> forbidden);
  bool AnyUsable(std::span<const int64_t> forbidden) const;
  std::string Failure() const;

  WorkerIo& io_;
  WorkerSeries& worker_series_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  size_t next_;  // where the next search for an endpoint starts
  bool connected_ = false;
  IntrusiveList<StreamUser> waiting_;
};

}  // namespace levee
