// SPDX-License-Identifier: Apache-2.0
// The limits as the default file and the documents show them.
#pragma once

#include <string>

#include "google/protobuf/descriptor.h"

namespace levee {

// `limits` is message Limits, built with its comments.

// Returns a YAML file with its section "limits:" written anew: a line for each field, with its
// default, below the first sentence of its comment. A top-level comment follows the section.
std::string WithDefaultLimits(const google::protobuf::Descriptor& limits, std::string file);

// Returns a Markdown document with its two tables written anew: a row for each field. A comment
// that begins with "limits of a connection" or "limits of all" stands before a table, and
// "<!-- end -->" behind it.
std::string WithLimitTables(const google::protobuf::Descriptor& limits, std::string document);

}  // namespace levee
