{{/* The name of every object of the operator; the generated roles are bound to it. */}}
{{- define "gpustack-ctrl.name" -}}
gpustack-ctrl
{{- end }}

{{/* What the operator's Pods are found by. It must never change: a selector cannot. */}}
{{- define "gpustack-ctrl.selectorLabels" -}}
app.kubernetes.io/name: gpustack-ctrl
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object of the operator. What users add changes none of ours. */}}
{{- define "gpustack-ctrl.labels" -}}
{{- $own := include "gpustack-ctrl.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | set $own "helm.sh/chart" -}}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{/* The name of every object of the exporter; its generated roles are bound to it. */}}
{{- define "gpustack-ctrl.exporterName" -}}
gpustack-ctrl-exporter
{{- end }}

{{- define "gpustack-ctrl.exporterSelectorLabels" -}}
app.kubernetes.io/name: gpustack-ctrl-exporter
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gpustack-ctrl.exporterLabels" -}}
{{- $own := include "gpustack-ctrl.exporterSelectorLabels" . | fromYaml -}}
{{- merge $own (include "gpustack-ctrl.labels" . | fromYaml) | toYaml }}
{{- end }}

{{- define "gpustack-ctrl.exporterPodLabels" -}}
{{- merge (include "gpustack-ctrl.exporterLabels" . | fromYaml) .Values.exporter.podLabels | toYaml }}
{{- end }}

{{- define "gpustack-ctrl.podLabels" -}}
{{- merge (include "gpustack-ctrl.labels" . | fromYaml) .Values.worker.podLabels | toYaml }}
{{- end }}
