// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_options.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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

void AddFiles(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option("files", files,
                  "policy files (YAML), '-': standard input; several are one configuration, as for "
                  "run")
      ->type_name("FILE")
      ->required();
}

CLI::App* AddExplain(CLI::App& app, ExplainOptions& options) {
  CLI::App* explain =
      app.add_subcommand("explain", "tell what a policy will do with a call, before it does it");
  AddFiles(*explain, options.files);
  ExplainQuestion& call = options.question;
  explain->add_option("--authority", call.authority, "of the call; without it, any matches")
      ->type_name("HOST:PORT");
  explain->add_option("--method", call.method, "of the call, as shop.Cart/Add; likewise");
  explain->add_option("--listener", call.listener,
                      "name of the one that takes the call; without it, the first egress one");
  explain->add_option("--peer", call.peer, "the caller's name by its certificate; likewise")
      ->type_name("NAME");
  explain->add_option("--header", "of the call, for keys of rate limits and for its priority")
      ->each([&call](const std::string& text) {
        const std::string fault = ReadHeader(text, call.headers);
        if (!fault.empty()) throw CLI::ValidationError("--header", fault);
      })
      ->type_name("NAME=VALUE");
  explain
      ->add_option_function<std::string>(
          "--deadline", [&call](const std::string& text) { call.deadline = *ParseDuration(text); },
          "that the caller sets, as 2s")
      ->check([](const std::string& text) {
        const auto duration = ParseDuration(text);
        if (!duration.ok()) return std::string(duration.status().message());
        return std::string(*duration > absl::ZeroDuration() ? "" : "is no time");
      })
      ->type_name("DURATION");
  explain->add_option("-o,--output", options.output, "how it is printed: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  explain->add_option("--html", options.html, "write it to this file as well, with pictures")
      ->type_name("OUT");
  return explain;
}

}  // namespace levee
