// SPDX-License-Identifier: Apache-2.0
#include "cli/duration_option.h"

#include "absl/strings/str_cat.h"

namespace levee {

std::function<std::string(const std::string&)> DurationWithin(absl::Duration least,
                                                              absl::Duration most) {
  return [least, most](const std::string& text) -> std::string {
    absl::Duration duration;
    if (absl::ParseDuration(text, &duration) && duration >= least && duration <= most) return "";
    return absl::StrCat("\"", text, "\" is no duration with a unit from ",
                        absl::FormatDuration(least), " to ", absl::FormatDuration(most));
  };
}

CLI::Option* AddDuration(CLI::App& command, const std::string& name, absl::Duration& duration,
                         absl::Duration least, absl::Duration most, const std::string& what) {
  return command
      .add_option_function<std::string>(
          name, [&duration](const std::string& text) { absl::ParseDuration(text, &duration); },
          what)
      ->check(DurationWithin(least, most))
      ->type_name("DURATION")
      ->default_str(absl::FormatDuration(duration));
}

}  // namespace levee
