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
  if (equals == std::string::npos) return absl::StrCat("\"", text, "\" is no NAME=VALUE");
  const auto name = ParseHeaderName(text.substr(0, equals));
  if (!name.ok()) return std::string(name.status().message());
  headers.emplace_back(*name, text.substr(equals + 1));
  return "";
}

}  // namespace

void AddFiles(Command command, std::vector<std::string>& files) {
  command
      .AddOption("files", files,
                 "policy files (YAML), '-': standard input; several are one configuration, as for "
                 "run")
      .ValueName("FILE")
      .Required();
}

Command AddExplain(Command app, ExplainOptions& options) {
  Command explain =
      app.AddCommand("explain", "tell what a policy will do with a call, before it does it");
  AddFiles(explain, options.files);
  ExplainQuestion& call = options.question;
  explain.AddOption("--authority", call.authority, "of the call; without it, any matches")
      .ValueName("HOST:PORT");
  explain.AddOption("--method", call.method, "of the call, as shop.Cart/Add; likewise");
  explain.AddOption("--listener", call.listener,
                    "name of the one that takes the call; without it, the first egress one");
  explain.AddOption("--peer", call.peer, "the caller's name by its certificate; likewise")
      .ValueName("NAME");
  explain
      .AddCheckedOption(
          "--header", [&call](const std::string& text) { return ReadHeader(text, call.headers); },
          "of the call, for keys of rate limits and for its priority")
      .ValueName("NAME=VALUE");
  explain
      .AddOption(
          "--deadline", [&call](const std::string& text) { call.deadline = *ParseDuration(text); },
          "that the caller sets, as 2s")
      .Check([](const std::string& text) {
        const auto duration = ParseDuration(text);
        if (!duration.ok()) return std::string(duration.status().message());
        return std::string(*duration > absl::ZeroDuration() ? "" : "is no time");
      })
      .ValueName("DURATION");
  AddFormat(explain, options.output);
  explain.AddOption("--html", options.html, "write it to this file as well, with pictures")
      .ValueName("OUT");
  return explain;
}

}  // namespace levee
