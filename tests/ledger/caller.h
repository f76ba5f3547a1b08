// SPDX-License-Identifier: Apache-2.0
// The application that calls through the sidecar: connections with many calls at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ledger/book.h"
#include "ledger/loop.h"
#include "ledger/schedule.h"

namespace levee::ledger {

class CallerLink;

class Caller {
 public:
  // `address`: "127.0.0.1:PORT" of the sidecar. `patient`: a connection that is refused is tried
  // again, as before an application that has gone for a moment.
  Caller(Loop& loop, const Schedule& schedule, Book& book, const std::string& address,
         bool patient = false);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Connects and keeps `streams` calls under way on each of `connections`, until that many more
  // calls have begun in all; each that ends makes room for another.
  void Begin(int connections, int streams, uint64_t calls);
  // The same with so many calls beside those that are left.
  void Add(uint64_t calls);

  // Calls that have not begun yet.
  uint64_t left() const { return left_; }
  uint64_t hang_ups() const { return hang_ups_; }
  // Connections that the sidecar has ended.
  uint64_t lost() const { return lost_; }
  // Whether the sidecar has refused a connection, so that no more calls begin.
  bool refused() const { return refused_; }

  // Ends the connections in order. No call may be under way.
  void HangUp();

 private:
  friend class CallerLink;

  void Connect();
  void ConnectAfter(Millis pause);
  // The id of a call that may begin now; 0: there is none.
  uint64_t NextCall();
  void OnGone(CallerLink& link, bool hung_up);

  Loop& loop_;
  const Schedule& schedule_;
  Book& book_;
  const uint16_t port_;
  const bool patient_;
  size_t connections_ = 0;
  int streams_ = 0;
  uint64_t left_ = 0;
  uint64_t hang_ups_ = 0;
  uint64_t lost_ = 0;
  bool ending_ = false;
  bool refused_ = false;
  std::vector<std::shared_ptr<CallerLink>> links_;
};

}  // namespace levee::ledger
