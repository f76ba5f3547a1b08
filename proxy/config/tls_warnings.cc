// SPDX-License-Identifier: Apache-2.0
#include "config/tls_warnings.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "config/read_file.h"
#include "config/values.h"

namespace levee {
namespace {

namespace fs = std::filesystem;
namespace v1 = config::v1;

// Where something is mounted, as this process sees it: proc(5).
std::set<std::string> MountPoints() {
  constexpr size_t kMaxBytes = 16 << 20;
  std::set<std::string> points;
  const absl::StatusOr<std::string> text = ReadFile("/proc/self/mountinfo", kMaxBytes);
  if (!text.ok()) return points;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
    std::string point;
    if (fields.size() > 4 && absl::CUnescape(fields[4], &point)) points.insert(std::move(point));
  }
  return points;
}

class TlsWarnings {
 public:
  TlsWarnings(const Positions& positions, FaultList& warnings)
      : positions_(positions), warnings_(warnings) {}

  // `what` goes to the one that is not verified.
  void CheckClient(const std::string& path, const v1::UpstreamTls& message, const char* what);
  void CheckListener(const std::string& path, const v1::ListenerTls& message);

 private:
  void Add(const std::string& field, CheckCode code, std::string text) {
    warnings_.Add(positions_.Find(field), code, std::move(text));
  }
  void CheckFiles(const std::string& path, const std::string& certificate, const std::string& key);
  void CheckMount(const std::string& field, const std::string& file);
  void CheckSocket(const std::string& path, const std::string& spiffe);
  void CheckNames(const std::string& path, const v1::UpstreamTls& message);

  const Positions& positions_;
  FaultList& warnings_;
  std::optional<std::set<std::string>> mount_points_;  // once they are needed
};

void TlsWarnings::CheckFiles(const std::string& path, const std::string& certificate,
                             const std::string& key) {
  CheckMount(path + ".certificate", certificate);
  CheckMount(path + ".key", key);
  std::error_code error;
  const fs::file_status status = fs::status(key, error);
  if (!IsGiven(key) || error ||
      (status.permissions() & fs::perms::others_read) == fs::perms::none) {
    return;
  }
  Add(path + ".key", CheckCode::kExposedKey,
      absl::StrCat(Quoted(key), " can be read by every user of the machine; remove that ",
                   "permission: chmod o-r"));
}

void TlsWarnings::CheckMount(const std::string& field, const std::string& file) {
  std::error_code error;
  if (!IsGiven(file) || !fs::is_regular_file(file, error)) return;
  if (!mount_points_.has_value()) mount_points_ = MountPoints();
  if (!mount_points_->contains(fs::canonical(file, error).string())) return;
  Add(field, CheckCode::kMountedAlone,
      absl::StrCat(Quoted(file),
                   " is mounted as a single file, for example by subPath, so Levee never sees a "
                   "new file in its ",
                   "place; mount its directory"));
}

// The agent may come later, and `check` may run elsewhere: that nothing is there says nothing.
void TlsWarnings::CheckSocket(const std::string& path, const std::string& spiffe) {
  std::error_code error;
  const std::string file = spiffe.substr(std::string_view("unix://").size());
  const fs::file_status status = fs::status(file, error);
  if (error || !fs::exists(status) || fs::is_socket(status)) return;
  Add(path + ".spiffe", CheckCode::kNoWorkloadApi,
      absl::StrCat(Quoted(file), " exists and is not a socket"));
}

// An SVID has the name of its workload, and seldom that of a host.
void TlsWarnings::CheckNames(const std::string& path, const v1::UpstreamTls& message) {
  const bool named = IsGiven(message.server_name()) || message.subject_alt_names_size() > 0;
  if (named || message.insecure_skip_verify()) return;
  Add(path + ".spiffe", CheckCode::kSvidWithoutName,
      "the service's SVID would need the name of its host, and few SVIDs have one; give "
      "subject_alt_names");
}

void TlsWarnings::CheckClient(const std::string& path, const v1::UpstreamTls& message,
                              const char* what) {
  if (message.insecure_skip_verify()) {
    Add(path + ".insecure_skip_verify", CheckCode::kPeerNotVerified,
        absl::StrCat("any certificate is accepted, so ", what,
                     " may go to anybody; give `ca` instead"));
  }
  if (message.ca() != "system") CheckMount(path + ".ca", message.ca());
  CheckFiles(path, message.certificate(), message.key());
  if (!IsSocket(message.spiffe())) return;
  CheckSocket(path, message.spiffe());
  CheckNames(path, message);
}

void TlsWarnings::CheckListener(const std::string& path, const v1::ListenerTls& message) {
  CheckMount(path + ".client_ca", message.client_ca());
  CheckFiles(path, message.certificate(), message.key());
  if (IsSocket(message.spiffe())) CheckSocket(path, message.spiffe());
}

}  // namespace

void FindTlsWarnings(const v1::Config& config, const Positions& positions, FaultList& warnings) {
  TlsWarnings found(positions, warnings);
  for (int i = 0; i < config.upstreams_size(); ++i) {
    found.CheckClient(absl::StrCat("upstreams[", i, "].tls"), config.upstreams(i).tls(), "calls");
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    found.CheckClient(absl::StrCat("stores[", i, "].tls"), config.stores(i).tls(),
                      "what the store keeps");
  }
  for (int i = 0; i < config.listeners_size(); ++i) {
    found.CheckListener(absl::StrCat("listeners[", i, "].tls"), config.listeners(i).tls());
  }
}

}  // namespace levee
