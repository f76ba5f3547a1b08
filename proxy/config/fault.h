// SPDX-License-Identifier: Apache-2.0
// A fault of a configuration, or a warning about it, and its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/check_code.h"

namespace levee {

// The place at which a value of the configuration was given.
struct Place {
  std::string file;  // as on the command line; an option, as "--to"; "built-in default"
  int line = 0;      // 1-based; 0: the file as a whole
  int column = 0;    // 1-based, in bytes
  std::string path;  // "policies[0].retry.max_attempts" as counted in that file; may be empty
};

// The places of an entry of a list with names, and of the entry of a later file that has replaced
// it because it has the same name.
struct ReplacedEntry {
  Place earlier;
  Place later;
};

// Returns "levee.yaml:3:14: listeners[0].address", without the parts that are not known.
std::string FormatPlace(const Place& place);

// Returns a user's text as messages show it: in quotes, control characters escaped, cut when long.
std::string Quoted(const std::string& text);

// A fault, or a warning if its code is a warning's.
struct Fault {
  std::string file;
  int line = 0;
  int column = 0;
  std::string path;
  CheckCode code = CheckCode::kNone;
  std::string text;  // what is wrong; what is allowed or meant
};

// Returns "FILE:LINE:COL: LV101 field.path: what is wrong; what is allowed or meant"; for a warning
// "FILE:LINE:COL: LV901 field.path: warning: ...". Unknown parts are left out.
std::string FormatFault(const Fault& fault);

// Collects faults, or warnings, so that all of them are reported at once.
class FaultList {
 public:
  // A broken template can repeat one mistake in every entry; faults beyond this are only counted.
  static constexpr int kMaxFaults = 200;

  // `beyond`: the code of the last entry if there are more faults than kMaxFaults.
  explicit FaultList(CheckCode beyond = CheckCode::kMoreFaults) : beyond_(beyond) {}

  void Add(const Place& place, CheckCode code, std::string text);
  void Add(const FaultList& others);

  bool empty() const { return faults_.empty(); }

  // True if further faults are only counted: their texts need not be made.
  bool full() const { return faults_.size() >= kMaxFaults; }

  // Returns the faults in the order of `files`, then of lines; places outside of `files` come last.
  // If there are faults beyond kMaxFaults, one last entry says how many.
  std::vector<Fault> Sorted(const std::vector<std::string>& files) const;

 private:
  CheckCode beyond_;
  std::vector<Fault> faults_;
  int dropped_ = 0;
};

// Returns one line per fault.
std::string FormatFaults(const std::vector<Fault>& faults);

}  // namespace levee
