{{/* The configuration of the operator as an object, without the keys that only the chart reads. */}}
{{- define "grove.configuration" -}}
{{- $config := deepCopy .Values.config -}}
{{- $server := $config.server -}}
{{- $_ := unset $server.healthProbes "enable" -}}
{{- if (.Values.certManager).enabled -}}
{{- $_ := set $server.webhooks "certProvisionMode" "manual" -}}
{{- end -}}
{{- if ne .Values.service.name "grove-operator" -}}
{{- $_ := set $server.webhooks "serviceName" .Values.service.name -}}
{{- end -}}
{{- if not $config.leaderElection.resourceNamespace -}}
{{- $_ := set $config.leaderElection "resourceNamespace" .Release.Namespace -}}
{{- end -}}
{{- if ($config.authorizer).enabled -}}
{{- if not $config.authorizer.reconcilerServiceAccountUserName -}}
{{- $_ := set $config.authorizer "reconcilerServiceAccountUserName" (printf "system:serviceaccount:%s:%s" .Release.Namespace (include "grove.serviceAccountName" .)) -}}
{{- end -}}
{{- else -}}
{{- $_ := unset $config "authorizer" -}}
{{- end -}}
{{- if (.Values.gangScheduler).enabled -}}
{{- $name := (include "grove.schedulerConfiguration" . | fromYaml).schedulerName -}}
{{- $profiles := ($config.scheduler).profiles | default list -}}
{{- $names := list -}}
{{- range $profiles -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- if not (has $name $names) -}}
{{- $_ := set $config "scheduler" (merge (dict "profiles" (append $profiles (dict "name" $name))) ($config.scheduler | default dict)) -}}
{{- end -}}
{{- end -}}
{{- $head := dict "apiVersion" "operator.config.grove.io/v1alpha1" "kind" "OperatorConfiguration" -}}
{{- include "grove.withNumbers" (merge $head $config) -}}
{{- end -}}

{{/* An object as YAML. Numeric keys that were set as text, as with --set-string, become numbers. */}}
{{- define "grove.withNumbers" -}}
{{- $keys := "qps|burst|port|pprofBindPort|concurrentSyncs|limit|podCliqueSetReplicas|scalingGroupReplicas|podCliqueReplicas|podsPerPodCliqueSet" -}}
{{- regexReplaceAll (printf `(?m)^( *(?:%s): )"(-?[0-9.]+)"$` $keys) (toYaml .) "${1}${2}" -}}
{{- end -}}

{{/* The configuration of the gang scheduler as an object. */}}
{{- define "grove.schedulerConfiguration" -}}
{{- $config := deepCopy (.Values.gangScheduler.config | default dict) -}}
{{- $election := merge ($config.leaderElection | default dict) (dict "resourceName" "grove-scheduler-leader-election" "resourceNamespace" .Release.Namespace) -}}
{{- if not (hasKey $election "enabled") -}}
{{- $_ := set $election "enabled" true -}}
{{- end -}}
{{- $defaults := dict "schedulerName" "grove-scheduler" "metrics" (dict "port" 9447) "healthProbes" (dict "port" 9448) -}}
{{- $head := dict "apiVersion" "scheduler.config.grove.io/v1alpha1" "kind" "SchedulerConfiguration" "leaderElection" $election -}}
{{- toYaml (merge $head $config $defaults) -}}
{{- end -}}

{{- define "grove.configMapName" -}}
grove-operator-cm-{{ include "grove.configuration" . | sha256sum | trunc 8 }}
{{- end -}}

{{- define "grove.certProvisionMode" -}}
{{- (include "grove.configuration" . | fromYaml).server.webhooks.certProvisionMode | default "auto" -}}
{{- end -}}

{{/* "true" unless the webhooks are switched off. */}}
{{- define "grove.webhooksEnabled" -}}
{{- $enabled := .Values.config.server.webhooks.enabled -}}
{{- if or (kindIs "invalid" $enabled) $enabled }}true{{ end -}}
{{- end -}}

{{/* Which conditions of files/operator.generated.json hold, as a YAML object. */}}
{{- define "grove.conditions" -}}
{{- $server := .Values.config.server -}}
{{- $webhooks := include "grove.webhooksEnabled" . -}}
{{- $auto := eq (include "grove.certProvisionMode" .) "auto" -}}
{{- $conditions := dict "always" true -}}
{{- range ((.Values.config.scheduler).profiles | default list) -}}
{{- $_ := set $conditions (printf "scheduler.%s" .name) true -}}
{{- end -}}
{{- if $webhooks -}}
{{- $_ := set $conditions (ternary "webhooks.auto" "webhooks.manual" $auto) true -}}
{{- end -}}
{{- if and $webhooks (.Values.config.placementWarnings).enabled -}}
{{- $_ := set $conditions "placementWarnings" true -}}
{{- end -}}
{{- if $server.metrics.secure -}}
{{- $_ := set $conditions "metrics.secure" true -}}
{{- end -}}
{{- if and $auto (or $webhooks $server.metrics.secure) -}}
{{- $_ := set $conditions "certificates.auto" true -}}
{{- end -}}
{{- toYaml $conditions -}}
{{- end -}}

{{/* The rules of one of the generated roles; call with a dict of root and role. */}}
{{- define "grove.rules" -}}
{{- $root := .root -}}
{{- $conditions := include "grove.conditions" $root | fromYaml -}}
{{- $rules := list -}}
{{- range index ($root.Files.Get "files/operator.generated.json" | fromJson) .role -}}
{{- if hasKey $conditions .when -}}
{{- $rules = concat $rules .rules -}}
{{- end -}}
{{- end -}}
{{- $webhooks := $root.Values.config.server.webhooks -}}
{{- toYaml $rules | replace "$(leaseName)" ($root.Values.config.leaderElection.resourceName | default "grove-operator-leader-election") | replace "$(secretName)" ($webhooks.secretName | default "grove-webhook-server-cert") -}}
{{- end -}}
