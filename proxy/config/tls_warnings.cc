// SPDX-License-Identifier: Apache-2.0
#include "config/tls_warnings.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;

void WarnOfKey(const std::string& path, const std::string& file, const Positions& positions,
               FaultList& warnings) {
  using std::filesystem::perms;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!IsGiven(file) || error || (status.permissions() & perms::others_read) == perms::none) return;
  warnings.Add(positions.Find(path + ".key"), CheckCode::kExposedKey,
               absl::StrCat(Quoted(file), " can be read by every user of the machine; take that ",
                            "permission away: chmod o-r"));
}

// The agent may come later, and `check` may run elsewhere: that nothing is there says nothing.
void WarnOfSocket(const std::string& path, const std::string& socket, const Positions& positions,
                  FaultList& warnings) {
  std::error_code error;
  const std::string file = socket.substr(std::string_view("unix://").size());
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (error || !std::filesystem::exists(status) || std::filesystem::is_socket(status)) return;
  warnings.Add(positions.Find(path + ".spiffe"), CheckCode::kNoWorkloadApi,
               absl::StrCat(Quoted(file), " is there and is no socket"));
}

// An SVID has the name of its workload, and seldom that of a host.
void WarnOfName(const std::string& path, const v1::UpstreamTls& message, const Positions& positions,
                FaultList& warnings) {
  const bool named = IsGiven(message.server_name()) || message.subject_alt_names_size() > 0;
  if (named || message.insecure_skip_verify()) return;
  warnings.Add(positions.Find(path + ".spiffe"), CheckCode::kSvidWithoutName,
               "the service's SVID would have to have the name of its host, which few have; give "
               "subject_alt_names");
}

}  // namespace

void FindTlsWarnings(const v1::Config& config, const Positions& positions, FaultList& warnings) {
  // `what` goes to the one that is not verified.
  const auto warn = [&](const std::string& path, const v1::UpstreamTls& message, const char* what) {
    if (message.insecure_skip_verify()) {
      warnings.Add(positions.Find(path + ".insecure_skip_verify"), CheckCode::kPeerNotVerified,
                   absl::StrCat("any certificate is taken, so ", what,
                                " may go to anybody; give `ca` instead"));
    }
    WarnOfKey(path, message.key(), positions, warnings);
    if (!IsSocket(message.spiffe())) return;
    WarnOfSocket(path, message.spiffe(), positions, warnings);
    WarnOfName(path, message, positions, warnings);
  };
  for (int i = 0; i < config.upstreams_size(); ++i) {
    warn(absl::StrCat("upstreams[", i, "].tls"), config.upstreams(i).tls(), "calls");
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    warn(absl::StrCat("stores[", i, "].tls"), config.stores(i).tls(), "what the store keeps");
  }
  for (int i = 0; i < config.listeners_size(); ++i) {
    const std::string path = absl::StrCat("listeners[", i, "].tls");
    const v1::ListenerTls& message = config.listeners(i).tls();
    WarnOfKey(path, message.key(), positions, warnings);
    if (!IsSocket(message.spiffe())) continue;
    WarnOfSocket(path, message.spiffe(), positions, warnings);
  }
}

}  // namespace levee
