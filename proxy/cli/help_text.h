// SPDX-License-Identifier: Apache-2.0
// Lays out what --help prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace levee {

// Help as CLI11 writes it, with lines that fit a terminal of 80 columns.
class HelpText : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace levee
