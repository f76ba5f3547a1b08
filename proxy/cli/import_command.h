// SPDX-License-Identifier: Apache-2.0
// The command `levee import`: turns the policies of other tools into a policy file of Levee.
#pragma once

#include <string>

namespace levee {

enum class ImportFormat { kGrpcServiceConfig, kEnvoy };

// Reads `file` ("-": standard input) and prints its policy, as a file of Levee, on standard output.
// If the file has faults, prints these on standard error instead. Returns the exit code.
int RunImport(ImportFormat format, const std::string& file);

}  // namespace levee
