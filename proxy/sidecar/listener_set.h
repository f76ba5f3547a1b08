// The sockets on which a sidecar listens.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "config/snapshot.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "server/accepted_connection.h"

namespace levee {

// Sockets stay open from one configuration to the next. One thread, the loop's.
class ListenerSet {
 public:
  // `accepted` owns the descriptor.
  using Accepted = std::function<void(int fd, ConnectionOrigin origin)>;

  // `loop` and `wheel` outlive the set. `exhausted`: as net::Listener calls it.
  ListenerSet(net::EventLoop& loop, TimerWheel& wheel, Accepted accepted,
              std::function<void()> exhausted)
      : loop_(loop),
        wheel_(wheel),
        accepted_(std::move(accepted)),
        exhausted_(std::move(exhausted)) {}

  // Listens as `specs` say, and nowhere else: opens what is missing, closes what is not among them.
  // Sockets with the same address stay, and for port 0, which the system chose, those with the same
  // name. One that is to have another host but the same port is closed first, to make room. Returns
  // the numbers (ConnectionOrigin::socket) of those that are closed. Upon an error, which names the
  // field to change, all is as before.
  absl::StatusOr<std::vector<int>> Replace(const std::vector<ListenerSpec>& specs);

  void Close() { open_.clear(); }

  struct Bound {
    std::string name;
    net::Address address;  // with the port that was really bound
  };
  std::vector<Bound> bound() const;

 private:
  struct Listening {
    int number;
    std::shared_ptr<const ListenerSpec> spec;  // what the configuration says of it now
    // nullptr: it has made room for another one, and somebody took the port when that failed.
    std::unique_ptr<net::Listener> listener;
  };
  using Listenings = std::vector<std::unique_ptr<Listening>>;

  Listening* Find(const ListenerSpec& spec);
  Listening* FindLeaving(uint16_t port, const std::vector<ListenerSpec>& specs);
  absl::StatusOr<Listenings> OpenMissing(const std::vector<ListenerSpec>& specs);
  absl::StatusOr<std::unique_ptr<Listening>> Open(const ListenerSpec& spec,
                                                  const std::vector<ListenerSpec>& specs);
  absl::StatusOr<std::unique_ptr<net::Listener>> Listen(const Listening& listening);
  void Restore();

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  const Accepted accepted_;
  const std::function<void()> exhausted_;
  Listenings open_;
  int numbers_ = 0;  // given so far
};

}  // namespace levee
