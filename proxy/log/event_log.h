// SPDX-License-Identifier: Apache-2.0
// Where every layer reports what operators may want to read.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <utility>

#include "log/conditions.h"
#include "log/event.h"

namespace levee {

// Hands events to a sink. It knows no clock and no output: the program gives it a sink that stamps,
// formats and writes. Any thread.
//
// An event that is below the level costs one relaxed load and nothing else: no field is made. Code
// that runs for every call does not even ask.
class EventLog {
 public:
  // Called on the thread that reports, also on several at a time. Must not block for long: workers
  // report.
  using Sink = std::function<void(const LogEvent& event)>;

  // Writes nothing.
  EventLog() = default;

  // Writes events of `least` and above.
  EventLog(LogLevel least, Sink sink) : least_(least), sink_(std::move(sink)) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  bool Enabled(EventKind kind) const {
    return LevelOf(kind) >= least_.load(std::memory_order_relaxed);
  }

  // Does nothing unless the kind is enabled. `make_fields` returns the fields; it is called only if
  // they are wanted.
  template <std::invocable MakeFields>
  void Write(EventKind kind, MakeFields&& make_fields) {
    if (Enabled(kind)) sink_({.kind = kind, .fields = make_fields()});
  }
  void Write(EventKind kind) {
    if (Enabled(kind)) sink_({.kind = kind, .fields = {}});
  }

  // The states that have gone wrong and last.
  Conditions& conditions() { return conditions_; }

 private:
  std::atomic<LogLevel> least_ = LogLevel::kOff;
  const Sink sink_;
  Conditions conditions_{*this};
};

}  // namespace levee
