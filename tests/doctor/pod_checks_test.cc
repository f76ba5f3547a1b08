// SPDX-License-Identifier: Apache-2.0
// What is found wrong with Levee in manifests.
#include "doctor/pod_checks.h"

#include <string>

#include "config/read_file.h"
#include "files/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "inject/inject.h"

namespace levee::doctor {
namespace {

using testing::HasSubstr;

constexpr const char* kConfigMap = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: levee}
data:
  levee.yaml: |
    policies: [{name: default}]
    metrics: {address: 0.0.0.0:9461}
---
)";

constexpr const char* kWorkload = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: web:1
)";

std::string Manifest() { return inject::Inject("f", std::string(kConfigMap) + kWorkload, {}).text; }

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// What is not ok.
std::string FoundIn(const std::string& text) {
  Findings findings;
  for (const Finding& finding : CheckPods("f", text)) {
    if (finding.severity != Severity::kOk) findings.push_back(finding);
  }
  return FindingsText(findings);
}

TEST(PodChecks, APodThatWasInjectedIsWell) {
  EXPECT_EQ(FoundIn(Manifest()), "");
  const Findings findings = CheckPods("f", Manifest());
  EXPECT_EQ(findings.size(), 8);
  EXPECT_EQ(findings[0].text, "f: document 2, Deployment web: Levee is a native sidecar");
}

TEST(PodChecks, AFileWithoutLeveeIsAFault) {
  EXPECT_EQ(FoundIn(kWorkload),
            "fault   LD200 f: no pod in it has a container levee; put it in: levee inject -f\n");
  EXPECT_THAT(FoundIn(Replaced(kWorkload, "containers:", "os: {name: windows}\n      containers:")),
              HasSubstr("has a container levee, and none can: the pod runs on windows"));
  EXPECT_THAT(FoundIn("a: ["), HasSubstr("fault   LD200 f:1:"));
}

TEST(PodChecks, AnOrdinaryContainerIsWarnedOf) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "restartPolicy: Always", "tty: false")),
              HasSubstr("warning LD201"));
}

TEST(PodChecks, ContainersThatStartBeforeItAreWarnedOf) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "initContainers:\n",
                               "initContainers:\n        - name: migrate\n")),
              HasSubstr("warning LD202"));
}

TEST(PodChecks, APolicyThatIsNotMountedAsADirectoryIsAFault) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "mountPath: /etc/levee", "mountPath: /etc/other")),
              HasSubstr("fault   LD203"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "mountPath: /etc/levee",
                               "mountPath: /etc/levee\n              subPath: levee.yaml")),
              HasSubstr("fault   LD203"));
}

TEST(PodChecks, AMissingProbeIsWarnedOf) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "startupProbe:", "livenessProbe:")),
              HasSubstr("warning LD204 f: document 2, Deployment web: it has no startupProbe"));
}

TEST(PodChecks, WhatTheRestrictedProfileRefusesIsWarnedOf) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "runAsNonRoot: true", "runAsNonRoot: false")),
              HasSubstr("warning LD205"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "- ALL", "- NET_RAW")), HasSubstr("warning LD205"));
}

TEST(PodChecks, AMissingLimitIsWarnedOf) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "cpu: \"1\"", "ephemeral-storage: 1Mi")),
              HasSubstr("LD206 f: document 2, Deployment web: it has no limit of CPU"));
}

TEST(PodChecks, WhatIsInTheWayIsSaid) {
  EXPECT_THAT(
      FoundIn(Manifest() + "          ports: [{containerPort: 9462}]\n"),
      HasSubstr("fault   LD207 f: document 2, Deployment web: container web has port 9462"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "- name: web", "- name: istio-proxy")),
              HasSubstr("warning LD207"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "volumes:", "os: {name: windows}\n      volumes:")),
              HasSubstr("fault   LD207 f: document 2, Deployment web: the pod runs on windows"));
}

TEST(PodChecks, MetricsThatTheKubeletDoesNotReachAreAFault) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "0.0.0.0:9461", "127.0.0.1:9461")),
              HasSubstr("fault   LD208 f: document 2, Deployment web: the kubelet does not reach"));
}

TEST(PodChecks, FaultsAndWarningsOfThePolicyAreSaid) {
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "policies:", "polices:")), HasSubstr("LV105"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "metrics:", "limits: {memory: 1GiB}\n    metrics:")),
              HasSubstr("warning LD208"));
  EXPECT_THAT(FoundIn(Replaced(Manifest(), "levee.yaml: |", "other.yaml: |")),
              HasSubstr("fault   LD208 f: document 2, Deployment web: ConfigMap levee has no"));
}

TEST(PodChecks, EveryCodeIsInTheDocument) {
  const auto text = ReadFile(SourcePath("docs/doctor.md"), 1 << 20);
  ASSERT_TRUE(text.ok());
  for (const Finding& finding : CheckPods("f", Manifest())) {
    EXPECT_THAT(*text, HasSubstr("| " + finding.code + " | "));
  }
  for (int code = 101; code <= 115; ++code) {
    EXPECT_THAT(*text, HasSubstr("| LD" + std::to_string(code) + " | "));
  }
}

}  // namespace
}  // namespace levee::doctor
