// SPDX-License-Identifier: Apache-2.0
// The command `levee import`: turns the policies of other tools into a policy file of Levee.
#pragma once

#include <string>
#include <vector>

namespace levee {

enum class ImportFormat { kGrpcServiceConfig, kEnvoy, kGatewayApi, kLinkerd, kIstio };

// Reads `files` ("-": standard input) and prints their policy, as a file of Levee, on standard
// output. If they have faults, prints these on standard error instead. Returns the exit code.
int RunImport(ImportFormat format, const std::vector<std::string>& files);

}  // namespace levee
