// SPDX-License-Identifier: Apache-2.0
// The command `levee import`: turns the policies of other tools into a policy file of Levee.
#pragma once

#include <string>
#include <vector>

namespace levee {

enum class ImportFormat { kGrpcServiceConfig, kEnvoy, kGatewayApi, kLinkerd, kIstio };

// Reads `files` ("-": standard input) and prints their policy, as a file of Levee, on standard
// output, and on standard error how far their routes are routes of the policy. If the files have
// faults, prints these on standard error instead of a policy. Returns the exit code: with `strict`
// it is 1 unless all routes are exact.
int RunImport(ImportFormat format, const std::vector<std::string>& files, bool strict);

}  // namespace levee
