{{/* What the pods of all parts share. */}}

{{- define "sless.labels" -}}
app.kubernetes.io/name: sless
app.kubernetes.io/part-of: sless
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "sless.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "sless.image" -}}
{{ required "image must name the platform's image; see docs/kubernetes.md" .Values.image }}
{{- end }}

{{/* Restricted Pod Security; the service account's token is mounted by whoever needs it. */}}
{{- define "sless.pod" -}}
serviceAccountName: {{ index .root.Values.serviceAccounts .part }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "sless.selector" . | fromYaml | toJson }}}
{{- end }}

{{- define "sless.container" -}}
image: {{ include "sless.image" .root }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
terminationMessagePolicy: FallbackToLogsOnError
{{- end }}

{{/* Settings for all, and credentials for those that talk to S3 and Temporal. */}}
{{- define "sless.environment" -}}
- configMapRef: {name: sless-settings}
{{- if and .credentials .root.Values.credentialsSecret }}
- secretRef: {name: {{ .root.Values.credentialsSecret }}}
{{- end }}
{{- end }}

{{/* What `automountServiceAccountToken` would mount, for one container instead of all. */}}
{{- define "sless.identity.volume" -}}
name: identity
projected:
  sources:
    - serviceAccountToken: {path: token, expirationSeconds: 3600}
    - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
    - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
{{- end }}

{{- define "sless.identity.mount" -}}
{name: identity, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}

{{- define "sless.issuers" -}}
{{- $issuers := .Values.tokens.issuers }}
{{- if .Values.tokens.serviceAccounts.enabled }}
{{- $own := dict
  "url" .Values.tokens.serviceAccounts.issuer
  "audience" .Values.tokens.serviceAccounts.audience
  "claim" (list "kubernetes.io" "namespace")
  "every" .Release.Namespace
  "ca_file" "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt" }}
{{- $issuers = append $issuers $own }}
{{- end }}
{{- toJson $issuers }}
{{- end }}

{{- define "sless.gateway.env" -}}
- {name: SLESS_GATEWAY__FOLDER, value: /run/sless/envoy}
{{- /* Until every proxy knows that the pod leaves; a preStop hook that sleeps would keep callers. */}}
- {name: SLESS_GATEWAY__LEAVE_SECONDS, value: "5"}
{{- end }}

{{/* Files of the operator's own, such as certificates, in every container that speaks to others. */}}
{{- define "sless.files.mounts" -}}
{{- range $at, $file := .Values.files }}
- {name: file-{{ $at }}, mountPath: {{ $file.path | quote }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "sless.files.volumes" -}}
{{- range $at, $file := .Values.files }}
- name: file-{{ $at }}
  {{- if $file.secret }}
  secret: {secretName: {{ $file.secret }}}
  {{- else }}
  configMap: {name: {{ $file.configMap }}}
  {{- end }}
{{- end }}
{{- end }}
