{{- define "gpustack-ctrl.podAnnotations" -}}
{{- $scrape := include "gpustack-ctrl.scrapeAnnotations" (dict "root" . "protection" .Values.metrics.protection) | fromYaml -}}
{{- $all := merge (dict) .Values.worker.podAnnotations $scrape -}}
{{- with $all }}{{ toYaml . }}{{- end }}
{{- end }}

{{- define "gpustack-ctrl.podSpec" -}}
{{- $worker := .Values.worker -}}
serviceAccountName: {{ include "gpustack-ctrl.name" . }}
automountServiceAccountToken: true
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $worker.terminationGracePeriodSeconds }}
securityContext:
  {{- toYaml $worker.podSecurityContext | nindent 2 }}
{{- with include "gpustack-ctrl.pullSecrets" . | trim }}
imagePullSecrets:
  {{- . | nindent 2 }}
{{- end }}
{{- include "gpustack-ctrl.placement" . }}
containers:
  - name: gpustack-ctrl
    {{- include "gpustack-ctrl.container" . | nindent 4 }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  {{- with include "gpustack-ctrl.protectionVolumes" .Values.metrics.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "gpustack-ctrl.container" -}}
{{- $worker := .Values.worker -}}
image: {{ include "gpustack-ctrl.image" . | quote }}
imagePullPolicy: {{ .Values.global.imagePullPolicy | default .Values.image.pullPolicy }}
args:
  - run
  - --leader-elect
  - --metrics-bind-address=:8080
  {{- with include "gpustack-ctrl.protectionArgs" .Values.metrics.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  - --health-probe-bind-address=:8081
  - --log-format={{ $worker.logFormat }}
  - --log-level={{ $worker.logLevel }}
  {{- with $worker.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  {{- include "gpustack-ctrl.env" . | trim | nindent 2 }}
ports:
  - name: metrics
    containerPort: 8080
  - name: health
    containerPort: 8081
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  {{- toYaml $worker.livenessProbe | nindent 2 }}
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  {{- toYaml $worker.readinessProbe | nindent 2 }}
resources:
  {{- toYaml $worker.resources | nindent 2 }}
securityContext:
  {{- toYaml $worker.securityContext | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- with include "gpustack-ctrl.protectionMounts" .Values.metrics.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
{{- end }}
