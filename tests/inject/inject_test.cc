// SPDX-License-Identifier: Apache-2.0
// What manifests become with Levee, and that they are as before without it.
#include "inject/inject.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "inject/shapes.h"
#include "yaml-cpp/yaml.h"

namespace levee::inject {
namespace {

std::vector<YAML::Node> ObjectsIn(const std::string& text) {
  std::vector<YAML::Node> objects;
  for (const YAML::Node& document : YAML::LoadAll(text)) {
    if (!document.IsMap()) continue;
    if (document["kind"].as<std::string>() != "List") {
      objects.push_back(document);
    } else {
      for (const YAML::Node& item : document["items"]) objects.push_back(item);
    }
  }
  return objects;
}

// The pods that the text describes.
std::vector<YAML::Node> PodsIn(const std::string& text) {
  std::vector<YAML::Node> pods;
  for (const YAML::Node& object : ObjectsIn(text)) {
    const std::string kind = object["kind"].as<std::string>();
    if (kind == "Pod") pods.push_back(object);
    if (kind == "CronJob") pods.push_back(object["spec"]["jobTemplate"]["spec"]["template"]);
    if (object["spec"] && object["spec"]["template"]) pods.push_back(object["spec"]["template"]);
  }
  return pods;
}

std::string Text(const YAML::Node& node) { return node.as<std::string>(); }

Injected With(const std::string& text) { return Inject("f", text, {}); }

std::string FaultsOf(const std::string& text, const InjectOptions& options = {}) {
  return FormatFaults(Inject("f", text, options).faults);
}

// Returns `text` with the first `from` replaced.
std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class EachShape : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Inject, EachShape, testing::ValuesIn(Shapes()));

TEST_P(EachShape, HasLeveeFirstInEachPod) {
  const Injected injected = With(GetParam().text);
  ASSERT_EQ(FormatFaults(injected.faults), "");
  const std::vector<YAML::Node> pods = PodsIn(injected.text);
  ASSERT_EQ(pods.size(), static_cast<size_t>(GetParam().pods)) << injected.text;
  for (const YAML::Node& pod : pods) {
    const YAML::Node levee = pod["spec"]["initContainers"][0];
    EXPECT_EQ(Text(levee["name"]), "levee") << injected.text;
    EXPECT_EQ(Text(levee["restartPolicy"]), "Always");
    EXPECT_EQ(Text(levee["volumeMounts"][0]["mountPath"]), "/etc/levee");
    EXPECT_EQ(Text(levee["resources"]["limits"]["memory"]), "128Mi");
    EXPECT_EQ(Text(pod["spec"]["volumes"][0]["configMap"]["name"]), "levee");
    EXPECT_EQ(Text(pod["metadata"]["labels"]["levee"]), "sidecar");
  }
}

TEST_P(EachShape, KeepsWhatEachPodHad) {
  const std::vector<YAML::Node> before = PodsIn(GetParam().text);
  const std::vector<YAML::Node> after = PodsIn(With(GetParam().text).text);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    for (const char* list : {"containers", "initContainers", "volumes"}) {
      const YAML::Node had = before[i]["spec"][list];
      const YAML::Node has = after[i]["spec"][list];
      const size_t more = std::string(list) == "containers" ? 0 : 1;
      ASSERT_EQ(has.size(), (had ? had.size() : 0) + more) << list;
      for (size_t j = 0; had && j < had.size(); ++j) {
        EXPECT_EQ(YAML::Dump(had[j]), YAML::Dump(has[j + more]));
      }
    }
  }
}

TEST_P(EachShape, HasWhatRedirectsConnectionsBehindLeveeAndBeforeTheOthers) {
  const Injected injected = Inject("f", GetParam().text, {.capture = "50051,9090-9099"});
  ASSERT_EQ(FormatFaults(injected.faults), "");
  const std::vector<YAML::Node> before = PodsIn(GetParam().text);
  const std::vector<YAML::Node> after = PodsIn(injected.text);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const YAML::Node had = before[i]["spec"]["initContainers"];
    const YAML::Node has = after[i]["spec"]["initContainers"];
    ASSERT_EQ(has.size(), (had ? had.size() : 0) + 2) << injected.text;
    EXPECT_EQ(Text(has[0]["name"]), "levee");
    EXPECT_EQ(Text(has[0]["securityContext"]["runAsUser"]), "9470");
    EXPECT_EQ(Text(has[1]["name"]), "levee-capture");
    EXPECT_EQ(Text(has[1]["env"][0]["value"]), "50051,9090-9099");
    EXPECT_EQ(Text(has[1]["securityContext"]["capabilities"]["add"][0]), "NET_ADMIN");
    for (size_t j = 0; had && j < had.size(); ++j) {
      EXPECT_EQ(YAML::Dump(had[j]), YAML::Dump(has[j + 2]));
    }
  }
}

TEST_P(EachShape, LeadsTheNamesOfServicesToLeveeBeforeItsOwn) {
  const Injected injected = Inject("f", GetParam().text, {.hosts = {"cart.shop", "1.2"}});
  ASSERT_EQ(FormatFaults(injected.faults), "");
  const std::vector<YAML::Node> before = PodsIn(GetParam().text);
  const std::vector<YAML::Node> after = PodsIn(injected.text);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const YAML::Node had = before[i]["spec"]["hostAliases"];
    const YAML::Node has = after[i]["spec"]["hostAliases"];
    ASSERT_EQ(has.size(), (had ? had.size() : 0) + 1) << injected.text;
    EXPECT_EQ(Text(has[0]["ip"]), "127.0.0.1");
    ASSERT_EQ(has[0]["hostnames"].size(), 2U);
    EXPECT_EQ(Text(has[0]["hostnames"][0]), "cart.shop");
    EXPECT_EQ(has[0]["hostnames"][1].Tag(), "!");  // In quotes, or it would be a number.
  }
}

TEST_P(EachShape, IsNotChangedASecondTime) {
  const std::string once = With(GetParam().text).text;
  const Injected twice = With(once);
  EXPECT_EQ(twice.text, once);
  EXPECT_EQ(twice.notes.size(), static_cast<size_t>(GetParam().pods));
}

TEST_P(EachShape, IsAsBeforeWhenLeveeIsRemoved) {
  for (const InjectOptions& options :
       {InjectOptions{}, InjectOptions{.image = "a/b:1", .config_map = "c", .guard = true},
        InjectOptions{.capture = "50051,9090-9099"},
        InjectOptions{.hosts = {"cart.shop", "1.2"}}}) {
    const std::string text = Inject("f", GetParam().text, options).text;
    ASSERT_NE(text, GetParam().text);
    const Injected removed = Remove("f", text);
    EXPECT_EQ(FormatFaults(removed.faults), "");
    EXPECT_EQ(removed.text, GetParam().text);
  }
}

TEST_P(EachShape, IsNotChangedByARemovalWithoutLevee) {
  EXPECT_EQ(Remove("f", GetParam().text).text, GetParam().text);
}

TEST(Inject, PutsTheLinesWhereAPersonWould) {
  const std::string text = With(kDeployment).text;
  EXPECT_NE(text.find("      labels:\n        levee: sidecar\n        app: web\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    spec:\n      initContainers:\n      - name: levee\n"
                      "        image: \"levee\"\n        restartPolicy: Always\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      volumes:\n      - name: levee\n        configMap:\n"
                      "          name: \"levee\"\n      # What runs.\n      containers:\n"),
            std::string::npos)
      << text;
}

TEST(Inject, ListsAreIndentedAsTheirNeighbours) {
  const std::string text = With(kIndentedLists).text;
  EXPECT_NE(text.find("            initContainers:\n                - name: levee\n"),
            std::string::npos)
      << text;
}

TEST(Inject, LinesEndAsTheOthersDo) {
  const std::string text = With(WithCrLf(kDeployment)).text;
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) {
    ASSERT_EQ(text[at - 1], '\r') << at;
  }
}

TEST(Inject, NamesAreThoseOfTheOptions) {
  const Injected injected =
      Inject("f", kDeployment, {.image = "r.io/levee:1", .config_map = "123", .guard = true});
  const YAML::Node spec = PodsIn(injected.text)[0]["spec"];
  EXPECT_EQ(Text(spec["initContainers"][0]["image"]), "r.io/levee:1");
  EXPECT_EQ(Text(spec["initContainers"][0]["ports"][0]["containerPort"]), "9450");
  const YAML::Node name = spec["volumes"][0]["configMap"]["name"];
  EXPECT_EQ(Text(name), "123");
  EXPECT_EQ(name.Tag(), "!");  // In quotes, or it would be a number.
}

TEST(Inject, AServiceInFrontOfTheGuardIsTold) {
  const Injected injected = Inject("f", kStream, {.image = "levee", .guard = true});
  ASSERT_EQ(injected.notes.size(), 1);
  EXPECT_EQ(injected.notes[0],
            "f:10: document 3, Service web: calls pass the guard once the targetPort of its gRPC "
            "port is 9450");
}

TEST(Inject, ATextWithoutWorkloadsStaysAndIsTold) {
  const std::string text = "kind: ConfigMap\napiVersion: v1\n";
  EXPECT_EQ(With(text).text, text);
  EXPECT_EQ(With(text).notes, std::vector<std::string>{"f: no workload is in it"});
  EXPECT_EQ(With("").text, "");
  const std::string other = Replaced(kDeployment, "containers", "jobs");
  EXPECT_EQ(With(Replaced(other, "Deployment", "Workflow")).text,
            Replaced(other, "Deployment", "Workflow"));
}

TEST(Inject, ReplicaSetsAndReplicationControllersAreWorkloads) {
  const std::string sets =
      Replaced(kDeployment, "Deployment", "ReplicaSet") + "---\n" +
      Replaced(Replaced(kDeployment, "Deployment", "ReplicationController"), "apps/v1", "v1");
  for (const YAML::Node& pod : PodsIn(With(sets).text)) {
    EXPECT_EQ(Text(pod["spec"]["initContainers"][0]["name"]), "levee");
  }
  EXPECT_EQ(PodsIn(With(sets).text).size(), 2);
  EXPECT_EQ(Remove("f", With(sets).text).text, sets);
}

TEST(Inject, AnUnknownKindWithAPodHasLeveeOnlyIfOneSaysSo) {
  // A kind of the same name in another group is another kind.
  for (const auto& [from, to] : {std::pair{"Deployment", "Rollout"}, {"apps/v1", "other.io/v1"}}) {
    const std::string text = Replaced(kDeployment, from, to);
    EXPECT_THAT(FaultsOf(text),
                testing::HasSubstr("web: its kind is not known here, but it describes a pod"));
    const Injected injected = Inject("f", text, {.any_template = true});
    ASSERT_EQ(FormatFaults(injected.faults), "");
    EXPECT_EQ(Text(PodsIn(injected.text)[0]["spec"]["initContainers"][0]["name"]), "levee");
    EXPECT_EQ(Remove("f", injected.text).text, text);
  }
}

TEST(InjectRefuses, PodsOfWindows) {
  const std::string line = "      # What runs.\n";
  EXPECT_EQ(
      FaultsOf(Replaced(kDeployment, line, "      os: {name: windows}\n")),
      "f:12:18: document 1, Deployment web: the pod runs on windows, and Levee's image is for "
      "Linux");
  EXPECT_THAT(
      FaultsOf(Replaced(kDeployment, line, "      nodeSelector: {kubernetes.io/os: windows}\n")),
      testing::HasSubstr("the pod runs on windows"));
  EXPECT_EQ(FaultsOf(Replaced(kDeployment, line,
                              "      os: {name: linux}\n      nodeSelector: "
                              "{kubernetes.io/os: linux}\n")),
            "");
}

TEST(InjectRefuses, HostNetwork) {
  const std::string text =
      Replaced(kDeployment, "      # What runs.\n", "      hostNetwork: true\n");
  EXPECT_EQ(FaultsOf(text),
            "f:12:20: document 1, Deployment web: hostNetwork: Levee's ports would be ports of the "
            "node, where one pod alone can have them and every other can call through them");
  EXPECT_EQ(FaultsOf(Replaced(text, "true", "false")), "");
}

TEST(InjectRefuses, APortOfLevees) {
  const std::string text = Replaced(kDeployment, "8080", "9461");
  EXPECT_EQ(FaultsOf(text),
            "f:17:26: document 1, Deployment web: container web has port 9461, which Levee needs "
            "for metrics");
  EXPECT_EQ(FaultsOf(Replaced(text, "9461", "9461\n          protocol: UDP")), "");
}

TEST(InjectRefuses, ThePortOfTheGuardOnlyWithTheGuard) {
  const std::string text = Replaced(kDeployment, "8080", "9450");
  EXPECT_EQ(FaultsOf(text), "");
  EXPECT_NE(FaultsOf(text, {.guard = true}).find("needs for calls to the application"),
            std::string::npos);
}

TEST(InjectRefuses, ThePortOfRedirectedConnectionsOnlyWithCapture) {
  const std::string text = Replaced(kDeployment, "8080", "9470");
  EXPECT_EQ(FaultsOf(text), "");
  EXPECT_NE(FaultsOf(text, {.capture = "1"}).find("needs for redirected connections"),
            std::string::npos);
}

TEST(InjectRefuses, NamesThatLeadToThePodItself) {
  const std::string aliases = "hostAliases: [{ip: 127.0.0.1, hostnames: [self]}]\n      ";
  const std::string text = Replaced(kDeployment, "# What runs.\n", aliases + "# What runs.\n");
  for (const InjectOptions& options : {InjectOptions{}, InjectOptions{.hosts = {"cart.shop"}}}) {
    EXPECT_NE(FaultsOf(text, options).find("hostAliases has an entry of 127.0.0.1"),
              std::string::npos);
  }
  const std::string other = Replaced(text, "127.0.0.1", "127.0.0.2");
  const std::string injected = Inject("f", other, {.hosts = {"cart.shop"}}).text;
  EXPECT_EQ(PodsIn(injected)[0]["spec"]["hostAliases"].size(), 2U) << injected;
  EXPECT_EQ(Remove("f", injected).text, other);
}

TEST(InjectRefuses, AnApplicationWhoseConnectionsWouldPassForLevees) {
  const std::string user = "securityContext: {runAsUser: 9470}\n";
  for (const std::string& text :
       {Replaced(kDeployment, "        image: web:1\n", "        image: web:1\n        " + user),
        Replaced(kDeployment, "      # What runs.\n", "      " + user)}) {
    EXPECT_EQ(FaultsOf(text), "");
    EXPECT_NE(FaultsOf(text, {.capture = "1"})
                  .find("user 9470 is Levee's own, whose connections are left alone"),
              std::string::npos)
        << text;
  }
}

TEST(InjectRefuses, ASecondProxy) {
  for (const char* name : {"istio-proxy", "linkerd-proxy", "envoy", "kuma-sidecar"}) {
    const std::string text = Replaced(kDeployment, "- name: web", std::string("- name: ") + name);
    EXPECT_NE(FaultsOf(text).find(std::string("container ") + name + " is "), std::string::npos);
  }
  EXPECT_NE(FaultsOf(Replaced(kDeployment, "web:1", "docker.io/envoyproxy/envoy:v1.30"))
                .find("a second proxy for the same calls"),
            std::string::npos);
}

TEST(InjectRefuses, ARequestForASecondProxy) {
  const std::string text =
      Replaced(kDeployment, "        app: web\n",
               "        app: web\n      annotations:\n        linkerd.io/inject: enabled\n");
  EXPECT_NE(FaultsOf(text).find("f:12:28: document 1, Deployment web: linkerd.io/inject: "),
            std::string::npos)
      << FaultsOf(text);
}

TEST(InjectRefuses, NamesThatLeveeNeeds) {
  EXPECT_NE(FaultsOf(Replaced(kDeployment, "- name: web", "- name: levee"))
                .find("a container levee is there, which is no native sidecar"),
            std::string::npos);
  EXPECT_NE(FaultsOf(Replaced(kDeployment, "- name: web", "- name: levee-capture"))
                .find("a container levee-capture is there"),
            std::string::npos);
  EXPECT_NE(FaultsOf(Replaced(kDeployment, "app: web", "levee: x")).find("a label levee is there"),
            std::string::npos);
  EXPECT_NE(FaultsOf(Replaced(kList, "name: x\n  status", "name: levee\n  status"))
                .find("a volume levee is there"),
            std::string::npos);
}

TEST(InjectRefuses, WhatOtherPlacesShare) {
  EXPECT_EQ(FaultsOf(Replaced(kDeployment, "labels:\n", "labels: &l\n")),
            "f:9:15: document 1, Deployment web: this has an anchor or a tag; only plain values "
            "are edited");
  const std::string merged = Replaced(kDeployment, "    spec:\n", "    spec:\n      <<: {a: b}\n");
  EXPECT_NE(FaultsOf(merged).find("merges another mapping in"), std::string::npos);
  EXPECT_NE(FaultsOf("x: &p {spec: {}}\napiVersion: apps/v1\nkind: Deployment\nspec:\n"
                     "  template: *p\n")
                .find("this is an alias"),
            std::string::npos);
}

TEST(InjectRefuses, EmptyEntriesThatNothingCanBeAddedTo) {
  EXPECT_EQ(
      FaultsOf(Replaced(kDeployment, "      containers:", "      volumes:\n      containers:")),
      "f:13:7: document 1, Deployment web: volumes is not a list; remove the empty entry");
  EXPECT_NE(FaultsOf(Replaced(kFlow, "[ {name: x, emptyDir: {}}]", "[]"))
                .find("volumes is empty; remove the empty entry"),
            std::string::npos);
}

TEST(InjectRefuses, WorkloadsWithoutAPod) {
  EXPECT_EQ(FaultsOf("kind: Job\napiVersion: batch/v1\nmetadata: {name: j}\n"),
            "f:1:1: document 1, Job j: it describes no pod");
  EXPECT_NE(FaultsOf(Replaced(kPod, "containers", "container")).find("it has no containers"),
            std::string::npos);
}

TEST(InjectRefuses, TextThatIsNoYaml) {
  EXPECT_EQ(FaultsOf("a: [\n"),
            "f:2:1: LV101 this is not YAML: end of sequence flow not found; check the indentation, "
            "brackets and quotes up to here");
  EXPECT_EQ(FaultsOf("a:\n\tb: 1\n"),
            "f:2:1: LV101 this is not YAML: tabs may not indent; indent with spaces");
  EXPECT_EQ(FaultsOf(","), "f:1:1: LV101 this is not YAML: no value can begin here");
}

TEST(InjectRefuses, TheWholeTextForOneWorkload) {
  const Injected injected = With(kDeployment + "---\n" + Replaced(kDeployment, "8080", "9460"));
  EXPECT_EQ(injected.text, "");
  ASSERT_EQ(injected.faults.size(), 1);
  EXPECT_EQ(injected.faults[0].path, "document 2, Deployment web");
  EXPECT_EQ(injected.faults[0].line, 35);
}

TEST(InjectRemove, TakesChangesOfTheContainerWithIt) {
  std::string text = With(kDeployment).text;
  text = Replaced(text, "          limits:\n", "          # More.\n          limits:\n");
  text = Replaced(text, "            readOnly: true\n",
                  "            readOnly: true\n        terminationMessagePath: >\n          a\n"
                  "          # b\n");
  EXPECT_EQ(Remove("f", text).text, kDeployment);
}

TEST(InjectRemove, FindsItWhereverItStands) {
  const std::string text = R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", )"
                           R"("labels": {"a": "b", "levee": "sidecar"}}, "spec": )"
                           R"({"containers": [{"name": "a"}], "initContainers": )"
                           R"([{"restartPolicy": "Always", "name": "levee"}], "volumes": )"
                           R"([{"name": "levee"}]}})";
  EXPECT_EQ(Remove("f", text).text,
            R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", )"
            R"("labels": {"a": "b"}}, "spec": {"containers": [{"name": "a"}]}})");
}

}  // namespace
}  // namespace levee::inject
