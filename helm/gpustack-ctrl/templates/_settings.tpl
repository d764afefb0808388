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

{{/* Environment variables of the operator. */}}
{{- define "gpustack-ctrl.env" -}}
{{- $own := include "gpustack-ctrl.ownEnv" . | fromYaml -}}
{{- with include "gpustack-ctrl.podCIDRs" . -}}
{{- $_ := set $own "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS" . -}}
{{- end -}}
{{- if include "gpustack-ctrl.exporterTellsAll" . -}}
{{- $_ := set $own "GPUSTACK_INSTANCE_METRICS" "false" -}}
{{- end -}}
{{- include "gpustack-ctrl.variables" (dict "own" $own "given" .Values.worker.env "at" "worker.env") }}
{{- end }}

{{- define "gpustack-ctrl.ownEnv" -}}
GPUSTACK_NAMESPACE:
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end }}

{{/* What is the chart's `own` and what is `given` at some value. Each is said in one place only. */}}
{{- define "gpustack-ctrl.variables" -}}
{{- range $name, $_ := .given -}}
{{- if hasKey $.own $name -}}
{{- fail (printf "%s.%s: the chart sets it already; leave it out" $.at $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := merge .own .given }}
- name: {{ $name }}
{{- if kindIs "map" $value }}
  {{- toYaml $value | nindent 2 }}
{{- else }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- end }}
