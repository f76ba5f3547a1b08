// SPDX-License-Identifier: Apache-2.0
// Every field of config.proto, wherever it can stand, refuses what it cannot be: the right code at
// the right place under the right path.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/faults_of.h"
#include "config/schema.h"
#include "gtest/gtest.h"
#include "levee/config/v1/config.pb.h"

namespace levee {
namespace {

using config::v1::FieldRule;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Fields = std::vector<const FieldDescriptor*>;
using enum CheckCode;

bool IsMessage(const FieldDescriptor& field) { return field.message_type() != nullptr; }

// A value that a required field of this kind can have.
std::string SomeValue(const FieldDescriptor& field) {
  std::string value = "anywhere";
  if (RuleOf(field).kind() == FieldRule::LISTENER_ADDRESS) value = "\"127.0.0.1:1\"";
  if (RuleOf(field).kind() == FieldRule::ENDPOINT) value = "\"authority:\"";
  if (RuleOf(field).kind() == FieldRule::DURATION_OR_PERCENTILE) value = "1s";
  if (RuleOf(field).kind() == FieldRule::RATE) value = "1/s";
  return field.is_repeated() ? "[" + value + "]" : value;
}

// The required fields of a message but `except`, each with a comma behind it.
std::string Required(const Descriptor& type, const FieldDescriptor* except) {
  std::string text;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (&field == except || !RuleOf(field).required() || !RuleOf(field).default_().empty()) {
      continue;
    }
    absl::StrAppend(&text, field.name(), ": ", SomeValue(field), ", ");
  }
  return text;
}

std::string PathOf(const Fields& fields) {
  std::string path;
  for (const FieldDescriptor* field : fields) {
    absl::StrAppend(&path, path.empty() ? "" : ".", field->name(),
                    IsMessage(*field) && field->is_repeated() ? "[0]" : "");
  }
  return path;
}

// A document with the message that `fields` lead to, with `inner` in a line of its own.
std::string Document(const Fields& fields, const std::string& inner) {
  std::string before = "{";
  std::string after = "}";
  for (const FieldDescriptor* field : fields) {
    const bool list = field->is_repeated();
    absl::StrAppend(&before, Required(*field->containing_type(), field), field->name(), ": ",
                    list ? "[{" : "{");
    after = (list ? "}]" : "}") + after;
  }
  return before + "\n" + inner + "\n" + after + "\n";
}

struct Expected {
  CheckCode code;
  int column;
  std::string path;
};

// Every document that was looked at, so that a walk that finds nothing does not pass.
int documents = 0;

void ExpectFault(const std::string& document, const Expected& expected) {
  ++documents;
  const CheckedConfig checked = CheckConfig({{"f", document}}, std::nullopt);
  for (const Fault& fault : checked.faults) {
    if (fault.code == expected.code && fault.line == 2 && fault.column == expected.column &&
        fault.path == expected.path) {
      return;
    }
  }
  ADD_FAILURE() << CheckCodeText(expected.code) << " at 2:" << expected.column << " of "
                << expected.path << " is missing in\n"
                << document << FormatFaults(checked.faults);
}

// Values that this kind does not allow, with the code of each fault.
std::vector<std::pair<std::string, CheckCode>> WrongTexts(const FieldRule& rule) {
  switch (rule.kind()) {
    case FieldRule::NAME:
      return {{"a b", kName}, {"\"\"", kName}, {std::string(64, 'n'), kName}};
    case FieldRule::DURATION:
      return {{"10", kDuration},       {"1.5", kDuration},  {"10parsecs", kDuration},
              {"\"10 s\"", kDuration}, {"inf", kDuration},  {"\"\"", kDuration},
              {"8761h", kOutOfRange},  {"-1s", kOutOfRange}};
    case FieldRule::DURATION_OR_PERCENTILE:
      return {{"10", kDuration},  {"p0", kDuration},    {"p100", kDuration},
              {"95%", kDuration}, {"p9.99", kDuration}, {"-1s", kOutOfRange}};
    case FieldRule::SIZE:
      return {{"64", kSize}, {"64KB", kSize}, {"1.5KiB", kSize}, {"-1KiB", kSize}, {"\"\"", kSize}};
    case FieldRule::STATUS_CODE:
      return {{"OK", kStatusCode}, {"0", kStatusCode}, {"17", kStatusCode}, {"NOPE", kStatusCode}};
    case FieldRule::HTTP_STATUS:
      return {{"600", kHttpStatus}, {"99", kHttpStatus}, {"6xx", kHttpStatus}, {"5x", kHttpStatus}};
    case FieldRule::RATE:
      return {{"100", kRate}, {"100/d", kRate}, {"many/s", kRate}, {"/s", kRate}};
    case FieldRule::LISTEN_ADDRESS:
      return {{"unix:/run/a", kListenAddress}, {"cart:1", kListenAddress}};
    case FieldRule::LISTENER_ADDRESS:
      return {{"localhost", kListenAddress},
              {"cart:1", kListenAddress},
              {"127.0.0.1:65536", kListenAddress},
              {"unix:a", kListenAddress},
              {"256.0.0.1:1", kListenAddress}};
    case FieldRule::ENDPOINT:
      return {{"cart:1", kEndpoint},
              {"10.0.0.1:0", kEndpoint},
              {"dns:cart", kEndpoint},
              {"unix:a", kEndpoint},
              {"authority:1", kEndpoint}};
    case FieldRule::AUTHORITY_GLOB:
      return {{"http://a", kAuthorityGlob}, {"a b", kAuthorityGlob}, {"\"\"", kAuthorityGlob}};
    case FieldRule::METHOD_GLOB:
      return {{"a/b", kMethodGlob}, {"/a b", kMethodGlob}, {"\"\"", kMethodGlob}};
    case FieldRule::REGEX:
      return {{"\"a(\"", kRegex}, {"\"\"", kRegex}, {"\"(?=a)\"", kRegex}};
    case FieldRule::ADDED_HEADER:
      return {{"te", kAddedHeader}, {"grpc-x", kAddedHeader}, {"\":path\"", kAddedHeader}};
    case FieldRule::RATE_LIMIT_KEY:
      return {{"tenant", kRateLimitKey}, {"\"header:\"", kRateLimitKey}};
    case FieldRule::WHOLE:
      return {{"many", kWhole}, {"1.5", kWhole}, {"\"\"", kWhole}, {"-1", kOutOfRange}};
    case FieldRule::HEADER:
      return {{"\":path\"", kHeader}, {"a b", kHeader}, {"\"\"", kHeader}};
    case FieldRule::HEADER_KEY:
      return {{"method", kHeader}, {"\"header:\"", kHeader}, {"\"header:a b\"", kHeader}};
    case FieldRule::TLS_VERSION:
      return {{"1.1", kTlsVersion}, {"2", kTlsVersion}, {"\"\"", kTlsVersion}};
    case FieldRule::ALT_NAME:
      return {{"cart.shop", kAltName},
              {"\"dns:\"", kAltName},
              {"\"dns:a/b\"", kAltName},
              {"\"uri:a b\"", kAltName}};
    case FieldRule::SOCKET:
      return {{"\"\"", kSocket}, {"/run/agent.sock", kSocket}, {"'unix:agent.sock'", kSocket}};
    case FieldRule::HOST_NAME:
      return {{"10.0.0.1", kHostName}, {"a b", kHostName}, {"\"\"", kHostName}};
    case FieldRule::FILE_MODE:
      return {{"rw", kFileMode}, {"0888", kFileMode}, {"66", kFileMode}, {"06600", kFileMode}};
    default:
      return {{"\"\"", kEmptyText}};
  }
}

// A value in the unit of `bound` that is a little away from it.
std::string Beside(const std::string& bound, double step) {
  const size_t unit = bound.find_first_not_of("-.0123456789");
  double number = 0;
  EXPECT_TRUE(absl::SimpleAtod(bound.substr(0, unit), &number)) << bound;
  return absl::StrCat(absl::StrFormat("%.15g", number + step),
                      unit == std::string::npos ? "" : bound.substr(unit));
}

void AddBounds(const FieldRule& rule, std::vector<std::pair<std::string, CheckCode>>& wrong) {
  const bool negative_is_none = rule.kind() == FieldRule::SIZE && rule.min() == "0B";
  if (!rule.min().empty() && !negative_is_none)
    wrong.emplace_back(Beside(rule.min(), -1), kOutOfRange);
  if (!rule.above().empty()) wrong.emplace_back(rule.above(), kOutOfRange);
  if (!rule.max().empty()) wrong.emplace_back(Beside(rule.max(), 1), kOutOfRange);
}

// Values that the field does not allow as a single value.
std::vector<std::pair<std::string, CheckCode>> WrongValues(const FieldDescriptor& field) {
  const FieldRule& rule = RuleOf(field);
  std::vector<std::pair<std::string, CheckCode>> wrong;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      wrong = {{"x", kWrongType},
               {"1.5", kWrongType},
               {"\"3\"", kWrongType},
               {"99999999999", kWrongType}};
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      wrong = {{"x", kWrongType}, {"\"1\"", kWrongType}, {"nan", kWrongType}, {"inf", kWrongType}};
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      wrong = {{"yes", kWrongType}, {"1", kWrongType}, {"\"true\"", kWrongType}};
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      wrong = {{"nonsense", kUnknownWord}, {"unspecified", kUnknownWord}, {"1", kUnknownWord}};
      break;
    default:
      wrong = WrongTexts(rule);
  }
  AddBounds(rule, wrong);
  const bool unit = rule.kind() == FieldRule::DURATION || rule.kind() == FieldRule::SIZE ||
                    rule.kind() == FieldRule::DURATION_OR_PERCENTILE;
  if (unit && !rule.none()) wrong.emplace_back("none", kNotSwitchedOff);
  return wrong;
}

// `key: value` as all of the message that `to` leads to but what it requires.
void ExpectWrong(const Fields& to, const FieldDescriptor& field, const std::string& value,
                 const Expected& expected) {
  const Descriptor& type = *field.containing_type();
  ExpectFault(Document(to, absl::StrCat(field.name(), ": ", value, ", ", Required(type, &field))),
              expected);
}

void CheckField(const Fields& to, const FieldDescriptor& field) {
  const std::string path = absl::StrCat(PathOf(to), to.empty() ? "" : ".", field.name());
  const int value_column = static_cast<int>(field.name().size()) + 3;
  ExpectWrong(to, field, "~", {kNoValue, 1, path});
  if (field.is_repeated()) {
    ExpectWrong(to, field, "7", {kWrongType, value_column, path});
    ExpectWrong(to, field, "{a: b}", {kWrongType, 1, path});
    ExpectWrong(to, field, "[~]", {kNoValue, value_column, path + "[0]"});
    ExpectWrong(to, field, "[[7]]", {kWrongType, value_column + 1, path + "[0]"});
    if (RuleOf(field).required()) ExpectWrong(to, field, "[]", {kEmptyList, 1, path});
    if (IsMessage(field))
      ExpectWrong(to, field, "[7]", {kWrongType, value_column + 1, path + "[0]"});
  } else {
    ExpectWrong(to, field, "[7]", {kWrongType, 1, path});
    if (!IsMessage(field)) ExpectWrong(to, field, "{a: b}", {kWrongType, 1, path});
  }
  if (IsMessage(field)) return;
  for (const auto& [value, code] : WrongValues(field)) {
    if (field.is_repeated()) {
      ExpectWrong(to, field, "[" + value + "]", {code, value_column + 1, path + "[0]"});
    } else {
      ExpectWrong(to, field, value, {code, value_column, path});
    }
  }
  if (RuleOf(field).required() && RuleOf(field).default_().empty()) {
    ++documents;
    const std::string without = Document(to, Required(*field.containing_type(), &field));
    bool found = false;
    for (const Fault& fault : CheckConfig({{"f", without}}, std::nullopt).faults) {
      found |= fault.code == kMissingField && fault.path == path && fault.line == 1;
    }
    EXPECT_TRUE(found) << path << " is not missed in\n" << without;
  }
}

// Values in place of a message that may be a plain value.
void CheckPlainValue(const Fields& to) {
  const FieldDescriptor& field = *to.back();
  const FieldDescriptor* plain = PlainValueOf(*field.message_type());
  Fields parent = to;
  parent.pop_back();
  const int column = static_cast<int>(field.name().size()) + 3;
  if (plain == nullptr) {
    if (!field.is_repeated()) ExpectWrong(parent, field, "7", {kWrongType, column, PathOf(to)});
    return;
  }
  for (const auto& [value, code] : WrongValues(*plain)) {
    ExpectWrong(parent, field, value, {code, column, PathOf(to)});
  }
}

void CheckMessage(const Fields& to, const Descriptor& type) {
  const std::string path = PathOf(to);
  const std::string prefix = path.empty() ? "" : path + ".";
  ExpectFault(Document(to, "bogus: 1, " + Required(type, nullptr)),
              {kUnknownField, 1, prefix + "bogus"});
  ExpectFault(Document(to, "[a]: 1, " + Required(type, nullptr)), {kKeyNotWord, 1, path});
  for (const std::string& key : KeysOf(type)) {
    const FieldDescriptor& field = *type.FindFieldByName(key);
    CheckField(to, field);
    if (!IsMessage(field)) continue;
    Fields inner = to;
    inner.push_back(&field);
    CheckPlainValue(inner);
    CheckMessage(inner, *field.message_type());
  }
}

TEST(EveryField, RefusesWhatItCannotBeAtItsPlace) {
  documents = 0;
  CheckMessage({}, *config::v1::Config::descriptor());
  EXPECT_GT(documents, 700) << "fields were left out";
}

TEST(EveryField, AcceptsNoneWhereItsRuleSaysSo) {
  for (const char* text :
       {"metrics: {address: none}", "admin: {address: none, grpc_address: none}",
        "access_log: {path: none}", "otlp: none",
        "otlp: {address: \"otel:4317\", headers_file: none}",
        "upstreams: [{name: anywhere, endpoints: [\"authority:\"], keepalive: {interval: none}, "
        "descriptor_set: none}]",
        "policies: [{name: default, timeout: none, hedge: none, idempotency: {key: none}, "
        "retry: {attempt_timeout: none, backoff: {max_advice: none, max_elapsed: none}}, "
        "rate_limit: [{name: a, rate: 1/s, max_wait: none}]}]"}) {
    EXPECT_EQ(FaultsOf(text), "");
  }
}

TEST(EveryField, ThatRefersToAnEntryNamesOneThatExists) {
  ExpectFault("routes: [{\nupstream: nobody}]\n", {kDanglingReference, 11, "routes[0].upstream"});
  ExpectFault("routes: [{upstream: anywhere,\npolicy: nobody}]\n",
              {kDanglingReference, 9, "routes[0].policy"});
}

}  // namespace
}  // namespace levee
