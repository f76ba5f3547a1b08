// SPDX-License-Identifier: Apache-2.0
#include "wire/overload_mark.h"

#include <algorithm>
#include <cstdint>

#include "wire/pushback.h"
#include "wire/status_details.h"
#include "wire/structured_field.h"

namespace levee {
namespace {

constexpr std::string_view kMarkField = "levee-overload";
constexpr std::string_view kEnvoyField = "x-envoy-overloaded";

// Returns the text of a parameter; empty if the parameter is missing or has no text.
std::string TextParameter(const StructuredItem& item, std::string_view name) {
  const BareItem* value = item.Parameter(name);
  return value == nullptr ? std::string() : value->text;
}

int HopsParameter(const StructuredItem& item) {
  const BareItem* value = item.Parameter("hops");
  if (value == nullptr || value->type != BareItem::Type::kInteger) return 1;
  return static_cast<int>(std::clamp<int64_t>(value->integer, 1, kMaxOverloadHops));
}

std::optional<OverloadScope> ParseScope(const BareItem& bare) {
  if (bare.type != BareItem::Type::kToken) return std::nullopt;
  for (OverloadScope scope : {OverloadScope::kService, OverloadScope::kEndpoint}) {
    if (bare.text == OverloadScopeName(scope)) return scope;
  }
  return std::nullopt;
}

std::optional<OverloadMark> FindLeveeMark(const Metadata& trailers) {
  // Several fields stand for their values joined by commas, and that is not an item.
  if (trailers.Count(kMarkField) != 1) return std::nullopt;
  const std::optional<StructuredItem> item = ParseStructuredItem(trailers.Get(kMarkField));
  if (!item) return std::nullopt;
  const std::optional<OverloadScope> scope = ParseScope(item->bare);
  if (!scope) return std::nullopt;
  OverloadMark mark;
  mark.scope = *scope;
  mark.reason = TextParameter(*item, "reason");
  mark.upstream = TextParameter(*item, "upstream");
  mark.hops = HopsParameter(*item);
  return mark;
}

OverloadMark BareMark(OverloadMark::Signal signal, OverloadScope scope, RefusalReason reason) {
  OverloadMark mark;
  mark.signal = signal;
  mark.scope = scope;
  mark.reason = std::string(RefusalReasonName(reason));
  return mark;
}

void AppendParameter(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out.push_back(';');
  out.append(name);
  out.push_back('=');
  AppendTokenOrString(value, out);
}

}  // namespace

std::optional<OverloadMark> FindOverloadMark(const Metadata& trailers, HonoredSignals honored) {
  if (honored.levee) {
    if (std::optional<OverloadMark> mark = FindLeveeMark(trailers)) return mark;
  }
  if (honored.error_info) {
    if (std::optional<OverloadMark> mark = FindMarkInDetails(trailers)) return mark;
  }
  if (honored.pushback && ParsePushback(trailers).kind == Pushback::Kind::kDoNotRetry) {
    return BareMark(OverloadMark::Signal::kPushback, OverloadScope::kService,
                    RefusalReason::kPushback);
  }
  if (honored.envoy && trailers.Has(kEnvoyField)) {
    return BareMark(OverloadMark::Signal::kEnvoy, OverloadScope::kEndpoint,
                    RefusalReason::kOverloadMark);
  }
  return std::nullopt;
}

std::string FormatOverloadMark(const OverloadMark& mark) {
  std::string text(OverloadScopeName(mark.scope));
  AppendParameter("reason", mark.reason, text);
  AppendParameter("upstream", mark.upstream, text);
  text.append(";hops=");
  text.append(std::to_string(std::clamp(mark.hops, 1, kMaxOverloadHops)));
  return text;
}

void AddOverloadMark(const OverloadMark& mark, Metadata& trailers) {
  if (trailers.Has(kMarkField)) return;
  trailers.Add(kMarkField, FormatOverloadMark(mark));
  if (mark.scope == OverloadScope::kService) trailers.Set("grpc-retry-pushback-ms", "-1");
}

void ApplyOverloadMark(const MarkedStatus& status, Metadata& trailers) {
  // Reads the details that are there, hence before they are replaced.
  const std::string details = MarkedDetails(status, trailers);
  trailers.Set("grpc-status", std::to_string(static_cast<int>(status.code)));
  trailers.Set("grpc-message", PercentEncode(status.message));
  if (status.mark.scope == OverloadScope::kService) {
    trailers.Set("grpc-retry-pushback-ms", "-1");
  } else if (status.pushback.has_value()) {
    trailers.Set("grpc-retry-pushback-ms", PushbackText(*status.pushback));
  }
  trailers.Set(kMarkField, FormatOverloadMark(status.mark));
  trailers.Set("grpc-status-details-bin", details);
}

}  // namespace levee
