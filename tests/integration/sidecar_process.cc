// SPDX-License-Identifier: Apache-2.0
#include "integration/sidecar_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "gtest/gtest.h"
#include "integration/eventually.h"
#include "integration/tcp.h"

namespace levee {

std::string SidecarConfigText(const ConfigParts& parts) {
  std::string endpoints;
  for (const std::string& endpoint : parts.endpoints) {
    endpoints += (endpoints.empty() ? "\"" : ", \"") + endpoint + "\"";
  }
  const bool says = parts.upstream.find("connect_timeout") != std::string::npos;
  const std::string patience = says ? "" : ", connect_timeout: 2m";
  return "listeners: [{name: egress, address: \"127.0.0.1:0\"" + parts.listener +
         "}]\n"
         "metrics: {address: \"127.0.0.1:0\"}\n"
         "admin: " +
         parts.admin +
         "\n"
         "upstreams: [{name: shop, endpoints: [" +
         endpoints + "]" + patience + parts.upstream +
         "}]\n"
         "routes: [{" +
         parts.route +
         "upstream: shop, policy: test}]\n"
         "policies: [{name: test, retry: " +
         parts.retry + parts.policy + "}]\n" + parts.more;
}

void RewriteFile(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const auto before = static_cast<size_t>(std::max(lseek(fd, 0, SEEK_END), off_t{0}));
  if (text.empty()) {
    EXPECT_EQ(ftruncate(fd, 0), 0) << path;
  } else {
    const std::string all = text + std::string(before - std::min(before, text.size()), '\n');
    EXPECT_EQ(pwrite(fd, all.data(), all.size(), 0), static_cast<ssize_t>(all.size())) << path;
  }
  close(fd);
}

TempFile::TempFile(const std::string& text) : path_(testing::TempDir() + "levee-XXXXXX") {
  const int fd = mkstemp(path_.data());
  EXPECT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(fd);
}

TempFile::~TempFile() { unlink(path_.c_str()); }

SidecarProcess::SidecarProcess(const ConfigParts& parts, const std::vector<std::string>& arguments)
    : config_(std::make_unique<TempFile>(SidecarConfigText(parts))) {
  std::vector<std::string> all = {"--config", config_->path()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Start(std::move(all));
}

std::unique_ptr<SidecarProcess> SidecarProcess::Run(std::vector<std::string> arguments) {
  std::unique_ptr<SidecarProcess> sidecar(new SidecarProcess);
  sidecar->Start(std::move(arguments));
  return sidecar;
}

bool SidecarProcess::MayMount() { return RunToEnd("/usr/bin/unshare", {"-m", "true"}).exit == 0; }

std::unique_ptr<SidecarProcess> SidecarProcess::RunWithResolvConf(const ConfigParts& parts,
                                                                  const std::string& resolv_conf) {
  std::unique_ptr<SidecarProcess> sidecar(new SidecarProcess);
  sidecar->config_ = std::make_unique<TempFile>(SidecarConfigText(parts));
  sidecar->resolv_conf_ = std::make_unique<TempFile>(resolv_conf);
  const std::string script = "mount --bind " + sidecar->resolv_conf_->path() +
                             " /etc/resolv.conf && exec " LEVEE_BINARY " run --config " +
                             sidecar->config_->path();
  sidecar->Start("/usr/bin/unshare", {"-m", "sh", "-c", script});
  return sidecar;
}

std::unique_ptr<SidecarProcess> SidecarProcess::RunInCgroup(const std::string& config_text,
                                                            const std::string& procs,
                                                            const std::string& arguments) {
  std::unique_ptr<SidecarProcess> sidecar(new SidecarProcess);
  sidecar->config_ = std::make_unique<TempFile>(config_text);
  sidecar->Start("/bin/sh", {"-c", "echo $$ > " + procs + " && exec " LEVEE_BINARY " run " +
                                       arguments + " --config " + sidecar->config_->path()});
  return sidecar;
}

std::unique_ptr<SidecarProcess> SidecarProcess::RunWithErrorsTo(const std::string& path,
                                                                const ConfigParts& parts,
                                                                const std::string& arguments) {
  return RunInCgroup(SidecarConfigText(parts), "/dev/null", arguments + " 2> " + path);
}

void SidecarProcess::Start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "run");
  Start(LEVEE_BINARY, arguments);
}

void SidecarProcess::Start(const std::string& program, const std::vector<std::string>& arguments) {
  child_ = std::make_unique<Child>(program, arguments);
  AwaitAddress("metrics");
}

const std::string& SidecarProcess::AwaitAddress(const std::string& awaited) {
  while (!addresses_.contains(awaited)) {
    const auto line = child_->ReadLine();
    if (!line.has_value()) break;
    std::istringstream words(*line);
    std::string listening, name, address;
    words >> listening >> name >> address;
    EXPECT_EQ(listening, "listening") << *line;
    addresses_[name] = address;
  }
  EXPECT_TRUE(addresses_.contains(awaited)) << child_->Errors();
  return address(awaited);
}

void SidecarProcess::RewriteText(const std::string& text) { RewriteFile(config_->path(), text); }

SidecarProcess::~SidecarProcess() {
  // Two signals end it at once, whatever it is doing, and a leak would show in its exit code. They
  // differ, since two alike that are pending are one.
  child_->Signal(SIGTERM);
  child_->Signal(SIGINT);
  EXPECT_EQ(child_->WaitForExit(), 0);
  if (testing::Test::HasFailure()) {
    std::fprintf(stderr, "the sidecar said:\n%s\n", child_->Errors().c_str());
  }
}

const std::string& SidecarProcess::address(const std::string& name) const {
  static const std::string nowhere = "127.0.0.1:1";
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? nowhere : found->second;
}

std::map<std::string, double> SidecarProcess::Scrape() const {
  const HttpAnswer answer = HttpGet(address("metrics"), "/metrics");
  EXPECT_EQ(answer.status, 200);
  std::map<std::string, double> values;
  std::istringstream lines(answer.body);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    values[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
  }
  return values;
}

double SidecarProcess::Metric(const std::string& series) const {
  const auto values = Scrape();
  const auto found = values.find(series);
  return found == values.end() ? 0 : found->second;
}

double SidecarProcess::Sum(std::string_view name, const std::vector<std::string>& labels) const {
  double sum = 0;
  for (const auto& [series, value] : Scrape()) {
    bool counts = series.substr(0, series.find('{')) == name;
    for (const std::string& label : labels) {
      counts = counts && series.find(label) != std::string::npos;
    }
    if (counts) sum += value;
  }
  return sum;
}

template <typename Enough>
bool SidecarProcess::WaitFor(std::string_view name, const std::vector<std::string>& labels,
                             const Enough& enough) const {
  double last = 0;
  const bool is_enough = Eventually([&] {
    last = Sum(name, labels);
    return enough(last);
  });
  EXPECT_TRUE(is_enough) << name << " is still " << last;
  return is_enough;
}

bool SidecarProcess::WaitForSum(std::string_view name, const std::vector<std::string>& labels,
                                double value) const {
  return WaitFor(name, labels, [value](double sum) { return sum == value; });
}

bool SidecarProcess::WaitForSumAtLeast(std::string_view name,
                                       const std::vector<std::string>& labels, double least) const {
  return WaitFor(name, labels, [least](double sum) { return sum >= least; });
}

int SidecarProcess::HttpStatus(const std::string& path) const {
  return HttpGet(address("metrics"), path).status;
}

}  // namespace levee
