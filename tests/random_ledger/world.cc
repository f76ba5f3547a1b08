// SPDX-License-Identifier: Apache-2.0
#include "random_ledger/world.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "gtest/gtest.h"

namespace levee::ledger {
namespace {

constexpr int kServices = 3;
constexpr int kConnections = 3;
constexpr std::array<int, 3> kStreams = {4, 8, 24};  // of each

// Far beyond what anything takes on a busy machine, since only a hang lasts longer.
constexpr std::chrono::seconds kStuckAfter{120};

// How often the sidecar is asked for its counts, at most.
constexpr std::chrono::milliseconds kScrapePause{20};

// Calls are judged when all are over.
constexpr std::chrono::hours kNeverLate{1000};

// What is 0 once the connections of callers, the first of these, are gone and nothing is left of
// their calls.
constexpr std::array<const char*, 6> kNothingAtRest = {
    "levee_downstream_connections", "levee_active_calls",    "levee_replay_buffer_bytes",
    "levee_retries_waiting",        "levee_guard_in_flight", "levee_guard_queue_length"};

}  // namespace

World::World(uint64_t seed)
    : seed_(seed), schedule_(seed), book_(seed, schedule_, kNeverLate), log_(loop_, book_) {
  Places places{
      .endpoints = {}, .application = {}, .nowhere = nowhere_.address(), .access_log = log_.path()};
  for (int i = 0; i <= kServices; ++i) {
    upstreams_.push_back(std::make_unique<Upstream>(loop_, schedule_, book_));
    if (i < kServices) places.endpoints.push_back(upstreams_.back()->address());
  }
  places.application = upstreams_.back()->address();
  drawn_ = std::make_unique<RandomConfig>(seed, std::move(places));
}

void World::Expect(bool holds, const std::string& what) {
  if (holds) return;
  ++faults_;
  std::printf("WRONG seed %llu, after %llu calls: %s\n", static_cast<unsigned long long>(seed_),
              static_cast<unsigned long long>(book_.begun()), what.c_str());
}

void World::ExpectEqual(const std::string& what, uint64_t counted, uint64_t expected) {
  Expect(counted == expected,
         what + " is " + std::to_string(counted) + ", not " + std::to_string(expected));
}

uint64_t World::Sum(const char* name, const std::vector<std::string>& labels) const {
  return static_cast<uint64_t>(sidecar_->Sum(name, labels));
}

void World::Start() {
  for (const auto& upstream : upstreams_) upstream->Open();
  configs_.push_back(drawn_->Next());
  first_calls_.push_back(1);
  file_ = std::make_unique<TempFile>(configs_.back());
  sidecar_ = SidecarProcess::Run({"--config", file_->path(), "--workers", "2"});
  for (const char* listener : {"egress", "inbound"}) {
    // The inbound listener is closed while the application is away.
    const bool patient = std::string_view(listener) == "inbound";
    callers_.push_back(
        std::make_unique<Caller>(loop_, schedule_, book_, sidecar_->address(listener), patient));
  }
}

bool World::TurnUntil(const char* what, const std::function<bool()>& holds) {
  auto moved = loop_.now();
  uint64_t seen = 0;
  while (!holds()) {
    loop_.Turn(Millis(10));
    if (sidecar_->process().HasEnded()) {
      Expect(false, "the sidecar has died");
      return false;
    }
    if (std::any_of(callers_.begin(), callers_.end(), [](auto& one) { return one->refused(); })) {
      Expect(false, "the sidecar refuses a connection");
      return false;
    }
    const uint64_t now = book_.begun() + book_.ended() + book_.sums().logged;
    if (now != seen) {
      seen = now;
      moved = loop_.now();
    } else if (loop_.now() - moved > kStuckAfter) {
      Expect(false, std::string("it never comes to this: ") + what + "; " +
                        std::to_string(book_.under_way()) + " calls do not end");
      return false;
    }
  }
  return true;
}

bool World::AllCallsCome() {
  return TurnUntil("all calls begin", [&] {
    return std::all_of(callers_.begin(), callers_.end(),
                       [](const auto& caller) { return caller->left() == 0; });
  });
}

// Calls of the last configuration are still under way, and others come meanwhile.
bool World::Reload(uint64_t calls) {
  const auto reloads = configs_.size();
  configs_.push_back(drawn_->Next());
  first_calls_.push_back(book_.begun() + 1);
  const std::string fresh = file_->path() + ".new";
  std::ofstream(fresh) << configs_.back();
  std::rename(fresh.c_str(), file_->path().c_str());
  for (const auto& caller : callers_) caller->Add(calls / 4);
  auto asked = loop_.now();
  const bool told = TurnUntil("the configuration is read again", [&] {
    if (loop_.now() - asked < kScrapePause) return false;
    asked = loop_.now();
    return Sum("levee_config_reloads_total") >= reloads;
  });
  if (!told) return false;
  Expect(Sum("levee_config_reloads_total", {R"(="success")"}) == reloads,
         "a configuration is refused");
  return true;
}

// Once the connections are closed nothing more can come to the sidecar.
bool World::End() {
  if (!TurnUntil("all calls end", [&] { return book_.under_way() == 0; })) return false;
  for (const auto& caller : callers_) caller->HangUp();
  auto asked = loop_.now();
  return TurnUntil("the sidecar comes to rest", [&] {
    if (loop_.now() - asked < kScrapePause) return false;
    asked = loop_.now();
    return std::all_of(kNothingAtRest.begin(), kNothingAtRest.end(),
                       [&](const char* gauge) { return Sum(gauge) == 0; }) &&
           Sum("levee_calls_total") <= book_.sums().logged;
  });
}

void World::CheckCounts() {
  ExpectEqual("levee_calls_total", Sum("levee_calls_total"), book_.sums().logged);
  ExpectEqual("levee_attempts_total", Sum("levee_attempts_total"), book_.sums().attempts);
  ExpectEqual("levee_broken_calls_total", Sum("levee_broken_calls_total"), 0);
  ExpectEqual("lost lines of the access log",
              Sum("levee_limit_hits_total", {R"(limit="access_log")"}), 0);
  const auto count = [&](const char* name, const std::string& label) {
    counts_[std::string(name) + " " + label] += Sum(name, {label});
  };
  for (const char* result : {"released", "expired", "cancelled"}) {
    count("levee_retries_waited_total", std::string("result=\"") + result);
  }
  for (const char* result : {"first", "replayed", "waited", "refused", "mismatch", "lost"}) {
    count("levee_dedupe_calls_total", std::string("result=\"") + result);
  }
  for (const char* decision : {"admitted", "queued", "refused"}) {
    count("levee_guard_calls_total", std::string("decision=\"") + decision);
  }
  for (const char* decision : {"admitted", "delayed", "rejected"}) {
    count("levee_rate_limit_decisions_total", std::string("decision=\"") + decision);
  }
  for (const char* decision : {"rejected", "observed"}) {
    count("levee_throttle_decisions_total", std::string("decision=\"") + decision);
  }
  for (const char* reason :
       {"budget", "max_attempts", "deadline", "committed", "buffer", "pushback", "overload_mark",
        "not_idempotent", "max_elapsed", "advice", "observe", "throttle"}) {
    count("levee_retries_refused_total", std::string("reason=\"") + reason);
  }
  for (const char* by : {"header", "loop"}) {
    count("levee_app_retries_total", std::string("seen_by=\"") + by);
  }
  counts_["attempts"] += book_.sums().attempts;
  counts_["executions"] += book_.sums().executions;
  for (const char* name : {"levee_retries_total", "levee_transparent_retries_total",
                           "levee_shadow_decisions_total", "levee_overload_marks_total"}) {
    count(name, "");
  }
}

void World::PrintConfigs() const {
  for (size_t i = 0; i < configs_.size(); ++i) {
    std::printf("seed %llu, from call %llu on:\n%s\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(first_calls_[i]), configs_[i].c_str());
  }
  std::fflush(stdout);
}

void World::Run(int policies, uint64_t calls) {
  Start();
  const int streams = kStreams[seed_ % kStreams.size()];
  for (const auto& caller : callers_) caller->Begin(kConnections, streams, calls / 2);
  bool well = AllCallsCome();
  for (int i = 1; i < policies && well; ++i) {
    well = Reload(calls);
    for (const auto& caller : callers_) caller->Add(calls / 4);
    well = well && AllCallsCome();
  }
  well = well && End();
  if (well) CheckCounts();
  for (const auto& caller : callers_) caller->HangUp();
  for (const auto& upstream : upstreams_) upstream->Drop();
  if (well) book_.Sweep(loop_.now(), /*all=*/true);
  const bool right = well && faults_ == 0 && book_.violations() == 0;
  if (!right) PrintConfigs();
  EXPECT_TRUE(right) << "seed " << seed_;  // So that it is printed what the sidecar had to say.
}

}  // namespace levee::ledger
