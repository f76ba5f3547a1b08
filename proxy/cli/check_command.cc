#include "cli/check_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "config/load.h"

namespace levee {

int RunCheck(const std::vector<std::string>& files) {
  FaultList unreadable;
  std::vector<ConfigText> texts;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxConfigFileBytes, unreadable);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  // What a file that cannot be read would have had is missing in the others.
  const std::vector<Fault> faults =
      unreadable.empty() ? CheckConfig(texts, std::nullopt).faults : unreadable.Sorted(files);
  if (!faults.empty()) {
    std::printf("%s\n", FormatFaults(faults).c_str());
    return 1;
  }
  for (const std::string& file : files) std::printf("%s: ok\n", file.c_str());
  return 0;
}

}  // namespace levee
