// SPDX-License-Identifier: Apache-2.0
// The real binary, with a configuration of a test's own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/child.h"

namespace levee {

// The parts of a configuration that tests change; YAML in each. One listener "egress" and the
// metrics on ports of the system's choice, one upstream "shop", one policy "test" for all calls. To
// connect may take as long as on a machine that does other things as well, unless `upstream` says.
struct ConfigParts {
  std::vector<std::string> endpoints;
  std::string retry = "{}";   // the policy's `retry`
  std::string policy = "";    // more fields of the policy: ", timeout: 1s"
  std::string route = "";     // more fields of the route, before the others
  std::string upstream = "";  // more fields of the upstream
  std::string listener = "";  // more fields of the listener
  std::string admin = "{address: none}";
  std::string more = "";  // more sections
};
std::string SidecarConfigText(const ConfigParts& parts);

// A `retry` of one attempt, whose status the caller gets as it is.
inline constexpr char kOnce[] = "{max_attempts: 1, exhausted: keep}";

// Writes a text file that exists anew, in place, and such that a reader never sees it half written:
// what is left of a longer text becomes empty lines.
void RewriteFile(const std::string& path, const std::string& text);

// A temporary file; removed by the destructor.
class TempFile {
 public:
  explicit TempFile(const std::string& text);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A running sidecar. The destructor ends it, fails the test if that is not an orderly end, and
// tells what it had to say if the test has failed. One thread.
class SidecarProcess {
 public:
  // levee run --config FILE ARGUMENTS...
  explicit SidecarProcess(const ConfigParts& parts, const std::vector<std::string>& arguments = {});
  // levee run ARGUMENTS...
  static std::unique_ptr<SidecarProcess> Run(std::vector<std::string> arguments);
  // levee run --config FILE with `resolv_conf` for /etc/resolv.conf, in a mount namespace of its
  // own. Needs MayMount.
  static std::unique_ptr<SidecarProcess> RunWithResolvConf(const ConfigParts& parts,
                                                           const std::string& resolv_conf);
  static bool MayMount();
  // levee run ARGUMENTS --config FILE in the cgroup with this cgroup.procs, from its first
  // instruction on.
  static std::unique_ptr<SidecarProcess> RunInCgroup(const ConfigParts& parts,
                                                     const std::string& procs) {
    return RunInCgroup(SidecarConfigText(parts), procs);
  }
  static std::unique_ptr<SidecarProcess> RunInCgroup(const std::string& config_text,
                                                     const std::string& procs,
                                                     const std::string& arguments = "");
  // levee run ARGUMENTS --config FILE, with standard error at `path`.
  static std::unique_ptr<SidecarProcess> RunWithErrorsTo(const std::string& path,
                                                         const ConfigParts& parts,
                                                         const std::string& arguments);
  ~SidecarProcess();
  SidecarProcess(const SidecarProcess&) = delete;
  SidecarProcess& operator=(const SidecarProcess&) = delete;

  // "127.0.0.1:PORT" of a listener, or of "metrics".
  const std::string& address(const std::string& name = "egress") const;

  // The same of an address that is announced in time, by a reload.
  const std::string& AwaitAddress(const std::string& name);

  // Writes the configuration file anew, in place; it is noticed.
  void Rewrite(const ConfigParts& parts) { RewriteText(SidecarConfigText(parts)); }
  void RewriteText(const std::string& text);

  // All values of /metrics at one moment, each by its series, named as it stands there.
  std::map<std::string, double> Scrape() const;

  // One value of /metrics, named as it stands there: levee_calls_total{upstream="shop",...}.
  // 0 if there is no such series: those with open label sets begin to exist when they count.
  double Metric(const std::string& series) const;

  // The sum over all series of that name whose labels contain each of `labels`:
  // Sum("levee_calls_total", {R"(code="OK")"}).
  double Sum(std::string_view name, const std::vector<std::string>& labels = {}) const;

  // Scrapes until the sum is `value`; false after kPatience. For what is counted a moment after
  // the caller has its answer.
  bool WaitForSum(std::string_view name, const std::vector<std::string>& labels,
                  double value) const;

  // As WaitForSum, but until it is at least `least`.
  bool WaitForSumAtLeast(std::string_view name, const std::vector<std::string>& labels,
                         double least) const;

  // HTTP status of a path on the metrics address.
  int HttpStatus(const std::string& path) const;

  Child& process() { return *child_; }
  const Child& process() const { return *child_; }

 private:
  SidecarProcess() = default;

  template <typename Enough>
  bool WaitFor(std::string_view name, const std::vector<std::string>& labels,
               const Enough& enough) const;
  void Start(std::vector<std::string> arguments);
  void Start(const std::string& program, const std::vector<std::string>& arguments);

  std::unique_ptr<TempFile> config_;
  std::unique_ptr<TempFile> resolv_conf_;
  std::unique_ptr<Child> child_;
  std::map<std::string, std::string> addresses_;
};

}  // namespace levee
