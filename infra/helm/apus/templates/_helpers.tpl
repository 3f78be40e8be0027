{{- define "apus.name" -}}
{{ ternary .Release.Name (printf "%s-apus" .Release.Name) (contains "apus" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "apus.selector" -}}
app.kubernetes.io/name: apus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "apus.labels" -}}
{{ include "apus.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "apus.engineSecret" -}}
{{ .Values.engine.existingSecret | default (printf "%s-engine" (include "apus.name" .)) }}
{{- end }}

{{- define "apus.hasEngineSecret" -}}
{{ if or .Values.engine.existingSecret (not .Values.engine.url) }}yes{{ end }}
{{- end }}

{{/* The ports of a node by their names; those with TLS and with TCP may ask for the PROXY protocol. */}}
{{- define "apus.ports" -}}
http: 8083
{{- if .Values.listeners.tcp.enabled }}
mqtt: {{ .Values.listeners.tcp.port }}
{{- end }}
{{- if .Values.listeners.tls.secretName }}
mqtts: {{ .Values.listeners.tls.port }}
wss: {{ .Values.listeners.tls.wssPort }}
{{- end }}
{{- end }}

{{- define "apus.check" -}}
{{- if not .Values.image.repository }}
{{- fail "image.repository: where you have put the image of infra/container/Dockerfile." }}
{{- end }}
{{- if eq (empty .Values.users.existingSecret) (empty .Values.identity.existingSecret) }}
{{- fail "Who may connect? Either users.existingSecret, a Secret with users.json, or identity.existingSecret, one with identity.json." }}
{{- end }}
{{- if and .Values.listeners.proxyProtocol (not .Values.trustedProxies) }}
{{- fail "listeners.proxyProtocol needs trustedProxies: the addresses of the balancer." }}
{{- end }}
{{- end }}

{{/* The Secrets that a node mounts, by their folder below /etc/apus. */}}
{{- define "apus.secrets" -}}
{{- with .Values.users.existingSecret }}
users: {{ . }}
{{- end }}
{{- with .Values.identity.existingSecret }}
identity: {{ . }}
{{- end }}
{{- with .Values.apiKey.existingSecret }}
api-key: {{ . }}
{{- end }}
{{- with .Values.listeners.tls.secretName }}
tls: {{ . }}
{{- end }}
{{- end }}
