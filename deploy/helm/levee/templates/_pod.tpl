{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /*
Takes a list: the root context of a chart that depends on this one, and the name of a template of that
chart, which prints metadata and spec of a pod. Prints these with Levee as a native sidecar.
*/ -}}
{{- define "levee.pod" -}}
{{- $root := index . 0 -}}
{{- $levee := $root.Subcharts.levee -}}
{{- $values := $levee.Values -}}
{{- $pod := include (index . 1) $root | fromYaml -}}
{{- if hasKey $pod "Error" -}}
{{- fail (printf "%s is no YAML: %s" (index . 1) $pod.Error) -}}
{{- end -}}
{{- $metadata := $pod.metadata | default dict -}}
{{- $spec := $pod.spec | default dict -}}
{{- if $spec.hostNetwork -}}
{{- fail (printf "%s: hostNetwork: Levee's ports would be ports of the node" (index . 1)) -}}
{{- end -}}
{{- $own := ($levee.Files.Get "files/pod.yaml" | fromYaml).template.spec -}}
{{- $container := index $own.initContainers 0 -}}
{{- $_ := set $container "image" $values.image -}}
{{- if $values.resources -}}
{{- $_ = set $container "resources" $values.resources -}}
{{- end -}}
{{- if $values.guard -}}
{{- $port := dict "name" "levee-ingress" "containerPort" 9450 "protocol" "TCP" -}}
{{- $_ = set $container "ports" (prepend $container.ports $port) -}}
{{- /* Callers go elsewhere as the pod begins to stop, while the application still serves. */ -}}
{{- $drain := dict "exec" (dict "command" (list "/usr/bin/levee" "drain")) -}}
{{- $_ = set $container "lifecycle" (dict "preStop" $drain) -}}
{{- end -}}
{{- if $values.istio -}}
{{- /* Istio rewrites HTTP probes to go through Envoy, which may start after Levee. */ -}}
{{- $command := dict "command" (list "/usr/bin/levee" "probe" "--ready") -}}
{{- range list $container.startupProbe $container.readinessProbe -}}
{{- $_ = unset . "httpGet" -}}
{{- $_ = set . "exec" $command -}}
{{- end -}}
{{- /* Prometheus scrapes Levee without mTLS. */ -}}
{{- $port := dict "traffic.sidecar.istio.io/excludeInboundPorts" "9461" -}}
{{- $_ = set $metadata "annotations" (merge $port ($metadata.annotations | default dict)) -}}
{{- end -}}
{{- $containers := list $container -}}
{{- if $values.capture -}}
{{- /* Levee's user is one that no application has: its connections are not redirected. */ -}}
{{- range $id := list "runAsUser" "runAsGroup" -}}
{{- $_ = set $container.securityContext $id 9470 -}}
{{- end -}}
{{- $template := ($levee.Files.Get "files/capture.yaml" | fromYaml).template -}}
{{- $capture := index $template.spec.initContainers 0 -}}
{{- $_ = set $capture "image" $values.captureImage -}}
{{- $_ = set (index $capture.env 0) "value" $values.capture -}}
{{- $containers = append $containers $capture -}}
{{- end -}}
{{- $volume := index $own.volumes 0 -}}
{{- $_ = set $volume "configMap" (dict "name" $values.configMap) -}}
{{- $labels := merge (dict "levee" "sidecar") ($metadata.labels | default dict) -}}
{{- $_ = set $metadata "labels" $labels -}}
{{- $_ = set $spec "initContainers" (concat $containers ($spec.initContainers | default list)) -}}
{{- $_ = set $spec "volumes" (prepend ($spec.volumes | default list) $volume) -}}
{{- if $values.hosts -}}
{{- $alias := dict "ip" "127.0.0.1" "hostnames" $values.hosts -}}
{{- $_ = set $spec "hostAliases" (prepend ($spec.hostAliases | default list) $alias) -}}
{{- end -}}
{{- $_ = set $pod "metadata" $metadata -}}
{{- $_ = set $pod "spec" $spec -}}
{{- toYaml $pod -}}
{{- end -}}
