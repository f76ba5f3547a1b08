// SPDX-License-Identifier: Apache-2.0
// What a pod gets, as YAML: the same as the kustomize components `sidecar`, `guard`, `capture` and
// `hosts` give it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace levee::inject {

// The parts that differ from user to user. The names are without quotes and backslashes.
struct InjectOptions {
  std::string image = "levee";
  std::string config_map = "levee";  // whose levee.yaml is the policy
  bool guard = false;                // a port for calls to the application, too
  // Ports of services whose connections are redirected to Levee, as 50051,9090-9099; empty: none.
  std::string capture;
  std::string capture_image = "levee-capture";
  std::vector<std::string> hosts;  // names of services that /etc/hosts of the pod leads to Levee
  bool any_template = false;       // in objects of kinds that are not known, too
};

inline constexpr const char* kContainerName = "levee";
inline constexpr const char* kCaptureName = "levee-capture";  // the container
inline constexpr const char* kVolumeName = "levee";

// The label by which monitoring and network policies find the pods.
inline constexpr const char* kLabel = "levee";
inline constexpr const char* kLabelValue = "sidecar";

inline constexpr uint16_t kGuardPort = 9450;
inline constexpr uint16_t kCapturePort = 9470;

// The address of the names of `hosts`, by which their entry of hostAliases is known.
inline constexpr const char* kHostsAddress = "127.0.0.1";

// Whom Levee runs as where connections are redirected: those of its own user are not.
inline constexpr const char* kCapturingUser = "9470";

// The ports that Levee binds in a pod by default.
struct BoundPort {
  uint16_t port;
  const char* use;
};
inline constexpr std::array<BoundPort, 4> kBoundPorts = {{
    {9460, "the application's calls"},
    {9461, "metrics"},
    {9462, "its admin page"},
    {9463, "its admin service"},
}};

// Each returns entries in block style, without indentation.
std::string ContainersYaml(const InjectOptions& options);  // of initContainers
std::string VolumeYaml(const InjectOptions& options);      // of volumes
std::string HostsYaml(const InjectOptions& options);       // of hostAliases; may be empty
std::string LabelYaml();                                   // of labels

}  // namespace levee::inject
