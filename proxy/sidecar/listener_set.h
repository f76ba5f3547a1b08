// SPDX-License-Identifier: Apache-2.0
// The sockets on which a sidecar listens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "server/accepted_connection.h"
#include "settings/snapshot.h"

namespace levee {

// Keeps its sockets open from one configuration to the next, where both have them. One thread: the
// loop's.
class ListenerSet {
 public:
  // Called for every connection that was accepted.
  using Accepted = std::function<void(net::ByteStream stream, ConnectionOrigin origin)>;

  // `loop` and `wheel` outlive the set. `exhausted` is called as net::Listener::Open says.
  ListenerSet(net::EventLoop& loop, TimerWheel& wheel, Accepted accepted,
              std::function<void()> exhausted)
      : loop_(loop),
        wheel_(wheel),
        accepted_(std::move(accepted)),
        exhausted_(std::move(exhausted)) {}

  // Listens on the addresses of `listeners` and no others: opens the sockets that are missing, and
  // closes those that are not among `specs`. A socket with the same address stays open; where the
  // system chose the port (port 0), a socket with the same name stays open. A socket whose host
  // changes while its port stays the same is closed first, to make room for the new one.
  //
  // Returns the numbers (ConnectionOrigin::socket) of the sockets that it has closed. After an
  // error, which names the field to change, all is as before.
  absl::StatusOr<std::vector<int>> Replace(const std::vector<ListenerSpec>& listeners);

  // Refuses connections on the sockets of a listener, or takes them again (net::Listener::Pause).
  // Returns the error of one that another process has taken; it stays closed until the next call.
  absl::Status SetOpen(const std::string& name, bool open);

  // Closes every socket.
  void Close() { open_.clear(); }

  struct Bound {
    std::string name;
    net::Address address;  // with the port that was really bound
  };
  // The sockets that are open now.
  std::vector<Bound> bound() const;

 private:
  struct Listening {
    int number;
    std::shared_ptr<const ListenerSpec> spec;  // of the configuration in effect
    // nullptr: it was closed to make room for another socket, which could not be opened, and by
    // then another process had taken the port.
    std::unique_ptr<net::Listener> listener;
    std::optional<net::Address> address = std::nullopt;  // where it was bound the first time
  };
  using Listenings = std::vector<std::unique_ptr<Listening>>;

  Listening* Find(const ListenerSpec& spec);
  Listening* FindLeaving(uint16_t port, const std::vector<ListenerSpec>& specs);
  absl::StatusOr<Listenings> OpenMissing(const std::vector<ListenerSpec>& specs);
  // `before`: the one that was opened or found before it, whose port it takes if both are of one
  // listener and the system chooses the port.
  absl::StatusOr<std::unique_ptr<Listening>> Open(const ListenerSpec& spec,
                                                  const std::vector<ListenerSpec>& specs,
                                                  const Listening* before);
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
