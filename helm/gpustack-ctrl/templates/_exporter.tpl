{{- define "gpustack-ctrl.exporterLooksIntoNode" -}}
{{- if and (eq .Values.exporter.mode "Node") .Values.exporter.podResources }}true{{ end }}
{{- end }}

{{- define "gpustack-ctrl.exporterPodAnnotations" -}}
{{- $scrape := include "gpustack-ctrl.scrapeAnnotations" (dict "root" . "protection" .Values.exporter.protection) | fromYaml -}}
{{- with merge (dict) .Values.exporter.podAnnotations $scrape }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* Environment variables of the exporter. */}}
{{- define "gpustack-ctrl.exporterEnv" -}}
{{- $own := include "gpustack-ctrl.ownEnv" . | fromYaml -}}
{{- if eq .Values.exporter.mode "Node" -}}
{{- $_ := set $own "GPUSTACK_NODE_NAME" (dict "valueFrom" (dict "fieldRef" (dict "fieldPath" "spec.nodeName"))) -}}
{{- end -}}
{{- include "gpustack-ctrl.variables" (dict "own" $own "given" .Values.exporter.env "at" "exporter.env") }}
{{- end }}

{{- define "gpustack-ctrl.exporterPodSpec" -}}
{{- $exporter := .Values.exporter -}}
serviceAccountName: {{ include "gpustack-ctrl.exporterName" . }}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with merge (dict) .Values.global.nodeSelector $exporter.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $exporter.tolerations }}
tolerations:
  {{- toYaml $exporter.tolerations | nindent 2 }}
{{- else if eq $exporter.mode "Node" }}
tolerations:
  - operator: Exists
{{- end }}
{{- with $exporter.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $exporter.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- if include "gpustack-ctrl.exporterLooksIntoNode" . }}
  runAsUser: 0
  runAsGroup: 0
  {{- else }}
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with include "gpustack-ctrl.pullSecrets" . | trim }}
imagePullSecrets:
  {{- . | nindent 2 }}
{{- end }}
containers:
  - name: exporter
    {{- include "gpustack-ctrl.exporterContainer" . | nindent 4 }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  {{- with include "gpustack-ctrl.protectionVolumes" $exporter.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if include "gpustack-ctrl.exporterLooksIntoNode" . }}
  - name: pod-resources
    hostPath:
      path: /var/lib/kubelet/pod-resources
      type: Directory
  {{- end }}
{{- end }}

{{- define "gpustack-ctrl.exporterContainer" -}}
{{- $exporter := .Values.exporter -}}
image: {{ include "gpustack-ctrl.image" . | quote }}
imagePullPolicy: {{ .Values.global.imagePullPolicy | default .Values.image.pullPolicy }}
args:
  - exporter
  - --metrics-bind-address=:8080
  {{- with include "gpustack-ctrl.protectionArgs" $exporter.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  - --health-probe-bind-address=:8081
  {{- if include "gpustack-ctrl.exporterLooksIntoNode" . }}
  - --pod-resources-socket=/var/lib/kubelet/pod-resources/kubelet.sock
  {{- end }}
  - --log-format={{ $exporter.logFormat }}
  - --log-level={{ $exporter.logLevel }}
  {{- with $exporter.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  {{- include "gpustack-ctrl.exporterEnv" . | trim | nindent 2 }}
ports:
  - name: metrics
    containerPort: 8080
  - name: health
    containerPort: 8081
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  {{- toYaml .Values.worker.livenessProbe | nindent 2 }}
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  {{- toYaml .Values.worker.readinessProbe | nindent 2 }}
resources:
  {{- toYaml $exporter.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop:
      - ALL
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- with include "gpustack-ctrl.protectionMounts" $exporter.protection | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if include "gpustack-ctrl.exporterLooksIntoNode" . }}
  - name: pod-resources
    mountPath: /var/lib/kubelet/pod-resources
    readOnly: true
  {{- end }}
{{- end }}
