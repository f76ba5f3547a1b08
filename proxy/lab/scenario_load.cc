// SPDX-License-Identifier: Apache-2.0
#include "lab/scenario_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/field_checker.h"
#include "config/positions.h"
#include "config/suggest.h"
#include "config/values.h"
#include "config/yaml_reader.h"
#include "lab/expectation_load.h"
#include "lab/scenario_sidecars.h"
#include "levee/lab/v1/scenario.pb.h"

namespace levee {
namespace {

namespace v1 = lab::v1;
using config::v1::FieldRule;

// The 99th percentile of the standard normal distribution.
constexpr double kNormal99 = 2.3263478740408408;

std::string Element(const std::string& list, int index) {
  return absl::StrCat(list, "[", index, "]");
}

absl::Duration Span(const std::string& text) {
  if (text.empty() || text == "none") return absl::InfiniteDuration();
  return ParseDuration(text).value_or(absl::ZeroDuration());
}

double RatePerSecond(const std::string& text) {
  const absl::StatusOr<ParsedText> rate = ParseText(FieldRule::RATE, text);
  return rate.ok() ? rate->number : 0;
}

// Makes plain values of a message whose fields have been checked one by one, and checks how they
// refer to one another.
class ScenarioReader {
 public:
  ScenarioReader(const std::string& file, const Positions& positions,
                 std::shared_ptr<const Snapshot> config, FaultList& faults)
      : positions_(positions),
        faults_(faults),
        sidecars_(file, positions, std::move(config), faults) {}

  Scenario Read(const v1::Scenario& message);

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
  }
  void AddMissing(const std::string& path, std::string text);
  void CheckBegin(const std::string& path, const std::string& at);
  int ServiceOf(const std::string& path, const std::string& name);
  template <typename Caller>
  ScenarioCall CallOf(const std::string& path, const std::string& text,
                      const std::string& caller_path, const Caller& caller);
  void TakeCallsIn(const v1::Scenario& message);
  ScenarioClient Client(const std::string& path, const v1::Client& message);
  ScenarioService Service(const std::string& path, const v1::Service& message);
  WorkTime Time(const std::string& path, const v1::Time& message);
  ScenarioFault Fault(const std::string& path, const v1::Fault& message);
  void RefuseCircles();

  const Positions& positions_;
  FaultList& faults_;
  ScenarioSidecars sidecars_;
  std::vector<std::string> services_;  // their names
  Scenario scenario_;
};

// A field that is misspelt is missing only because of that.
void ScenarioReader::AddMissing(const std::string& path, std::string text) {
  if (!positions_.HasUnknownField(path)) Add(path, CheckCode::kMissingField, std::move(text));
}

void ScenarioReader::CheckBegin(const std::string& path, const std::string& at) {
  const bool known = !at.empty() && scenario_.duration > absl::ZeroDuration();
  if (!known || Span(at) < scenario_.duration) return;
  Add(path, CheckCode::kOutOfRange,
      absl::StrCat(at, " is too late; the scenario ends at ",
                   absl::FormatDuration(scenario_.duration)));
}

int ScenarioReader::ServiceOf(const std::string& path, const std::string& name) {
  const auto found = std::find(services_.begin(), services_.end(), name);
  if (found != services_.end()) return static_cast<int>(found - services_.begin());
  Add(path, CheckCode::kDanglingReference,
      absl::StrCat("there is no service ", Quoted(name), Suggestion(name, services_, "there are")));
  return -1;
}

// `text`: the service and the method that `caller`, a client or a service at `caller_path`, calls.
template <typename Caller>
ScenarioCall ScenarioReader::CallOf(const std::string& path, const std::string& text,
                                    const std::string& caller_path, const Caller& caller) {
  ScenarioCall call;
  const size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    if (!text.empty()) {
      Add(path, CheckCode::kMethodGlob,
          absl::StrCat(Quoted(text), " is no SERVICE/METHOD; say checkout/Pay"));
    }
    return call;
  }
  call.service = ServiceOf(path, text.substr(0, slash));
  call.method = text.substr(slash + 1);
  call.peer = caller.peer();
  for (const v1::Header& header : caller.headers()) {
    call.headers.emplace_back(header.name(), header.value());
  }
  call.sidecar = sidecars_.Read(caller_path + ".sidecar", caller.sidecar());
  call.policy = &WithoutSidecar();
  if (call.sidecar != nullptr && call.service >= 0) {
    sidecars_.RouteOut(path, services_[static_cast<size_t>(call.service)], call);
  }
  return call;
}

ScenarioClient ScenarioReader::Client(const std::string& path, const v1::Client& message) {
  ScenarioClient client;
  client.name = message.name();
  client.instances = message.instances();
  client.call = CallOf(path + ".calls", message.calls(), path, message);
  const v1::Load& load = message.load();
  if (load.arrivals_case() == v1::Load::ARRIVALS_NOT_SET) {
    AddMissing(path + ".load", "has no rate; say {poisson: 40/s} or {even: 40/s}");
  }
  client.poisson = load.has_poisson();
  client.per_second = RatePerSecond(client.poisson ? load.poisson() : load.even());
  for (int i = 0; i < load.steps_size(); ++i) {
    const v1::Load::Step& step = load.steps(i);
    CheckBegin(Element(path + ".load.steps", i) + ".at", step.at());
    client.steps.push_back({Span(step.at()), Span(step.for_()), RatePerSecond(step.rate())});
  }
  client.deadline = Span(message.deadline());
  client.retries = message.retries();
  return client;
}

WorkTime ScenarioReader::Time(const std::string& path, const v1::Time& message) {
  switch (message.distribution_case()) {
    case v1::Time::kFixed:
      return {WorkTime::Kind::kFixed, Span(message.fixed())};
    case v1::Time::kExponential:
      return {WorkTime::Kind::kExponential, Span(message.exponential())};
    case v1::Time::kLognormal: {
      const absl::Duration p50 = Span(message.lognormal().p50());
      const absl::Duration p99 = Span(message.lognormal().p99());
      if (p99 < p50) {
        Add(path + ".lognormal.p99", CheckCode::kOutOfRange,
            absl::StrCat(message.lognormal().p99(), " is too small; it must be at least p50"));
        return {};
      }
      return {WorkTime::Kind::kLognormal, p50, std::log(absl::FDivDuration(p99, p50)) / kNormal99};
    }
    case v1::Time::DISTRIBUTION_NOT_SET:
      break;
  }
  AddMissing(path, "is missing; say 5ms, {exponential: 5ms} or {lognormal: {p50: 5ms, p99: 20ms}}");
  return {};
}

ScenarioService ScenarioReader::Service(const std::string& path, const v1::Service& message) {
  ScenarioService service;
  service.name = message.name();
  service.instances = message.instances();
  service.slots = message.slots();
  service.time = Time(path + ".time", message.time());
  service.slope = Span(message.slope());
  if (message.queue() != "none") {
    const absl::StatusOr<int> queue = ParseWhole(message.queue());
    if (queue.ok()) service.queue = *queue;
  }
  service.time_limit = Span(message.time_limit());
  service.drops_abandoned = message.abandoned() == v1::Service::ABANDONED_DROP;
  for (int i = 0; i < message.calls_size(); ++i) {
    service.calls.push_back(CallOf(Element(path + ".calls", i), message.calls(i), path, message));
  }
  service.retries = message.retries();
  return service;
}

ScenarioFault ScenarioReader::Fault(const std::string& path, const v1::Fault& message) {
  ScenarioFault fault;
  CheckBegin(path + ".at", message.at());
  fault.at = Span(message.at());
  fault.span = Span(message.for_());
  fault.service = ServiceOf(path + ".service", message.service());
  if (message.has_instance() && fault.service >= 0) {
    fault.instance = message.instance();
    const ScenarioService& service = scenario_.services[static_cast<size_t>(fault.service)];
    if (*fault.instance >= service.instances) {
      Add(path + ".instance", CheckCode::kOutOfRange,
          absl::StrCat(*fault.instance, " is too large; ", service.name, " has ", service.instances,
                       ", counted from 0"));
    }
  }
  if (message.what_case() == v1::Fault::WHAT_NOT_SET) {
    AddMissing(
        path,
        "does not say what goes wrong; give capacity, fail, delay, refuse, blackhole or restart");
  }
  if (message.has_capacity()) fault.capacity = message.capacity();
  if (message.has_fail()) {
    fault.fail_share = message.fail().share();
    fault.fails_after_work = message.fail().after_work();
    const absl::StatusOr<StatusCode> code = ParseFailureCode(message.fail().code());
    if (code.ok()) fault.fail_code = *code;
  }
  if (message.has_delay()) fault.delay = Span(message.delay());
  fault.refuse = message.refuse();
  fault.blackhole = message.blackhole();
  fault.restart = message.restart();
  return fault;
}

// Gives the calls of each service what its sidecar takes them in by: the guard that the scenario
// has, or the inbound listener of its policy file.
void ScenarioReader::TakeCallsIn(const v1::Scenario& message) {
  for (int i = 0; i < message.services_size(); ++i) {
    const v1::Service& service = message.services(i);
    const std::string path = Element("services", i);
    const bool given = positions_.Has(path + ".guard");
    if (given && !service.has_guard()) continue;
    const auto sidecar = given ? sidecars_.WithGuard(path + ".guard", service.guard())
                               : sidecars_.Read(path + ".sidecar", service.sidecar());
    if (sidecar == nullptr) continue;
    const auto take_in = [&](ScenarioCall& call) {
      if (call.service != i || ScenarioSidecars::RouteIn(sidecar, service.name(), call)) return;
      Add(path + ".sidecar", CheckCode::kDanglingReference,
          absl::StrCat("denies the calls of ", Quoted(call.method), " by ",
                       call.peer.empty() ? "callers without a certificate" : Quoted(call.peer)));
    };
    for (ScenarioClient& client : scenario_.clients) take_in(client.call);
    for (ScenarioService& caller : scenario_.services) {
      for (ScenarioCall& call : caller.calls) take_in(call);
    }
  }
}

// A service that calls itself, by others or not, would call for ever.
void ScenarioReader::RefuseCircles() {
  const size_t count = scenario_.services.size();
  for (size_t start = 0; start < count; ++start) {
    std::vector<bool> reached(count);
    std::vector<size_t> open = {start};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (const ScenarioCall& call : scenario_.services[at].calls) {
        const auto next = static_cast<size_t>(call.service);
        if (call.service < 0 || reached[next]) continue;
        reached[next] = true;
        open.push_back(next);
      }
    }
    if (reached[start]) {
      Add(absl::StrCat("services[", start, "].calls"), CheckCode::kDanglingReference,
          "lead back to the service itself, which would never end");
    }
  }
}

Scenario ScenarioReader::Read(const v1::Scenario& message) {
  for (const v1::Service& service : message.services()) services_.push_back(service.name());
  scenario_.duration = Span(message.duration());
  for (int i = 0; i < message.clients_size(); ++i) {
    scenario_.clients.push_back(Client(Element("clients", i), message.clients(i)));
  }
  for (int i = 0; i < message.services_size(); ++i) {
    scenario_.services.push_back(Service(Element("services", i), message.services(i)));
  }
  TakeCallsIn(message);
  RefuseCircles();
  for (int i = 0; i < message.faults_size(); ++i) {
    scenario_.faults.push_back(Fault(Element("faults", i), message.faults(i)));
  }
  for (int i = 0; i < message.expect_size(); ++i) {
    auto read =
        ReadExpectation(Element("expect", i), message.expect(i), scenario_, positions_, faults_);
    if (read.has_value()) scenario_.expect.push_back(*std::move(read));
  }
  for (const int rule : message.compare()) {
    if (rule == v1::RULE_UNSPECIFIED) continue;
    scenario_.compare.push_back(static_cast<CallerRule>(rule - v1::RULE_THIS));
  }
  return std::move(scenario_);
}

}  // namespace

CheckedScenario CheckScenario(const ConfigText& text, std::shared_ptr<const Snapshot> config) {
  FaultList faults;
  v1::Scenario message;
  Positions positions;
  CheckedScenario checked;
  if (ReadYaml(text.name, text.text, message, positions, faults)) {
    FieldChecker(positions, faults).CheckMessage("", message);
    checked.scenario =
        ScenarioReader(text.name, positions, std::move(config), faults).Read(message);
  }
  checked.faults = faults.Sorted({text.name});
  return checked;
}

}  // namespace levee
