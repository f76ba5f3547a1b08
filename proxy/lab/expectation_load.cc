// SPDX-License-Identifier: Apache-2.0
#include "lab/expectation_load.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/suggest.h"
#include "config/values.h"

namespace levee {
namespace {

using Relation = ScenarioExpectation::Relation;

// The unit of a figure.
enum class Unit { kNumber, kShare, kRate, kTime };

struct FigureWords {
  const char* name;
  ScenarioFigure figure;
  Unit unit;
  const char* example;
};

constexpr FigureWords kFigures[] = {
    {"amplification", ScenarioFigure::kAmplification, Unit::kNumber, "<= 1.1"},
    {"recovery", ScenarioFigure::kRecovery, Unit::kTime, "<= 5s"},
    {"success", ScenarioFigure::kSuccess, Unit::kShare, ">= 99%"},
    {"goodput", ScenarioFigure::kGoodput, Unit::kRate, ">= 100/s"},
    {"p50", ScenarioFigure::kP50, Unit::kTime, "<= 20ms"},
    {"p99", ScenarioFigure::kP99, Unit::kTime, "<= 80ms"},
};

// Takes the relation from the beginning of `text`, which is without spaces then.
bool TakeRelation(std::string& text, Relation& relation) {
  absl::StripAsciiWhitespace(&text);
  constexpr std::pair<const char*, Relation> kRelations[] = {{"<=", Relation::kAtMost},
                                                             {">=", Relation::kAtLeast},
                                                             {"<", Relation::kLess},
                                                             {">", Relation::kMore}};
  for (const auto& [sign, meant] : kRelations) {
    if (!text.starts_with(sign)) continue;
    text.erase(0, std::string_view(sign).size());
    absl::StripAsciiWhitespace(&text);
    relation = meant;
    return true;
  }
  return false;
}

std::optional<double> ReadBound(Unit unit, const std::string& text) {
  double number = 0;
  switch (unit) {
    case Unit::kNumber:
      return absl::SimpleAtod(text, &number) ? std::optional(number) : std::nullopt;
    case Unit::kShare:
      if (!text.ends_with('%')) return std::nullopt;
      if (!absl::SimpleAtod(text.substr(0, text.size() - 1), &number)) return std::nullopt;
      return number / 100;
    case Unit::kRate: {
      const auto rate = ParseText(config::v1::FieldRule::RATE, text);
      return rate.ok() ? std::optional(rate->number) : std::nullopt;
    }
    case Unit::kTime: {
      const auto time = ParseDuration(text);
      return time.ok() ? std::optional(absl::ToDoubleSeconds(*time)) : std::nullopt;
    }
  }
  return std::nullopt;
}

// Returns the index of `of` among the names that the figure may have.
int IndexOf(const std::string& path, const std::string& of, ScenarioFigure figure,
            const Scenario& scenario, const Positions& positions, FaultList& faults) {
  if (figure == ScenarioFigure::kRecovery || figure == ScenarioFigure::kGoodput) {
    faults.Add(positions.Find(path), CheckCode::kExclusiveFields,
               "means nothing here: recovery and goodput are those of all clients together");
    return -1;
  }
  std::vector<std::string> names;
  const bool service = figure == ScenarioFigure::kAmplification;
  if (service) {
    for (const ScenarioService& each : scenario.services) names.push_back(each.name);
  } else {
    for (const ScenarioClient& each : scenario.clients) names.push_back(each.name);
  }
  const auto found = std::find(names.begin(), names.end(), of);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  faults.Add(positions.Find(path), CheckCode::kDanglingReference,
             absl::StrCat("there is no ", service ? "service " : "client ", Quoted(of),
                          Suggestion(of, names, "there are")));
  return -1;
}

}  // namespace

std::optional<ScenarioExpectation> ReadExpectation(const std::string& path,
                                                   const lab::v1::Expectation& message,
                                                   const Scenario& scenario,
                                                   const Positions& positions, FaultList& faults) {
  const auto& reflection = *message.GetReflection();
  const auto* field = reflection.GetOneofFieldDescriptor(
      message, message.GetDescriptor()->FindOneofByName("figure"));
  if (field == nullptr) {
    if (positions.HasUnknownField(path)) return std::nullopt;
    faults.Add(positions.Find(path), CheckCode::kMissingField,
               "has no figure; say {amplification: \"<= 1.1\"} or {recovery: \"<= 5s\"}");
    return std::nullopt;
  }
  const FigureWords& words =
      *std::find_if(std::begin(kFigures), std::end(kFigures),
                    [field](const FigureWords& each) { return field->name() == each.name; });
  ScenarioExpectation read;
  read.figure = words.figure;
  const std::string text = reflection.GetString(message, field);
  std::string rest = text;
  const bool related = TakeRelation(rest, read.relation);
  const std::optional<double> bound = ReadBound(words.unit, rest);
  if (!related || !bound.has_value()) {
    faults.Add(positions.Find(absl::StrCat(path, ".", field->name())), CheckCode::kUnknownWord,
               absl::StrCat(Quoted(text), " is no bound; say \"", words.example, "\""));
    return std::nullopt;
  }
  read.bound = *bound;
  read.text = absl::StrCat(words.name, " ", text);
  if (message.has_of()) {
    read.of = IndexOf(path + ".of", message.of(), read.figure, scenario, positions, faults);
    absl::StrAppend(&read.text, " of ", message.of());
  }
  if (message.has_before()) {
    read.before = ParseDuration(message.before()).value_or(absl::ZeroDuration());
    absl::StrAppend(&read.text, " before ", message.before());
  }
  return read;
}

}  // namespace levee
