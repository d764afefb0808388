{{/* Where the Pod may run. Empty parts are left out. */}}
{{- define "gpustack-ctrl.placement" -}}
{{- $worker := .Values.worker -}}
{{- with merge (dict) .Values.global.nodeSelector $worker.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $worker.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $worker.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $selector := dict "matchLabels" (include "gpustack-ctrl.selectorLabels" $ | fromYaml) }}
  - {{ merge (dict) . (dict "labelSelector" $selector) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
affinity:
  {{- if $worker.affinity }}
  {{- toYaml $worker.affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "gpustack-ctrl.selectorLabels" . | nindent 14 }}
  {{- end }}
{{- with $worker.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
