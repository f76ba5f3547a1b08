// SPDX-License-Identifier: Apache-2.0
// Measures what the process holds beside blocks.
#pragma once

#include "base/memory_account.h"

namespace levee {

// Tells the account what the process holds beside blocks. That includes what was freed and that
// malloc keeps. If the account is more than plenty with that, malloc gives it back first, so that
// nobody pays for memory that nobody holds. Takes some microseconds, or then milliseconds. Any
// thread.
void MeasureMemory(MemoryAccount& account);

// For each turn of a worker: the same, but only where much has been freed since, and the process
// holds more than the account has, by a 32nd of the limit. Mostly takes nothing. Any thread.
void MeasureFreedMemory(MemoryAccount& account);

}  // namespace levee
