// SPDX-License-Identifier: Apache-2.0
// Writes the manual pages and the completions of the command line: levee_cli_docs VERSION FOLDER.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/cli.h"
#include "cli/completions.h"
#include "cli/man_page.h"

namespace {

void Write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: levee_cli_docs VERSION FOLDER\n");
    return 2;
  }
  const levee::CommandDescription command = levee::DescribeCommandLine();
  const std::filesystem::path folder = argv[2];
  for (const levee::ManPage& page : levee::ManPages(command, argv[1])) {
    Write(folder / "man" / page.file, page.text);
  }
  Write(folder / "completions/bash/levee", levee::BashCompletion(command));
  Write(folder / "completions/zsh/_levee", levee::ZshCompletion(command));
  Write(folder / "completions/fish/levee.fish", levee::FishCompletion(command));
  return 0;
}
