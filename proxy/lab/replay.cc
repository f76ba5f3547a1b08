// SPDX-License-Identifier: Apache-2.0
#include "lab/replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lab/answer_pool.h"
#include "lab/replay_figures.h"
#include "lab/stand_ins.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"

namespace levee {
namespace {

// Calls without an answer so long after the last one began have failed.
constexpr absl::Duration kLongestReplayRest = absl::Seconds(60);
constexpr size_t kMostRequestBytes = 1 << 20;
constexpr uint32_t kRefusedStream = 7;  // of RST_STREAM

Answer AnswerOf(const RecordedAttempt& attempt) {
  using Kind = RecordedAttempt::Kind;
  if (attempt.kind == Kind::kTimeout || attempt.code == StatusCode::kCancelled) return Silence();
  if (attempt.kind == Kind::kNoConnection) return Answer().CannotConnect(attempt.took);
  if (attempt.kind == Kind::kLost) return Answer().ConnectionLost(attempt.took);
  if (attempt.kind == Kind::kRefusedStream) return Answer().Reset(attempt.took, kRefusedStream);
  Answer answer;
  if (attempt.committed) answer.Head(attempt.took / 2);
  Answer::Fields fields;
  if (!attempt.mark.empty()) fields.emplace_back("levee-overload", attempt.mark);
  return answer.Trailers(attempt.took, attempt.code, "", fields);
}

// Whether the deadline, or the caller, ended the call while its last attempt was under way.
bool WasCutOff(const RecordedCall& call) {
  return call.code == StatusCode::kDeadlineExceeded || call.code == StatusCode::kCancelled;
}

// All calls under one configuration.
class ReplayRun {
 public:
  ReplayRun(const std::vector<RecordedCall>& calls, const ReplayConfig& config, uint64_t seed)
      : calls_(calls), config_(config), random_(seed), seen_(calls.size()) {}

  absl::Status Prepare();
  ReplayedPolicy Run();

 private:
  // The state that the calls of one policy to one destination share.
  struct Destination {
    Destination(SimClock& clock, const CallPolicy& policy, uint64_t seed)
        : sidecar(clock, policy, seed) {}

    SimSidecar sidecar;
    const AnswerPool* pool = nullptr;
    std::vector<std::string> endpoints;  // by their numbers
  };
  struct Seen {
    Destination* destination = nullptr;
    int attempts = 0;
    bool first_failed = false;
    bool ended = false;
  };

  absl::Duration TimeOf(const RecordedCall& call) const { return call.at - calls_.front().at; }
  absl::Status Place(size_t number);
  void AddEndpoint(Destination& destination, const std::string& name);
  void Begin(size_t number);
  void OnEnd(size_t number, StatusCode code);
  std::optional<int64_t> PlaceOf(const Destination& destination, size_t number);
  Answer Serve(const Destination& destination, int64_t endpoint, size_t number, AttemptId id);

  const std::vector<RecordedCall>& calls_;
  const ReplayConfig& config_;
  Random random_;
  SimClock clock_;
  std::map<std::pair<std::string, std::string>, AnswerPool> pools_;  // by upstream and authority
  std::map<std::tuple<int, int, std::string, absl::Duration>, Destination*> known_;
  std::deque<Destination> destinations_;
  std::vector<Seen> seen_;
  ReplayTally tally_;
  int64_t attempts_ = 0;
  int64_t drawn_ = 0;
  int64_t same_ = 0;
};

absl::Status ReplayRun::Prepare() {
  for (const RecordedCall& call : calls_) {
    AnswerPool& pool = pools_[{call.upstream, call.authority}];
    for (const RecordedAttempt& attempt : call.attempts) {
      pool.Add(absl::ToInt64Seconds(TimeOf(call) + attempt.start), attempt);
    }
  }
  for (size_t i = 0; i < calls_.size(); ++i) {
    const absl::Status placed = Place(i);
    if (!placed.ok()) return placed;
  }
  for (Destination& each : destinations_) {
    if (each.endpoints.empty()) AddEndpoint(each, "");
  }
  return absl::OkStatus();
}

// Finds the policy of the call, and the destination that it shares with others.
absl::Status ReplayRun::Place(size_t number) {
  const RecordedCall& call = calls_[number];
  const Snapshot& snapshot = *config_.snapshot;
  const Route* const route = RouteOf(call, snapshot);
  if (route == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(config_.name, " has no route for authority ",
                                                   Quoted(call.authority), ", method ",
                                                   Quoted(call.path), ", which the log has"));
  }
  Destination*& destination =
      known_[{route->policy, route->upstream, call.authority, route->timeout}];
  if (destination == nullptr) {
    CallPolicy policy = snapshot.policies[static_cast<size_t>(route->policy)];
    policy.timeout = std::min(policy.timeout, route->timeout);
    destination = &destinations_.emplace_back(clock_, policy, random_.Next());
    destination->pool = &pools_[{call.upstream, call.authority}];
    SimSidecar& sidecar = destination->sidecar;
    sidecar.overload = snapshot.overload;
    sidecar.replay_bytes = snapshot.limits.replay_bytes;
    sidecar.waiting_calls = snapshot.limits.waiting_calls;
    sidecar.recorded_place = [this, destination](const SimHost& host, AttemptId) {
      return PlaceOf(*destination, host.origin().trace - 1);
    };
  }
  seen_[number].destination = destination;
  for (const RecordedAttempt& attempt : call.attempts) {
    if (!attempt.endpoint.empty()) AddEndpoint(*destination, attempt.endpoint);
  }
  return absl::OkStatus();
}

void ReplayRun::AddEndpoint(Destination& destination, const std::string& name) {
  auto& known = destination.endpoints;
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  known.push_back(name);
  const auto endpoint = static_cast<int64_t>(known.size()) - 1;
  destination.sidecar.AddEndpoint([this, &destination, endpoint](SimHost& host, AttemptId id) {
    return Serve(destination, endpoint, host.origin().trace - 1, id);
  });
}

// Counts an attempt that begins. Returns where the log has it; nullopt: it does not say.
std::optional<int64_t> ReplayRun::PlaceOf(const Destination& destination, size_t number) {
  const auto made = static_cast<size_t>(seen_[number].attempts++);
  ++attempts_;
  if (made >= calls_[number].attempts.size()) return std::nullopt;
  const std::string& name = calls_[number].attempts[made].endpoint;
  const auto found = std::find(destination.endpoints.begin(), destination.endpoints.end(), name);
  if (found == destination.endpoints.end()) return std::nullopt;
  return found - destination.endpoints.begin();
}

Answer ReplayRun::Serve(const Destination& destination, int64_t endpoint, size_t number,
                        AttemptId id) {
  const RecordedCall& call = calls_[number];
  const auto made = static_cast<size_t>(id);
  const bool recorded = made <= call.attempts.size();
  if (recorded && made == call.attempts.size() && WasCutOff(call)) return Silence();
  const RecordedAttempt& attempt =
      recorded ? call.attempts[made - 1]
               : destination.pool->Draw(destination.endpoints[static_cast<size_t>(endpoint)],
                                        absl::ToInt64Seconds(clock_.elapsed()), random_);
  drawn_ += !recorded;
  if (id == 1) seen_[number].first_failed = attempt.code != StatusCode::kOk;
  return AnswerOf(attempt);
}

void ReplayRun::Begin(size_t number) {
  const RecordedCall& call = calls_[number];
  RequestFacts facts;
  if (call.code == StatusCode::kDeadlineExceeded) facts.timeout = call.took;
  SimHost& host = seen_[number].destination->sidecar.NewCall(
      facts, [this, number](const SimCaller& end) { OnEnd(number, end.code); },
      {.trace = number + 1});
  if (seen_[number].ended) return;
  host.Send(std::string(std::min(call.request_bytes, kMostRequestBytes), '\0'), /*end=*/true);
  if (call.code != StatusCode::kCancelled) return;
  clock_.After(call.took, [ref = SimHost::Ref(host)] {
    if (SimHost* const running = ref.get()) running->Leave();
  });
}

void ReplayRun::OnEnd(size_t number, StatusCode code) {
  const RecordedCall& call = calls_[number];
  Seen& seen = seen_[number];
  seen.ended = true;
  tally_.Add({.at = TimeOf(call),
              .took = clock_.elapsed() - TimeOf(call),
              .attempts = seen.attempts,
              .ok = code == StatusCode::kOk,
              .first_failed = seen.first_failed});
  same_ += code == call.code && static_cast<size_t>(seen.attempts) == call.attempts.size();
}

ReplayedPolicy ReplayRun::Run() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    clock_.At(SimClock::Start() + TimeOf(calls_[i]), [this, i] { Begin(i); });
  }
  clock_.RunFor(TimeOf(calls_.back()) + kLongestReplayRest);
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!seen_[i].ended) OnEnd(i, StatusCode::kDeadlineExceeded);
  }
  ReplayedPolicy replayed{.name = config_.name, .figures = tally_.Figures()};
  if (attempts_ > 0) {
    replayed.drawn_share = static_cast<double>(drawn_) / static_cast<double>(attempts_);
  }
  replayed.same_share = static_cast<double>(same_) / static_cast<double>(calls_.size());
  return replayed;
}

ReplayFigures FiguresOf(const std::vector<RecordedCall>& calls) {
  ReplayTally tally;
  for (const RecordedCall& call : calls) {
    const auto& attempts = call.attempts;
    tally.Add({.at = call.at - calls.front().at,
               .took = call.took,
               .attempts = static_cast<int>(attempts.size()),
               .ok = call.code == StatusCode::kOk,
               .first_failed = !attempts.empty() && attempts.front().code != StatusCode::kOk});
  }
  return tally.Figures();
}

}  // namespace

absl::StatusOr<Replay> ReplayCalls(std::vector<RecordedCall> calls,
                                   const std::vector<ReplayConfig>& configs, uint64_t seed) {
  const auto logged = static_cast<double>(calls.size());
  const auto all = WithStandIns(std::move(calls), seed);
  if (!all.ok()) return all.status();
  Replay replay{.recorded = FiguresOf(*all), .sample = logged / static_cast<double>(all->size())};
  for (const ReplayConfig& config : configs) {
    ReplayRun run(*all, config, seed);
    const absl::Status ready = run.Prepare();
    if (!ready.ok()) return ready;
    replay.replayed.push_back(run.Run());
  }
  return replay;
}

}  // namespace levee
