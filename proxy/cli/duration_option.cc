// SPDX-License-Identifier: Apache-2.0
#include "cli/duration_option.h"

#include "absl/strings/str_cat.h"

namespace levee {

ValueCheck DurationWithin(absl::Duration least, absl::Duration most) {
  return [least, most](const std::string& text) -> std::string {
    absl::Duration duration;
    if (absl::ParseDuration(text, &duration) && duration >= least && duration <= most) return "";
    return absl::StrCat("\"", text, "\" is not a duration with a unit from ",
                        absl::FormatDuration(least), " to ", absl::FormatDuration(most));
  };
}

CommandOption AddDuration(Command command, const std::string& name, absl::Duration& duration,
                          absl::Duration least, absl::Duration most, const std::string& what) {
  return command
      .AddOption(
          name, [&duration](const std::string& text) { absl::ParseDuration(text, &duration); },
          what)
      .Check(DurationWithin(least, most))
      .ValueName("DURATION")
      .ShowDefault(absl::FormatDuration(duration));
}

}  // namespace levee
