// SPDX-License-Identifier: Apache-2.0
// When the code that only the start needed leaves memory, and when it stays.
#include "net/process_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace levee::net {
namespace {

// Part of the program's file, on pages of its own that nobody writes.
alignas(65536) constexpr char kCode[65536] = {'a'};

// As it is in memory now, whatever the compiler knows of it.
char CodeNow() { return *static_cast<const volatile char*>(kCode); }

// Writes into the program as a debugger does that sets a breakpoint.
void SetBreakpoint() {
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  const char changed = 'b';
  const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(&kCode[0]));
  if (pwrite(memory, &changed, 1, at) != 1) _exit(2);
  close(memory);
}

// The exit code of a process of its own that runs `body`.
template <typename Body>
int InChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

// 'a': the page was released and read from the file again; 'b': it was kept.
int AfterRelease() {
  SetBreakpoint();
  ReleaseCodePages();
  return CodeNow();
}

TEST(ReleaseCodePages, GivesBackWhatTheFileStillHas) { EXPECT_EQ(InChild(AfterRelease), 'a'); }

TEST(ReleaseCodePages, KeepsBreakpointsWhileADebuggerIsAttached) {
  EXPECT_EQ(InChild([] {
              if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 3;
              return AfterRelease();
            }),
            'b');
}

TEST(ReleaseCodePages, KeepsEverythingWhenAskedTo) {
  EXPECT_EQ(InChild([] {
              KeepCodePages();
              return AfterRelease();
            }),
            'b');
}

TEST(IsTraced, ReadsTheTracersPid) {
  EXPECT_TRUE(IsTraced("Name:\tlevee\nTracerPid:\t12\nUid:\t0\n"));
  EXPECT_FALSE(IsTraced("Name:\tlevee\nTracerPid:\t0\nUid:\t0\n"));
  EXPECT_FALSE(IsTraced("Name:\tTracerPid:\t12\n"));
  EXPECT_FALSE(IsTraced(""));
}

}  // namespace
}  // namespace levee::net
