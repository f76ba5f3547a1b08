// SPDX-License-Identifier: Apache-2.0
// Makes the part of levee.admin.v1.State about the certificates that Levee shows to others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "levee/admin/v1/admin.pb.h"
#include "settings/config_status.h"

namespace levee {

// `identity_faults`: as SidecarView has them. Of a certificate from a file, the fault is the one
// of the last reload that names the file.
std::vector<admin::v1::Certificate> CertificateMessages(
    const ConfigStatus& status, const std::map<std::string, std::string>& identity_faults);

}  // namespace levee
