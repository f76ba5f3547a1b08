// SPDX-License-Identifier: Apache-2.0
// The command `levee import`: policies of other tools as Levee's.
#pragma once

#include <string>

namespace levee {

enum class ImportFormat { kGrpcServiceConfig, kEnvoy };

// Prints the policy that `file` ("-": standard input) stands for on standard output, or what is
// wrong with it on standard error. Returns the exit code.
int RunImport(ImportFormat format, const std::string& file);

}  // namespace levee
