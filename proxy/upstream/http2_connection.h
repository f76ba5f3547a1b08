// An HTTP/2 session over a socket: the plumbing that both sides of the proxy share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "h2/session.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "telemetry/series.h"

namespace levee {

class Http2Connection;

// Something to be done once at the end of the current turn, when no callback is on the stack.
class TurnTask : public ListLink<TurnTask> {
 public:
  virtual void OnTurnEnd() = 0;

 protected:
  ~TurnTask() = default;
};

// What the connections of one worker share. One thread.
struct WorkerIo {
  WorkerIo(net::EventLoop& event_loop, WorkerSeries& worker_series, EventLog& event_log)
      : loop(event_loop),
        series(worker_series),
        log(event_log),
        wheel(event_loop.now()),
        output(256 * 1024) {}

  // Runs `task` at the end of this turn; again and again is once.
  void AtTurnEnd(TurnTask& task) {
    if (!task.linked()) turn_tasks.PushBack(task);
  }

  // What a turn ends with: due timers, tasks, output, burials.
  void EndTurn(Instant now);

  // Writes out every connection that has something to write: first the upstream ones, since what
  // they send has been waited for longest. One gathered write per connection, as a rule.
  void Flush();

  net::EventLoop& loop;
  WorkerSeries& series;
  EventLog& log;
  TimerWheel wheel;
  Graveyard graveyard;
  h2::StreamPool streams;
  IntrusiveList<TurnTask> turn_tasks;
  IntrusiveList<Http2Connection> dirty_upstream;
  IntrusiveList<Http2Connection> dirty_downstream;
  h2::OutputBuffer output;  // of one connection, on its way into the socket
};

// As it is counted.
Limit LimitOf(h2::SessionLimit limit);

// What a connection asks of its owner, beside h2::SessionHandler's events.
class Http2ConnectionOwner {
 public:
  // Client role: the socket is connected; HTTP/2 begins.
  virtual void OnConnected() = 0;

  // The connection is closed; every stream has been told. The owner should bury it.
  virtual void OnConnectionClosed(const std::string& reason) = 0;

 protected:
  ~Http2ConnectionOwner() = default;
};

// Owned by its owner, which must not destroy it from within its callbacks. One thread.
class Http2Connection : public Mortal,
                        public ListLink<Http2Connection>,
                        private net::SocketHandler,
                        private h2::OutputHandler,
                        private Timer {
 public:
  struct Options {
    h2::Session::Options session;
    // A peer that takes nothing for this long, give or take a quarter, while bytes wait for it is
    // given up, and counted.
    absl::Duration send_timeout = absl::InfiniteDuration();

    bool operator==(const Options&) const = default;
  };

  // Server role, on an accepted descriptor. `events` gets the session's events. What was read from
  // it already is told by Receive.
  Http2Connection(WorkerIo& io, int fd, const Options& options, h2::SessionHandler& events,
                  Http2ConnectionOwner& owner);

  // Client role: connects.
  Http2Connection(WorkerIo& io, const net::Address& to, const Options& options,
                  h2::SessionHandler& events, Http2ConnectionOwner& owner);

  ~Http2Connection() override;

  // Takes bytes that were read from the connection by somebody else.
  void Receive(ByteSpan bytes) { OnBytes(bytes, Chunk()); }

  h2::Session& session() { return session_; }
  const h2::Session& session() const { return session_; }
  net::Socket& socket() { return socket_; }

  // When bytes came the last time.
  Instant received_at() const { return received_at_; }

  // A bound was reached, maybe by what is to be sent: ends the connection if the session has.
  void OnLimit() {
    if (session_.broken()) Farewell();
  }

  // Ends all streams and tells the owner, as if the peer had closed. Idempotent.
  void Close(const std::string& reason);

  // Writes what is pending; from WorkerIo::Flush.
  void Flush();

 private:
  void OnConnected() override;
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override;
  void OnClosed(const std::string& reason) override;

  void OnOutputPending() override;
  void OnTimer(Instant now) override;

  void Farewell();
  bool WriteLeftover();
  void LookAgain();

  WorkerIo& io_;
  const bool server_;
  const absl::Duration send_timeout_;
  Http2ConnectionOwner& owner_;
  h2::Session session_;
  net::Socket socket_;
  bool open_;  // connected and not closed
  bool closed_ = false;
  bool broken_ = false;          // the peer broke the protocol: close once GOAWAY is written
  std::vector<Chunk> leftover_;  // serialised and not taken by the kernel yet
  uint64_t written_ = 0;         // of the session's output
  // As the timer found it the last time: what the kernel had taken, what of it the peer had not,
  // and since when neither has changed.
  uint64_t seen_written_ = 0;
  size_t seen_unacknowledged_ = 0;
  Instant stalled_since_;
  Instant received_at_;
};

}  // namespace levee
