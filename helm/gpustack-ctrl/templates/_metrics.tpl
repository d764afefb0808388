{{/* Whether any page of metrics asks the API server who may read it; blank: none does. */}}
{{- define "gpustack-ctrl.protected" -}}
{{- $exporter := and .Values.exporter.enabled .Values.exporter.protection.enabled -}}
{{- if or $exporter .Values.metrics.protection.enabled }}true{{ end }}
{{- end }}

{{/* Whether the exporter tells the series of each Instance; blank: the operator does. */}}
{{- define "gpustack-ctrl.exporterTellsAll" -}}
{{- if and .Values.exporter.enabled (eq .Values.exporter.mode "Cluster") }}true{{ end }}
{{- end }}

{{/* Annotations of a Pod for a Prometheus that looks for these, where its page is `protection`. */}}
{{- define "gpustack-ctrl.scrapeAnnotations" -}}
{{- $metrics := .root.Values.metrics -}}
{{- if and $metrics.scrapeAnnotations (not (or $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled)) }}
prometheus.io/scrape: "true"
prometheus.io/port: "8080"
prometheus.io/path: /metrics
{{- if .protection.enabled }}
prometheus.io/scheme: https
{{- end }}
{{- end }}
{{- end }}

{{/* Flags, mounts and volumes of a protected page. */}}
{{- define "gpustack-ctrl.protectionArgs" -}}
{{- if .enabled }}
- --metrics-protection
{{- if .tlsSecretName }}
- --tls-cert-file=/etc/gpustack-ctrl/tls/tls.crt
- --tls-key-file=/etc/gpustack-ctrl/tls/tls.key
{{- end }}
{{- end }}
{{- end }}

{{- define "gpustack-ctrl.protectionMounts" -}}
{{- if and .enabled .tlsSecretName }}
- name: tls
  mountPath: /etc/gpustack-ctrl/tls
  readOnly: true
{{- end }}
{{- end }}

{{- define "gpustack-ctrl.protectionVolumes" -}}
{{- if and .enabled .tlsSecretName }}
- name: tls
  secret:
    secretName: {{ .tlsSecretName }}
{{- end }}
{{- end }}

{{/* How a monitor reaches a page; `token` is what a ServiceMonitor sends without a Secret. */}}
{{- define "gpustack-ctrl.monitorEndpoint" -}}
port: metrics
path: /metrics
# A series says for itself of which namespace it tells.
honorLabels: true
{{- with .monitor.interval }}
interval: {{ . }}
{{- end }}
{{- if .protection.enabled }}
scheme: https
tlsConfig:
  {{- .monitor.tlsConfig | default (dict "insecureSkipVerify" true) | toYaml | nindent 2 }}
{{- if .monitor.tokenSecret }}
authorization:
  credentials:
    {{- toYaml .monitor.tokenSecret | nindent 4 }}
{{- else if .token }}
bearerTokenFile: {{ .token }}
{{- else }}
{{- fail "metrics.podMonitor.tokenSecret: a PodMonitor needs it where pages are protected; a ServiceMonitor does not" }}
{{- end }}
{{- end }}
{{- end }}

{{/* The monitor of one page, whichever kind is enabled. */}}
{{- define "gpustack-ctrl.monitor" -}}
{{- $metrics := .root.Values.metrics }}
{{- $ofService := $metrics.serviceMonitor.enabled }}
{{- $monitor := $ofService | ternary $metrics.serviceMonitor $metrics.podMonitor }}
{{- $token := $ofService | ternary "/var/run/secrets/kubernetes.io/serviceaccount/token" "" }}
apiVersion: monitoring.coreos.com/v1
kind: {{ $ofService | ternary "ServiceMonitor" "PodMonitor" }}
metadata:
  name: {{ include .name .root }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- merge (include .labels .root | fromYaml) $monitor.labels | toYaml | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include .selector .root | nindent 6 }}
  {{ $ofService | ternary "endpoints" "podMetricsEndpoints" }}:
    - {{ include "gpustack-ctrl.monitorEndpoint" (dict "monitor" $monitor "protection" .protection "token" $token) | nindent 6 | trim }}
{{- end }}
