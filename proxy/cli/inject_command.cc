// SPDX-License-Identifier: Apache-2.0
#include "cli/inject_command.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/capture_rules.h"
#include "cli/input.h"
#include "cli/print_faults.h"
#include "inject/inject.h"

namespace levee {
namespace {

// Enough for all workloads of a namespace, as kubectl prints them.
constexpr size_t kMaxManifestBytes = 16 << 20;

// No name has these, with dots around it.
constexpr const char* kNoLabel[] = {"..", ".-", "-."};

constexpr char kImageCharacters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";

// Returns a check that a text is a name of these characters.
ValueCheck NameOf(const char* what, const char* allowed) {
  return [what, allowed](const std::string& text) -> std::string {
    const bool good = !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
                      text.find_first_not_of(allowed) == std::string::npos;
    return good ? "" : absl::StrCat("\"", text, "\" is not the name of ", what);
  };
}

// A ValueCheck. /etc/hosts has no other names, and localhost is the pod's own.
std::string IsServiceName(const std::string& text) {
  const std::string parts = absl::StrCat(".", text, ".");
  const bool good =
      text.size() <= 253 && text != "localhost" &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos &&
      std::none_of(std::begin(kNoLabel), std::end(kNoLabel),
                   [&](const char* edge) { return parts.find(edge) != std::string::npos; });
  return good ? "" : absl::StrCat("\"", text, "\" is not the name of a service; say cart.shop");
}

// A ValueCheck.
std::string IsPorts(const std::string& text) {
  const auto ports = ParsePorts(text);
  return ports.ok() ? "" : std::string(ports.status().message());
}

}  // namespace

Command AddInject(Command app, InjectCommandOptions& options) {
  Command inject =
      app.AddCommand("inject", "put the sidecar into the workloads of Kubernetes manifests");
  inject
      .AddOption(
          "-f,--filename", options.file,
          "manifests (YAML or JSON), also lists as kubectl prints them; '-' is standard input")
      .ValueName("FILE")
      .Required();
  inject.AddFlag("--guard", options.inject.guard,
                 "open port 9450 for calls to the application, for the policy's inbound listener");
  const CommandOption capture = inject
                                    .AddOption("--capture", options.inject.capture,
                                               "redirect the application's connections to these "
                                               "ports to Levee, such as 50051,9090-9099")
                                    .Check(IsPorts)
                                    .ValueName("PORTS");
  inject
      .AddOption("--hosts", options.inject.hosts,
                 "lead these names of services to Levee by /etc/hosts, such as cart.shop,pay.shop; "
                 "the policy needs listeners on their ports")
      .SplitAt(',')
      .Check(IsServiceName)
      .Excludes(capture)
      .ValueName("NAMES");
  inject.AddOption("--image", options.inject.image, "the image of Levee")
      .Check(NameOf("an image", kImageCharacters))
      .ValueName("IMAGE")
      .ShowDefault();
  inject
      .AddOption("--capture-image", options.inject.capture_image,
                 "the image that redirects connections")
      .Check(NameOf("an image", kImageCharacters))
      .ValueName("IMAGE")
      .ShowDefault();
  inject
      .AddOption("--config-map", options.inject.config_map,
                 "the ConfigMap whose levee.yaml is the policy")
      .Check(NameOf("a ConfigMap", "abcdefghijklmnopqrstuvwxyz0123456789.-"))
      .ValueName("NAME")
      .ShowDefault();
  inject.AddFlag("--any-template", options.inject.any_template,
                 "put it into objects of unknown kinds, too, whose spec.template is a pod's, such "
                 "as Rollouts");
  inject.AddFlag("--remove", options.remove, "take the sidecar out again");
  inject.Footer(
      "Prints the manifests with Levee as a native sidecar in each Deployment, StatefulSet, "
      "DaemonSet, ReplicaSet, ReplicationController, Job, CronJob and Pod; all other bytes stay as "
      "they are. If one workload cannot "
      "have Levee, prints only the reasons, on standard error.");
  return inject;
}

int RunInject(const InjectCommandOptions& options) {
  FaultList unreadable;
  const std::optional<ConfigText> input = ReadInput(options.file, kMaxManifestBytes, unreadable);
  if (!input.has_value()) return PrintFaults(unreadable.Sorted({options.file}));
  const inject::Injected injected = options.remove
                                        ? inject::Remove(input->name, input->text)
                                        : inject::Inject(input->name, input->text, options.inject);
  if (!injected.faults.empty()) return PrintFaults(injected.faults);
  for (const std::string& note : injected.notes) std::fprintf(stderr, "%s\n", note.c_str());
  std::fwrite(injected.text.data(), 1, injected.text.size(), stdout);
  return 0;
}

}  // namespace levee
