// SPDX-License-Identifier: Apache-2.0
// A program that runs as a child of the tests.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace levee {

// How long a test waits for what must happen. Only a test that fails waits for so long: a loaded
// machine takes seconds for what takes milliseconds, and must not make one.
inline constexpr std::chrono::seconds kPatience{120};

// What would take so long has not happened when a test ends.
inline constexpr std::chrono::hours kLongerThanAnyTest{1};

// Starts on construction; killed and reaped by the destructor, and by the kernel should the tests
// crash. One thread, which must outlive it.
class Child {
 public:
  Child(const std::string& program, const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pid() const { return pid_; }

  // The next line of its standard output, without line end; nullopt at the end or after kPatience.
  std::optional<std::string> ReadLine();

  // Nobody reads its standard output any more.
  void CloseOutput();

  // Returns its standard error so far.
  std::string Errors() const;

  void Signal(int signal) const;

  // Whether it has ended, by itself or by a signal.
  bool HasEnded() const;

  // Its exit code, or 128 and the signal that ended it; nullopt if it still runs after kPatience.
  std::optional<int> WaitForExit();

  // Memory in use by the process alone, from the kernel's accounts.
  long ResidentBytes() const;

  // Of all its threads so far.
  std::chrono::nanoseconds CpuTime() const;

 private:
  bool WaitReadable(int fd) const;

  int pid_ = -1;
  int pidfd_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string unread_;
  std::optional<int> exit_;
};

// The output and exit code of a program that ended by itself.
struct Ended {
  std::optional<int> exit;
  std::string output;
  std::string errors;
};
Ended RunToEnd(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace levee
