// SPDX-License-Identifier: Apache-2.0
#include "call/drawn_config.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "call/field_values.h"
#include "config/load.h"
#include "levee/config/v1/annotations.pb.h"
#include "levee/config/v1/config.pb.h"

namespace levee {
namespace {

namespace v1 = config::v1;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// What a policy is within. The addresses are used by nobody.
constexpr char kUpstreams[] =
    "stores: [{name: shared, redis: ['127.0.0.1:6379']}]\n"
    "upstreams: [{name: cart, endpoints: ['127.0.0.1:50051']}]\n";
constexpr char kEgressRoutes[] = "routes: [{upstream: cart, policy: drawn0}]\n";
constexpr char kInboundRoutes[] =
    "listeners: [{name: in, address: '127.0.0.1:9470', direction: inbound}]\n"
    "routes: [{match: {listener: in}, upstream: cart, policy: drawn0}]\n";

using Given = std::map<std::string, const FieldDescriptor*>;

// The words of an enum, as the configuration has them.
std::vector<std::string> WordsOf(const EnumDescriptor& type) {
  constexpr std::string_view kFirst = "UNSPECIFIED";  // behind the prefix of all values
  const size_t prefix = type.value(0)->name().size() - kFirst.size();
  std::vector<std::string> words;
  for (int i = 1; i < type.value_count(); ++i) {
    words.push_back(absl::AsciiStrToLower(type.value(i)->name().substr(prefix)));
  }
  return words;
}

// Whether it is known which values the field may have.
bool CanBeDrawn(const FieldDescriptor& field) {
  return field.message_type() != nullptr || field.enum_type() != nullptr ||
         field.type() == FieldDescriptor::TYPE_BOOL || FindFieldValues(field) != nullptr;
}

class Drawer {
 public:
  Drawer(const Draws& draws, Side side, size_t number = 0)
      : draws_(draws), side_(side), number_(number) {}

  // Returns the message in YAML's flow style.
  std::string Draw(const Descriptor& type) {
    Given given = Choose(type);
    Settle(std::string(type.name()), given);
    Exclude(given);
    std::vector<std::string> fields;
    const std::string plain = type.options().GetExtension(v1::plain_value);
    for (const auto& [name, field] : given) {
      if (name == plain) return Value(*field);
      fields.push_back(absl::StrCat(name, ": ", Value(*field)));
    }
    return absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
  }

 private:
  Given Choose(const Descriptor& type) {
    Given given;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.real_containing_oneof() != nullptr) continue;
      const v1::FieldRule& rule = field.options().GetExtension(v1::rule);
      if (!CanBeDrawn(field)) continue;
      const FieldValues* const values = FindFieldValues(field);
      const double share = values != nullptr ? values->share : 0.5;
      if (rule.required() || draws_.Chance(share)) given[std::string(field.name())] = &field;
    }
    for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
      const auto& oneof = *type.oneof_decl(i);
      const auto member =
          static_cast<int>(draws_.below(static_cast<uint64_t>(oneof.field_count())));
      given[std::string(oneof.field(member)->name())] = oneof.field(member);
    }
    return given;
  }

  // What the validation says of fields of different messages, or of values.
  void Settle(const std::string& type, Given& given) {
    if (type == "Policy") SettlePolicy(given);
    if (type == "RateLimit") SettleRateLimit(given);
    if (type == "Retry") {
      one_attempt_ = hedges_ || side_ == Side::kInbound;
      if (!one_attempt_) return;
      given.erase("rules");
      given["max_attempts"] = v1::Retry::descriptor()->FindFieldByName("max_attempts");
    }
    if (type == "Concurrency") {
      adaptive_ = given.contains("initial") || given.contains("min") || given.contains("max");
    }
    if (type == "RetryRule") {
      given["codes"] = v1::RetryRule::descriptor()->FindFieldByName("codes");
    }
    if (type == "Backoff" && given.contains("preset")) {
      std::erase_if(given, [](const auto& entry) {
        return entry.first != "preset" && entry.first != "max_advice";
      });
    }
  }

  void SettlePolicy(Given& given) {
    const Descriptor& type = *v1::Policy::descriptor();
    if (side_ == Side::kEgress) given.erase("guard");
    if (side_ == Side::kInbound) {
      given.erase("hedge");
      given["retry"] = type.FindFieldByName("retry");
      given["guard"] = type.FindFieldByName("guard");
    }
    hedges_ = given.contains("hedge");
    if (hedges_) given["idempotency"] = type.FindFieldByName("idempotency");
  }

  void SettleRateLimit(Given& given) {
    const Descriptor& type = *v1::RateLimit::descriptor();
    const uint64_t scope = draws_.below(4);
    scope_ = scope < 2 ? "local" : scope == 2 ? "global" : "rls";
    given["scope"] = type.FindFieldByName("scope");
    std::erase_if(given, [&](const auto& entry) {
      const bool waits = entry.first == "max_wait" || entry.first == "adaptive";
      const bool store =
          entry.first == "store" || entry.first == "grace" || entry.first == "on_failure";
      return (scope_ != "local" && waits) || (scope_ != "global" && store);
    });
    // `grace` means nothing but with on_failure: last, the default.
    if (given.contains("grace")) given.erase("on_failure");
    given.erase("rls");
    if (scope_ == "global") given["store"] = type.FindFieldByName("store");
    if (scope_ != "rls") return;
    given["rls"] = type.FindFieldByName("rls");
    given["key"] = type.FindFieldByName("key");
  }

  // By the annotations: fields that mean nothing beside another one, or without it.
  void Exclude(Given& given) {
    for (const auto& [name, field] : Given(given)) {
      if (!given.contains(name)) continue;
      for (const std::string& other : field->options().GetExtension(v1::rule).excludes()) {
        given.erase(other);
      }
    }
    for (const auto& [name, field] : Given(given)) {
      const v1::FieldRule& rule = field->options().GetExtension(v1::rule);
      if (!rule.has_needs()) continue;
      if (!given.contains(rule.needs().field())) given.erase(name);
    }
  }

  std::string Value(const FieldDescriptor& field) {
    if (!field.is_repeated()) return One(field, 0);
    std::vector<std::string> values;
    const uint64_t most = field.message_type() != nullptr ? 3 : 4;
    for (uint64_t i = 1 + draws_.below(most); i > 0; --i) {
      const std::string value = One(field, values.size());
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  }

  // The `number`-th value of a list, or the only one.
  std::string One(const FieldDescriptor& field, size_t number) {
    if (const std::string fixed = Fixed(std::string(field.full_name())); !fixed.empty()) {
      return fixed;
    }
    if (field.message_type() != nullptr) return DrawNumbered(*field.message_type(), number);
    const FieldValues* const values = FindFieldValues(field);
    if (values != nullptr && !values->texts.empty()) {
      const std::string text(values->texts[draws_.below(values->texts.size())]);
      return field.name() == "name" ? absl::StrCat(text, number_) : text;
    }
    if (field.type() == FieldDescriptor::TYPE_BOOL) return draws_.Chance(0.5) ? "true" : "false";
    const std::vector<std::string> words = WordsOf(*field.enum_type());
    return words[draws_.below(words.size())];
  }

  std::string DrawNumbered(const Descriptor& type, size_t number) {
    const size_t outer = std::exchange(number_, number);
    std::string message = Draw(type);
    number_ = outer;
    return message;
  }

  // Values that hang on those of other fields, and modes in which little happens.
  std::string Fixed(const std::string& field) {
    const auto is = [&](const char* name) {
      return field == absl::StrCat("levee.config.v1.", name);
    };
    if (is("RateLimit.scope")) return scope_;
    if (is("Retry.max_attempts") && one_attempt_) return "1";
    if (is("Guard.Concurrency.limit") && adaptive_) return "adaptive";
    if (is("Idempotency.mode") && hedges_) return draws_.Chance(0.8) ? "always" : "auto";
    if (is("Retry.mode") || is("Guard.mode")) return draws_.Chance(0.2) ? "observe" : "enforce";
    return "";
  }

  const Draws& draws_;
  const Side side_;
  bool hedges_ = false;
  bool one_attempt_ = false;
  bool adaptive_ = false;
  std::string scope_;  // of the rate limit that is drawn
  size_t number_;      // of the message in its list
};

void AddFieldsWithoutValues(const Descriptor& type, std::set<const Descriptor*>& seen,
                            std::vector<std::string>& missing) {
  if (!seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() != nullptr) {
      AddFieldsWithoutValues(*field.message_type(), seen, missing);
    } else if (!CanBeDrawn(field)) {
      missing.emplace_back(field.full_name());
    }
  }
}

}  // namespace

std::vector<std::string> FieldsWithoutValues() {
  std::set<const Descriptor*> seen;
  std::vector<std::string> missing;
  AddFieldsWithoutValues(*v1::Policy::descriptor(), seen, missing);
  AddFieldsWithoutValues(*v1::Overload::descriptor(), seen, missing);
  return missing;
}

std::string DrawPolicyText(const Draws& draws, Side side, size_t number) {
  return Drawer(draws, side, number).Draw(*v1::Policy::descriptor());
}

std::string DrawOverloadText(const Draws& draws) {
  return Drawer(draws, Side::kEgress).Draw(*v1::Overload::descriptor());
}

DrawnConfig DrawConfig(const Draws& draws, Side side) {
  DrawnConfig drawn;
  const std::string policy = DrawPolicyText(draws, side, 0);
  const std::string overload = DrawOverloadText(draws);
  drawn.yaml = absl::StrCat("overload: ", overload, "\npolicies: [", policy, "]\n");
  const absl::StatusOr<std::shared_ptr<const Snapshot>> read = ParseConfig(
      "drawn.yaml", absl::StrCat(drawn.yaml, kUpstreams,
                                 side == Side::kInbound ? kInboundRoutes : kEgressRoutes));
  if (!read.ok()) {
    std::fprintf(stderr, "%s\n%s", drawn.yaml.c_str(),
                 std::string(read.status().message()).c_str());
  }
  LEVEE_CHECK(read.ok());  // A relation that Drawer::Settle does not know.
  drawn.policy = (*read)->policies.front();
  drawn.overload = (*read)->overload;
  return drawn;
}

}  // namespace levee
