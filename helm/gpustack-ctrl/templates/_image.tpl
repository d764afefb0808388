{{- define "gpustack-ctrl.image" -}}
{{- $registry := .Values.global.imageRegistry | default .Values.image.registry -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.global.imageNamespace -}}
{{- $repository = printf "%s/%s" . (base $repository) -}}
{{- end -}}
{{- $version := printf ":%s" (.Values.image.tag | default $.Chart.AppVersion) -}}
{{- with .Values.image.digest -}}
{{- $version = printf "@%s" . -}}
{{- end -}}
{{- with $registry -}}{{ . }}/{{- end -}}
{{ $repository }}{{ $version }}
{{- end }}

{{- define "gpustack-ctrl.pullSecrets" -}}
{{- range concat .Values.global.imagePullSecrets .Values.image.pullSecrets | uniq }}
- name: {{ if kindIs "map" . }}{{ .name }}{{ else }}{{ . }}{{ end }}
{{- end }}
{{- end }}
