{{/* Whether any page of metrics asks the API server who may read it; blank: none does. */}}
{{- define "gpustack-ctrl.protected" -}}
{{- $exporter := and .Values.exporter.enabled .Values.exporter.protection.enabled -}}
{{- if or $exporter .Values.metrics.protection.enabled }}true{{ end }}
{{- end }}
