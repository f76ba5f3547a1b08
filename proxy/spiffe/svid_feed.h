// SPDX-License-Identifier: Apache-2.0
// What one Workload API gives, followed in a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "base/random.h"
#include "grpcpp/grpcpp.h"
#include "log/conditions.h"
#include "log/event_log.h"
#include "spiffe/feed_rule.h"
#include "spiffe/workload.grpc.pb.h"
#include "tls/svid.h"

namespace levee {

// Opens a stream of FetchX509SVID, and another one when that ends, as FeedRule says. An SVID that
// cannot be used leaves the one before it. The public functions are for any thread.
class SvidFeed {
 public:
  // `socket`: "unix:///run/spire/agent.sock". `changed` is called in the feed's thread when Get has
  // something new to return. `log` outlives the feed.
  SvidFeed(std::string socket, EventLog& log, std::function<void()> changed);

  // Ends the stream and the thread.
  ~SvidFeed();
  SvidFeed(const SvidFeed&) = delete;
  SvidFeed& operator=(const SvidFeed&) = delete;

  // Returns the last SVID. Until the API has answered or failed for the first time, this waits for
  // that, but no longer than `patience`; then nullptr. An API that has said that it will never
  // answer is asked once more.
  std::shared_ptr<const tls::Svid> Get(absl::Duration patience);

  // Returns why the last answer was not taken, or there is none; empty if nothing is wrong.
  std::string fault();

 private:
  void Run();
  grpc::Status Follow();
  bool Begin(grpc::ClientContext* context);
  void Take(X509SVIDResponse& response);
  void Accept(std::shared_ptr<const tls::Svid> svid);
  void Refuse(const std::string& reason);
  bool Wait(absl::Duration wait);
  void Settle();
  void SetFault(const std::string& fault);

  const std::string socket_;
  EventLog& log_;
  const std::function<void()> changed_;

  std::mutex mutex_;
  std::condition_variable wake_;           // the thread, or those who wait for the first answer
  std::shared_ptr<const tls::Svid> svid_;  // nullptr: there is none yet
  std::string fault_;
  grpc::ClientContext* under_way_ = nullptr;
  bool settled_ = false;  // the API has answered or failed once
  bool given_up_ = false;
  bool asked_ = false;  // since it was given up
  bool stopped_ = false;

  // The thread alone uses these.
  Random random_;
  FeedRule rule_;
  std::string refused_for_;  // the reason that was told last
  Condition away_{ConditionKind::kWorkloadApiAway};

  std::thread thread_;  // The last member: it uses the others.
};

}  // namespace levee
