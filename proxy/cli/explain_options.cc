// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_options.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/format_option.h"
#include "config/header_names.h"
#include "config/values.h"

namespace levee {
namespace {

// Reads "NAME=VALUE" into `headers`. Returns what is wrong with the text; empty if nothing is.
std::string ReadHeader(const std::string& text,
                       std::vector<std::pair<std::string, std::string>>& headers) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return absl::StrCat("\"", text, "\" is not NAME=VALUE");
  const auto name = ParseHeaderName(text.substr(0, equals));
  if (!name.ok()) return std::string(name.status().message());
  headers.emplace_back(*name, text.substr(equals + 1));
  return "";
}

}  // namespace

void AddFiles(Command command, std::vector<std::string>& files) {
  command
      .AddOption("files", files,
                 "policy files (YAML); '-' is standard input. Several files are one configuration, "
                 "as for run")
      .ValueName("FILE")
      .Required();
}

Command AddExplain(Command app, ExplainOptions& options) {
  Command explain = app.AddCommand("explain", "say what a policy will do with a call");
  AddFiles(explain, options.files);
  ExplainQuestion& call = options.question;
  explain
      .AddOption("--authority", call.authority,
                 "authority of the call; without it, every route's authority matches")
      .ValueName("HOST:PORT");
  explain.AddOption(
      "--method", call.method,
      "method of the call, such as shop.Cart/Add; without it, every route's method matches");
  explain.AddOption(
      "--listener", call.listener,
      "name of the listener that takes the call; without it, the first egress listener");
  explain
      .AddOption("--peer", call.peer,
                 "the caller's name by its certificate; without it, every route's peer matches")
      .ValueName("NAME");
  explain
      .AddCheckedOption(
          "--header", [&call](const std::string& text) { return ReadHeader(text, call.headers); },
          "header of the call, for routes, keys of rate limits and its priority")
      .ValueName("NAME=VALUE");
  explain
      .AddOption(
          "--deadline", [&call](const std::string& text) { call.deadline = *ParseDuration(text); },
          "deadline that the caller sets, such as 2s")
      .Check([](const std::string& text) {
        const auto duration = ParseDuration(text);
        if (!duration.ok()) return std::string(duration.status().message());
        return std::string(*duration > absl::ZeroDuration() ? "" : "is no time");
      })
      .ValueName("DURATION");
  AddFormat(explain, options.output);
  explain.AddOption("--html", options.html, "also write the result with pictures to this file")
      .ValueName("OUT");
  return explain;
}

}  // namespace levee
