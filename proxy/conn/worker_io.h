// SPDX-License-Identifier: Apache-2.0
// What the connections of one worker share, and the order in which a turn of its loop ends.
#pragma once

#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "conn/held_input.h"
#include "conn/unfinished_blocks.h"
#include "h2/session.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "telemetry/series.h"

namespace levee {

class Http2Connection;

// Something to be done once at the end of the current turn, when no callback is on the stack.
// The interface inverts a dependency: conn/ runs the tasks of upstream/, which it does not know.
class TurnTask : public ListLink<TurnTask> {
 public:
  virtual void OnTurnEnd() = 0;

 protected:
  ~TurnTask() = default;
};

// The objects that the connections of one worker share. One thread.
struct WorkerIo {
  WorkerIo(net::EventLoop& event_loop, WorkerSeries& worker_series, EventLog& event_log)
      : loop(event_loop),
        series(worker_series),
        log(event_log),
        wheel(event_loop.now()),
        unfinished(wheel, worker_series),
        output(256 * 1024) {}

  // Runs `task` at the end of this turn; again and again is once.
  void AtTurnEnd(TurnTask& task) {
    if (!task.linked()) turn_tasks.PushBack(task);
  }

  // Goes on with bytes that were held back in earlier turns, one connection after the other, as far
  // as a turn may.
  void TakeHeldBack();

  // A turn ends with these: due timers, tasks, output, burials. Tasks run as far as a turn may make
  // of its memory.
  void EndTurn(Instant now);

  // Whether something is left for the next turn, which should come at once.
  bool next_turn_is_due() const { return !held_back.empty() || !turn_tasks.empty(); }

  // Writes out every connection that has something to write: first the upstream ones, since what
  // they send has been waited for longest. One gathered write per connection, as a rule.
  void Flush();

  net::EventLoop& loop;
  WorkerSeries& series;
  EventLog& log;
  TimerWheel wheel;
  UnfinishedBlocks unfinished;
  Graveyard graveyard;
  h2::StreamPool streams;
  IntrusiveList<TurnTask> turn_tasks;
  IntrusiveList<HeldInput> held_back;
  IntrusiveList<Http2Connection> dirty_upstream;
  IntrusiveList<Http2Connection> dirty_downstream;
  // The receive window of every stream; connections take it over with the next bytes they get.
  uint32_t stream_window = h2::SessionOptions().stream_window_bytes;
  h2::OutputBuffer output;  // of one connection, on its way into the socket
};

}  // namespace levee
