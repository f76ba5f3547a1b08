// JSON over several lines.
#pragma once

#include <string>

namespace levee {

// `json`, which is valid and in one line, with each object and list either in one line, where that
// has at most 100 columns, or with a line for each of its members. Ends with a line end.
std::string LayOutJson(const std::string& json);

}  // namespace levee
