// SPDX-License-Identifier: Apache-2.0
#include "admin/certificate_message.h"

#include <algorithm>

#include "admin/state_message.h"
#include "settings/certificates.h"

namespace levee {
namespace {

std::string OwnerOf(const OwnCertificate& own) {
  switch (own.of) {
    case OwnCertificate::Of::kUpstream:
      return "upstream " + own.name;
    case OwnCertificate::Of::kListener:
      return "listener " + own.name;
    case OwnCertificate::Of::kStore:
      return "store " + own.name;
  }
  return own.name;
}

std::string FaultOf(const OwnCertificate& own, const ConfigStatus& status,
                    const std::map<std::string, std::string>& identity_faults) {
  if (const auto api = identity_faults.find(own.source); api != identity_faults.end()) {
    return api->second;
  }
  const auto fault = std::find_if(
      status.faults.begin(), status.faults.end(),
      [&own](const std::string& line) { return line.find(own.source) != std::string::npos; });
  return fault == status.faults.end() ? "" : *fault;
}

}  // namespace

std::vector<admin::v1::Certificate> CertificateMessages(
    const ConfigStatus& status, const std::map<std::string, std::string>& identity_faults) {
  std::vector<admin::v1::Certificate> messages;
  for (const OwnCertificate& own : OwnCertificates(*status.snapshot)) {
    admin::v1::Certificate& message = messages.emplace_back();
    message.set_of(OwnerOf(own));
    message.set_source(own.source);
    message.set_identity(ShownText(own.identity));
    if (own.there()) {
      message.set_begins(WallSeconds(own.begins));
      message.set_expires(WallSeconds(own.expires));
    }
    message.set_fault(ShownText(FaultOf(own, status, identity_faults)));
  }
  return messages;
}

}  // namespace levee
