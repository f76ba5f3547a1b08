// SPDX-License-Identifier: Apache-2.0
#include "inject/sidecar_yaml.h"

#include "absl/strings/str_cat.h"

namespace levee::inject {
namespace {

constexpr const char* kUser = "65532";

constexpr const char* kBegin = R"(- name: levee
  image: ")";

constexpr const char* kRun = R"("
  restartPolicy: Always
  args:
    - run
    - --config=/etc/levee/levee.yaml
    - --workers=$(LEVEE_WORKERS)
  env:
    - name: LEVEE_WORKERS
      valueFrom:
        resourceFieldRef:
          containerName: levee
          resource: limits.cpu
          divisor: "1"
  ports:
)";

constexpr const char* kIngress = R"(    - name: levee-ingress
      containerPort: 9450
      protocol: TCP
)";

constexpr const char* kMetrics = R"(    - name: levee-metrics
      containerPort: 9461
      protocol: TCP
)";

// The hook runs as the pod begins to stop, while its application still serves.
constexpr const char* kPreStop = R"(  lifecycle:
    preStop:
      exec:
        command:
          - /usr/bin/levee
          - drain
)";

constexpr const char* kRest = R"(  startupProbe:
    httpGet:
      path: /readyz
      port: levee-metrics
    periodSeconds: 1
    timeoutSeconds: 3
    failureThreshold: 30
  readinessProbe:
    httpGet:
      path: /readyz
      port: levee-metrics
    periodSeconds: 5
    timeoutSeconds: 3
  resources:
    requests:
      cpu: 20m
      memory: 32Mi
    limits:
      cpu: "1"
      memory: 128Mi
  securityContext:
    runAsNonRoot: true
    runAsUser: )";

constexpr const char* kGroup = R"(
    runAsGroup: )";

constexpr const char* kEnd = R"(
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    privileged: false
    capabilities:
      drop:
        - ALL
    seccompProfile:
      type: RuntimeDefault
  volumeMounts:
    - name: levee
      mountPath: /etc/levee
      readOnly: true
)";

constexpr const char* kCaptureBegin = R"(- name: levee-capture
  image: ")";

constexpr const char* kCapturePorts = R"("
  args:
    - capture
    - --backend=nft
    - --ports=$(LEVEE_CAPTURE_PORTS)
    - --to=9470
    - --uid=9470
  env:
    - name: LEVEE_CAPTURE_PORTS
      value: ")";

constexpr const char* kCaptureEnd = R"("
  resources:
    requests:
      cpu: 10m
      memory: 16Mi
    limits:
      cpu: 200m
      memory: 64Mi
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    privileged: false
    capabilities:
      drop:
        - ALL
      add:
        - NET_ADMIN
    seccompProfile:
      type: RuntimeDefault
)";

std::string CaptureYaml(const InjectOptions& options) {
  if (options.capture.empty()) return "";
  return absl::StrCat(kCaptureBegin, options.capture_image, kCapturePorts, options.capture,
                      kCaptureEnd);
}

}  // namespace

// Levee is ready before the first connection is redirected.
std::string ContainersYaml(const InjectOptions& options) {
  const char* const user = options.capture.empty() ? kUser : kCapturingUser;
  return absl::StrCat(kBegin, options.image, kRun, options.guard ? kIngress : "", kMetrics,
                      options.guard ? kPreStop : "", kRest, user, kGroup, user, kEnd,
                      CaptureYaml(options));
}

std::string VolumeYaml(const InjectOptions& options) {
  return absl::StrCat("- name: ", kVolumeName, "\n  configMap:\n    name: \"", options.config_map,
                      "\"\n");
}

std::string HostsYaml(const InjectOptions& options) {
  if (options.hosts.empty()) return "";
  std::string yaml = absl::StrCat("- ip: ", kHostsAddress, "\n  hostnames:\n");
  for (const std::string& name : options.hosts) absl::StrAppend(&yaml, "    - \"", name, "\"\n");
  return yaml;
}

std::string LabelYaml() { return absl::StrCat(kLabel, ": ", kLabelValue, "\n"); }

}  // namespace levee::inject
