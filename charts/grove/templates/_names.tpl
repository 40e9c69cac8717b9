{{/* Labels and annotations of an object; call with a dict of root and the object's own labels and annotations. */}}
{{- define "grove.metadata" -}}
{{- $chart := dict "chart" (printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_")) "release" .root.Release.Name -}}
labels:
  {{- toYaml (merge $chart (.labels | default dict) (.root.Values.commonLabels | default dict)) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Reference of an image; call with a dict of root and image. */}}
{{- define "grove.image" -}}
{{- $tag := .image.tag | default .root.Chart.AppVersion -}}
{{- printf "%s%s%s" (required "image.repository is required" .image.repository) (ternary "@" ":" (hasPrefix "sha256:" $tag)) $tag -}}
{{- end -}}

{{- define "grove.serviceAccountName" -}}
{{- required "serviceAccount.name is required" .Values.serviceAccount.name -}}
{{- end -}}

{{- define "grove.replicas" -}}
{{- $leads := .Values.config.leaderElection.enabled | default false -}}
{{- $replicas := ternary (ternary 2 1 $leads) .Values.replicaCount (kindIs "invalid" .Values.replicaCount) | int -}}
{{- if and (gt $replicas 1) (not $leads) -}}
{{- fail "replicaCount is above 1 while config.leaderElection.enabled is false: two operators would act at the same time. Enable leader election or set replicaCount to 1." -}}
{{- end -}}
{{- $replicas -}}
{{- end -}}
