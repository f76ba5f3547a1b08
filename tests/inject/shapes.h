// SPDX-License-Identifier: Apache-2.0
// Manifests as people and programs write them, all of which can have Levee.
#pragma once

#include <string>
#include <vector>

namespace levee::inject {

struct Shape {
  std::string name;
  std::string text;
  int pods = 1;  // workloads in it
};

// Returns `text` with CR LF at the end of each line.
inline std::string WithCrLf(const std::string& text) {
  std::string lines;
  for (const char c : text) lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return lines;
}

inline const std::string kDeployment = R"(# The front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web  # as in DNS
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      # What runs.
      containers:
      - name: web
        image: web:1
        ports:
        - containerPort: 8080
)";

inline const std::string kIndentedLists = R"(---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
    template:
        metadata:
            # Found by this.
            labels:
                # Ours.
                app: db
            annotations:
                note: |
                  labels:
                    levee: sidecar
                  initContainers:
        spec:
            initContainers:
                # First the schema.
                - name: migrate
                  image: "db:1"

                # Then the data.
                - image: 'db:1'
                  name: load
            containers:
                - name: db
                  image: db:1   # pinned

            volumes:

                - name: scratch
                  emptyDir: {}
...
)";

inline const std::string kFlow = R"(apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "*/5 * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}], volumes: [ {name: x, emptyDir: {}}]}}}}
)";

inline const std::string kFlowInBlock = R"(apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    metadata: {labels: {app: "it's, [one]"}, annotations: {}}
    spec:
      volumes: []
      initContainers: [ ]
      containers: [{name: a, image: "a:1"},  # one
        {name: b, image: 'b''s'}]
      restartPolicy: Never
)";

inline const std::string kEmptyMetadata = R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  template:
    metadata: {}
    spec:
      containers: [{name: a, image: "a:1"}]
)";

inline const std::string kNoMetadata = R"(apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    # A comment before the spec.
    spec:

      restartPolicy: Never
      containers:
        - name: a
          image: a:1
          args:
            - |
              #!/bin/sh
              exec a

        # The last comment.
)";

inline const std::string kPod = R"(kind: Pod
apiVersion: v1
metadata:
  name: "größe"
spec:
  containers:
  - image: a:1
    name: a
    command: ["sh", "-c", "echo '}' \"]\" # no comment"])";

inline const std::string kStream = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: levee}
data:
  levee.yaml: |
    kind: Deployment
---
# Only a comment.
---
apiVersion: v1
kind: Service
metadata: {name: web}
--- # the workload
)" + kDeployment + "---\n" + kPod + "\n";

// As `kubectl get -o yaml` prints it.
inline const std::string kList = R"(apiVersion: v1
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
  spec:
    template:
      metadata:
        creationTimestamp: null
        labels:
          app: web
      spec:
        containers:
        - image: web:1
          name: web
          resources: {}
          volumeMounts:
          - mountPath: /x
            name: x
        volumes:
        - emptyDir: {}
          name: x
  status: {}
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
  spec:
    containers:
    - image: a:1
      name: a
kind: List
metadata:
  resourceVersion: ""
)";

// As `kubectl get -o json` prints it.
inline const std::string kJson = R"({
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "web"
    },
    "spec": {
        "template": {
            "metadata": {
                "labels": {
                    "app": "web"
                }
            },
            "spec": {
                "containers": [
                    {
                        "image": "a\"b]:1",
                        "name": "web"
                    }
                ]
            }
        }
    }
}
)";

inline const std::string kCompactJson =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":)"
    R"({"spec":{"containers":[{"name":"a","image":"a:1"}]}}}})";

inline std::vector<Shape> Shapes() {
  return {
      {"block", kDeployment},
      {"indented lists", kIndentedLists},
      {"flow", kFlow},
      {"flow in block", kFlowInBlock},
      {"empty metadata", kEmptyMetadata},
      {"no metadata", kNoMetadata},
      {"pod without a last newline", kPod},
      {"stream", kStream, 2},
      {"list of kubectl", kList, 2},
      {"JSON of kubectl", kJson},
      {"compact JSON", kCompactJson},
      {"CR LF", WithCrLf(kDeployment)},
      {"CR LF stream", WithCrLf(kStream), 2},
      {"CR LF JSON", WithCrLf(kJson)},
      {"byte order mark", "\xEF\xBB\xBF" + kDeployment},
      {"byte order mark before JSON", "\xEF\xBB\xBF" + kCompactJson},
  };
}

}  // namespace levee::inject
