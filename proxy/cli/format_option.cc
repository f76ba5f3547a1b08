// SPDX-License-Identifier: Apache-2.0
#include "cli/format_option.h"

namespace levee {

CommandOption AddFormat(Command command, std::string& format) {
  return command.AddOption("-o,--output", format, "format of the output: text or json")
      .OneOf({"text", "json"})
      .ValueName("FORMAT")
      .ShowDefault();
}

}  // namespace levee
