// SPDX-License-Identifier: Apache-2.0
#include "import/route_fit.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/method_match.h"
#include "policy/route_table.h"

namespace levee::importer {
namespace {

enum class Fit { kExact, kNarrowed, kGuarded, kRefused };  // from the best to the worst

// A route's calls: their globs, the authority in lower case, and their headers.
struct RouteCalls {
  std::string authority;
  std::string method;
  std::vector<HeaderMatch> headers;
};

// Whether all calls with the headers of `narrow` have those of `wide`.
bool HaveHeaders(const RouteCalls& narrow, const RouteCalls& wide) {
  return std::all_of(wide.headers.begin(), wide.headers.end(), [&](const HeaderMatch& asked) {
    return std::any_of(narrow.headers.begin(), narrow.headers.end(),
                       [&](const HeaderMatch& each) { return Implies(each, asked); });
  });
}

// The calls that two routes of the list have in common: their authorities and their methods.
struct Overlap {
  Overlap(const RouteCalls& above, const RouteCalls& below)
      : some(MayMeet(above.method, below.method) && MayMeet(above.authority, below.authority)),
        all(some && GlobMatch(below.authority, above.authority) &&
            GlobMatch(below.method, above.method) && HaveHeaders(above, below)) {}

  bool some;  // there may be one
  bool all;   // those of the route above
};

class Fitter {
 public:
  Fitter(Source& source, Draft& draft) : source_(source), draft_(draft) {
    for (const PolicyDraft& policy : draft.policies) rules_[policy.name] = &policy.rules;
    for (const RouteDraft& route : draft.routes) {
      calls_.push_back({absl::AsciiStrToLower(route.authority), route.method, route.headers});
    }
  }

  void Run();

 private:
  // The fate of a route's calls if the route is left out.
  struct Below {
    bool covered = false;               // each of them has a route
    bool closed = true;                 // no route takes any of them to a service
    bool same = true;                   // all lead to the same upstream
    bool as_often = true;               // and try them as the route does, or once
    bool equal = true;                  // and by its policy
    const RouteDraft* other = nullptr;  // the first that leads elsewhere
  };
  Below LookBelow(size_t index) const;

  void Decide(size_t index);
  void DecideConditional(size_t index);
  void DecideOwnAnswer(size_t index);
  void Guard(RouteDraft& route, const std::string& why);
  void Refuse(const RouteDraft& route, const std::string& why);
  void Note(const RouteDraft& route, Fit fit, std::string text);
  bool TriesOnce(const std::string& policy) const;
  void TellDecisions();
  void RemoveUnreached();
  void AddLastResort();
  void Count();
  void AddWhatIsNamed();
  void RemoveUnused();

  Source& source_;
  Draft& draft_;
  std::map<std::string, const PolicyRules*> rules_;
  std::vector<RouteCalls> calls_;                 // of the routes
  std::map<int, Fit> fits_;                       // by source
  std::map<int, std::vector<std::string>> told_;  // by source
  std::map<int, std::set<std::string>> refused_;  // by source, so that each is one fault
};

std::string WithoutEqual(const std::vector<std::string>& what) {
  return absl::StrCat(absl::StrJoin(what, ", "), what.size() == 1 ? " has" : " have",
                      " no equivalent");
}

bool Fitter::TriesOnce(const std::string& policy) const {
  if (policy == kNoRetries) return true;
  const auto found = rules_.find(policy);
  return found != rules_.end() && found->second->retry.max_attempts.value == 1 &&
         !found->second->hedge.value.has_value();
}

Fitter::Below Fitter::LookBelow(size_t index) const {
  const RouteDraft& route = draft_.routes[index];
  Below below;
  for (size_t i = index + 1; i < draft_.routes.size() && !below.covered; ++i) {
    const RouteDraft& next = draft_.routes[i];
    if (next.left_out && !next.denied) continue;
    const Overlap calls(calls_[index], calls_[i]);
    if (!calls.some) continue;
    const bool same = next.upstream == route.upstream && next.source != RouteDraft::kAdded;
    if (!same && next.source != RouteDraft::kAdded && below.other == nullptr) below.other = &next;
    below.closed = below.closed && (next.denied || next.upstream == kNowhere);
    below.same = below.same && same;
    below.equal = below.equal && next.policy == route.policy;
    below.as_often = below.as_often && (next.policy == route.policy || TriesOnce(next.policy));
    // A denial of some calls, which is not written, leaves the others.
    const bool some = next.denied && !next.unsaid.conditions.empty();
    below.covered = calls.all && !some;
  }
  return below;
}

void Fitter::Note(const RouteDraft& route, Fit fit, std::string text) {
  if (route.source == RouteDraft::kAdded) return;
  Fit& worst = fits_.emplace(route.source, Fit::kExact).first->second;
  worst = std::max(worst, fit);
  std::vector<std::string>& told = told_[route.source];
  if (!text.empty() && std::find(told.begin(), told.end(), text) == told.end()) {
    told.push_back(std::move(text));
  }
}

void Fitter::Guard(RouteDraft& route, const std::string& why) {
  const auto found = rules_.find(route.policy);
  std::vector<std::string> lost;
  if (found != rules_.end() && found->second->timeout.value.has_value()) lost.push_back("timeout");
  if (found != rules_.end() && found->second->rate_limit.value.has_value()) {
    lost.push_back("rate_limit");
  }
  route.policy = kNoRetries;
  Note(route, Fit::kGuarded,
       lost.empty() ? why
                    : absl::StrCat(why, " Left out: ", absl::StrJoin(lost, ", "),
                                   ", which others of these calls do not have."));
}

void Fitter::Refuse(const RouteDraft& route, const std::string& why) {
  Note(route, Fit::kRefused, "");
  if (!refused_[route.source].insert(why).second) return;
  source_.Refuse(route.place, why);
}

void Fitter::DecideOwnAnswer(size_t index) {
  RouteDraft& route = draft_.routes[index];
  const Below below = LookBelow(index);
  const std::string answers = absl::StrJoin(route.unsaid.answers, ", ");
  if (below.closed) {
    route.left_out = route.denied = true;
    route.upstream.clear();
    const std::vector<std::string>& more = route.unsaid.conditions;
    const std::string of =
        more.empty() ? "" : absl::StrCat(" of some calls: ", absl::StrJoin(more, ", "));
    Note(route, Fit::kExact,
         absl::StrCat("Left out (", answers, of,
                      "): its calls are answered where they are routed, "
                      "and no route here takes them."));
  } else if (route.unsaid.conditions.empty()) {
    route.upstream = kNowhere;
    Guard(route,
          absl::StrCat("Its calls reach no service (", answers, "); here they fail at once."));
  } else {
    Refuse(route, absl::StrCat("calls that reach no service (", answers,
                               ") cannot be told from others, since ",
                               WithoutEqual(route.unsaid.conditions)));
  }
}

void Fitter::DecideConditional(size_t index) {
  RouteDraft& route = draft_.routes[index];
  const std::string why = WithoutEqual(route.unsaid.conditions);
  const Below below = LookBelow(index);
  if (below.covered && below.same && below.as_often) {
    route.left_out = true;
    route.upstream.clear();
    Note(route, below.equal ? Fit::kExact : Fit::kGuarded,
         absl::StrCat(
             "Left out, since ", why, ". The routes below lead its calls to the same ",
             below.equal ? "upstream by the same policy." : "upstream, and try them once."));
  } else if (below.other == nullptr) {
    Guard(route, absl::StrCat("Takes more calls than it should, since ", why,
                              ". So they are tried once."));
  } else {
    Refuse(route, absl::StrCat("the calls of this route cannot be told from others: ", why,
                               ", and the route in line ", below.other->place.line,
                               below.other->unsaid.answers.empty() ? " leads some of them elsewhere"
                                                                   : " lets none of them through"));
  }
}

void Fitter::Decide(size_t index) {
  RouteDraft& route = draft_.routes[index];
  if (route.left_out || route.source == RouteDraft::kAdded) {
    Note(route, Fit::kExact, "");
    return;
  }
  const Unsaid& unsaid = route.unsaid;
  if (!unsaid.unknown.empty()) {
    Refuse(route, absl::StrCat("where its calls go is not known: ", WithoutEqual(unsaid.unknown)));
  } else if (!unsaid.answers.empty()) {
    DecideOwnAnswer(index);
  } else if (!unsaid.conditions.empty()) {
    DecideConditional(index);
  } else if (!unsaid.changes.empty()) {
    // Its rules try them once, and hold for no other calls.
    Note(route, Fit::kGuarded,
         absl::StrCat("Its calls stay as they are, since ", WithoutEqual(unsaid.changes),
                      ". So they are tried once."));
  } else {
    Note(route, route.narrowed ? Fit::kNarrowed : Fit::kExact, "");
  }
}

void Fitter::TellDecisions() {
  for (RouteDraft& route : draft_.routes) {
    const auto told = told_.find(route.source);
    if (told == told_.end()) continue;
    route.notes.insert(route.notes.end(), told->second.begin(), told->second.end());
    told_.erase(told);
  }
}

void Fitter::Count() {
  RouteCounts& counts = draft_.counts;
  for (const auto& [source, fit] : fits_) {
    switch (fit) {
      case Fit::kExact:
        ++counts.exact;
        break;
      case Fit::kNarrowed:
        ++counts.narrowed;
        break;
      case Fit::kGuarded:
        ++counts.guarded;
        break;
      case Fit::kRefused:
        ++counts.refused;
        break;
    }
  }
}

// A policy file has a route.
void Fitter::AddLastResort() {
  for (const RouteDraft& route : draft_.routes) {
    if (!route.left_out) return;
  }
  RouteDraft rest;
  rest.notes.emplace_back("No route is left: no call reaches a service.");
  rest.upstream = kNowhere;
  rest.policy = kNoRetries;
  draft_.routes.push_back(std::move(rest));
}

void Fitter::AddWhatIsNamed() {
  const auto names = [this](const auto& field) {
    return std::any_of(
        draft_.routes.begin(), draft_.routes.end(),
        [&field](const RouteDraft& route) { return !route.left_out && field(route); });
  };
  if (names([](const RouteDraft& route) { return route.upstream == kNowhere; })) {
    UpstreamDraft nowhere;
    nowhere.name = kNowhere;
    nowhere.notes = {"Nothing is at this address, so that a call fails at once as UNAVAILABLE."};
    nowhere.endpoints.value = {kNoAddress};
    draft_.upstreams.push_back(std::move(nowhere));
  }
  const bool known = std::any_of(draft_.policies.begin(), draft_.policies.end(),
                                 [](const PolicyDraft& p) { return p.name == kNoRetries; });
  if (!known && names([](const RouteDraft& route) { return route.policy == kNoRetries; })) {
    PolicyDraft once;
    once.name = kNoRetries;
    once.rules.retry.max_attempts.value = 1;
    draft_.policies.push_back(std::move(once));
  }
}

// The authorities of which a route takes every call.
class Complete {
 public:
  bool Has(const std::string& authority) const {
    return all_.contains(authority) ||
           std::any_of(globs_.begin(), globs_.end(), [&authority](const std::string& glob) {
             return GlobMatch(glob, authority);
           });
  }
  void Add(const std::string& authority) {
    if (all_.insert(authority).second && absl::StrContains(authority, '*')) {
      globs_.push_back(authority);
    }
  }

 private:
  std::set<std::string> all_;
  std::vector<std::string> globs_;  // those with a star
};

// Leaves out routes to which no call comes. An added route is no news, and of equal notes about
// those that stay, one is enough.
void Fitter::RemoveUnreached() {
  Complete complete;
  std::set<Notes> told;
  std::vector<RouteDraft> reached;
  for (RouteDraft& route : draft_.routes) {
    const std::string authority = absl::AsciiStrToLower(route.authority);
    const bool added = route.source == RouteDraft::kAdded;
    if (!route.left_out && complete.Has(authority)) {
      if (added || route.notes.empty()) continue;
      route.left_out = true;
      route.upstream.clear();
      route.notes.emplace_back("Left out: a route above takes all of its calls.");
    }
    const bool every = route.headers.empty() && (route.method == "*" || route.method == "/*");
    if (every && !route.left_out) complete.Add(authority);
    if (added && !told.insert(route.notes).second) route.notes.clear();
    reached.push_back(std::move(route));
  }
  draft_.routes = std::move(reached);
}

// An upstream or a policy that no written route names would be unused.
void Fitter::RemoveUnused() {
  std::set<std::string> upstreams, policies;
  for (const RouteDraft& route : draft_.routes) {
    if (route.upstream.empty()) continue;
    upstreams.insert(route.upstream);
    policies.insert(route.policy);
  }
  std::erase_if(draft_.upstreams,
                [&upstreams](const UpstreamDraft& u) { return !upstreams.contains(u.name); });
  std::erase_if(draft_.policies,
                [&policies](const PolicyDraft& p) { return !policies.contains(p.name); });
}

void Fitter::Run() {
  // A decision needs those of the routes below.
  for (size_t i = draft_.routes.size(); i-- > 0;) Decide(i);
  TellDecisions();
  RemoveUnreached();
  AddLastResort();
  Count();
  AddWhatIsNamed();
  RemoveUnused();
}

}  // namespace

void FitRoutes(Source& source, Draft& draft) { Fitter(source, draft).Run(); }

}  // namespace levee::importer
