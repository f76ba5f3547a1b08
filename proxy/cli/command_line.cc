// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "cli/help_text.h"

namespace levee {
namespace {

// Help as CLI11 writes it, with lines that fit a terminal.
class FittingHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return FitHelp(CLI::Formatter::make_help(app, std::move(name), mode), get_column_width());
  }
};

Reading::Kind KindOf(const CLI::ParseError& error) {
  // CLI11 throws help and version as "errors" of code 0.
  if (error.get_exit_code() == 0) return Reading::Kind::kText;
  const bool incomplete = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  return incomplete ? Reading::Kind::kIncomplete : Reading::Kind::kFaulty;
}

}  // namespace

CommandOption CommandOption::ValueName(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

CommandOption CommandOption::Required() const {
  option_->required();
  return *this;
}

CommandOption CommandOption::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

CommandOption CommandOption::ShowDefault(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

CommandOption CommandOption::OneOf(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}

CommandOption CommandOption::Within(int least, int most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandOption CommandOption::Within(double least, double most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandOption CommandOption::Check(ValueCheck check) const {
  option_->check(std::move(check));
  return *this;
}

CommandOption CommandOption::Excludes(CommandOption other) const {
  option_->excludes(other.option_);
  return *this;
}

CommandOption CommandOption::Needs(CommandOption other) const {
  option_->needs(other.option_);
  return *this;
}

CommandOption CommandOption::SplitAt(char separator) const {
  option_->delimiter(separator);
  return *this;
}

CommandOption CommandOption::Count(int count) const {
  option_->expected(count);
  return *this;
}

CommandOption CommandOption::NamedEachTime() const {
  option_->allow_extra_args(false);
  return *this;
}

Command Command::AddCommand(const std::string& name, const std::string& what) const {
  return Command(app_->add_subcommand(name, what));
}

CommandOption Command::AddFlag(const std::string& names, bool& variable,
                               const std::string& what) const {
  return CommandOption(app_->add_flag(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, std::string& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, std::optional<std::string>& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, std::vector<std::string>& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, int& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, double& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, uint16_t& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, uint64_t& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, std::optional<uint32_t>& variable,
                                 const std::string& what) const {
  return CommandOption(app_->add_option(names, variable, what));
}

CommandOption Command::AddOption(const std::string& names, ValueReader read,
                                 const std::string& what) const {
  return CommandOption(app_->add_option_function<std::string>(names, std::move(read), what));
}

CommandOption Command::AddCheckedOption(const std::string& name, ValueCheck read,
                                        const std::string& what) const {
  CLI::Option* option = app_->add_option(name, what);
  option->each([name, read = std::move(read)](const std::string& text) {
    const std::string fault = read(text);
    if (!fault.empty()) throw CLI::ValidationError(name, fault);
  });
  return CommandOption(option);
}

void Command::Footer(const std::string& text) const { app_->footer(text); }

void Command::RequireCommand() const { app_->require_subcommand(1); }

std::vector<std::string> Command::CommandNames() const {
  std::vector<std::string> names;
  for (const CLI::App* sub : app_->get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

bool Command::parsed() const { return app_->parsed(); }

CommandLine::CommandLine(const std::string& name, const std::string& about,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(about, name)) {
  app_->formatter(std::make_shared<FittingHelp>());  // The commands below take it over.
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Reading CommandLine::Read(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    app_->exit(error, text, text);
    return {.kind = KindOf(error), .text = text.str()};
  }
  return {};
}

CommandDescription CommandLine::Describe() const { return DescribeCommand(*app_); }

std::vector<ParsedCommand> CommandLine::ParsedCommands() const { return ParsedCommandsOf(*app_); }

}  // namespace levee
