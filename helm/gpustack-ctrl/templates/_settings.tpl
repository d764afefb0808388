{{/* The CIDRs as the operator reads them: comma-separated, or blank. */}}
{{- define "gpustack-ctrl.podCIDRs" -}}
{{- $given := .Values.worker.instanceIsolationPodCIDRs -}}
{{- $list := kindIs "slice" $given | ternary $given (list ($given | default "")) -}}
{{- $cidrs := list -}}
{{- range splitList "," (join "," $list) -}}
{{- $cidr := trim . -}}
{{- if $cidr -}}
{{- if not (regexMatch "^[0-9A-Fa-f:.]+/[0-9]{1,3}$" $cidr) -}}
{{- fail (printf "worker.instanceIsolationPodCIDRs: %q is not a CIDR such as 10.244.0.0/16" $cidr) -}}
{{- end -}}
{{- $cidrs = append $cidrs $cidr -}}
{{- end -}}
{{- end -}}
{{- join "," $cidrs -}}
{{- end }}

{{/* Environment variables of the operator. Each is said in one place only. */}}
{{- define "gpustack-ctrl.env" -}}
{{- $own := dict "GPUSTACK_NAMESPACE" (dict "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.namespace"))) -}}
{{- with include "gpustack-ctrl.podCIDRs" . -}}
{{- $_ := set $own "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS" . -}}
{{- end -}}
{{- range $name, $_ := .Values.worker.env -}}
{{- if hasKey $own $name -}}
{{- fail (printf "worker.env.%s: the chart sets it already; leave it out" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := merge $own .Values.worker.env }}
- name: {{ $name }}
{{- if kindIs "map" $value }}
  {{- toYaml $value | nindent 2 }}
{{- else }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- end }}
