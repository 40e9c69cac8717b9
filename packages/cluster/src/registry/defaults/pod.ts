// SPDX-License-Identifier: Apache-2.0

import type {
  Container,
  HTTPGetAction,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Probe,
  Volume,
} from '../../schema/types.generated.ts'

const defaultFileMode = 0o644
const defaultGraceSeconds = 30
const defaultTokenSeconds = 3600

export function defaultPod({ spec }: Pod): void {
  if (!spec) return
  defaultPodSpec(spec)
  if (spec.terminationGracePeriodSeconds! < 0) spec.terminationGracePeriodSeconds = 1
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    requestLimits(container)
    if (spec.hostNetwork) for (const port of container.ports ?? []) port.hostPort ||= port.containerPort
  }
  spec.enableServiceLinks ??= true
}

/** Requests default to limits. Only for pods, not for templates. */
function requestLimits(container: Container): void {
  const { resources } = container
  if (!resources?.limits) return
  resources.requests = { ...resources.limits, ...resources.requests }
}

export function defaultPodTemplate(template: PodTemplateSpec | undefined): void {
  if (template?.spec) defaultPodSpec(template.spec)
}

function defaultPodSpec(spec: PodSpec): void {
  spec.serviceAccountName ||= spec.serviceAccount
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
  else {
    delete spec.serviceAccountName
    delete spec.serviceAccount
  }
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= defaultGraceSeconds
  spec.schedulerName ||= 'default-scheduler'
  for (const container of spec.containers ?? []) defaultContainer(container)
  for (const container of spec.initContainers ?? []) defaultContainer(container)
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container as Container)
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= isLatest(container.image ?? '') ? 'Always' : 'IfNotPresent'
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  for (const port of container.ports ?? []) port.protocol ||= 'TCP'
  for (const variable of container.env ?? []) {
    if (variable.valueFrom?.fieldRef) variable.valueFrom.fieldRef.apiVersion ||= 'v1'
  }
  defaultProbe(container.livenessProbe)
  defaultProbe(container.readinessProbe)
  defaultProbe(container.startupProbe)
  defaultHttpGet(container.lifecycle?.postStart?.httpGet)
  defaultHttpGet(container.lifecycle?.preStop?.httpGet)
}

/** An image without tag or digest has the tag `latest`. An empty image is not an image. */
function isLatest(image: string): boolean {
  if (image === '' || image.includes('@')) return false
  const name = image.slice(image.lastIndexOf('/') + 1)
  const colon = name.indexOf(':')
  return colon < 0 || name.slice(colon + 1) === 'latest'
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function defaultHttpGet(action: HTTPGetAction | undefined): void {
  if (!action) return
  action.path ||= '/'
  action.scheme ||= 'HTTP'
}

function defaultVolume(volume: Volume): void {
  if (Object.keys(volume).length <= 1) volume.emptyDir = {}
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected])
    if (source) source.defaultMode ??= defaultFileMode
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.image)
    volume.image.pullPolicy ||= isLatest(volume.image.reference ?? '') ? 'Always' : 'IfNotPresent'
  for (const item of volume.downwardAPI?.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1'
  for (const source of volume.projected?.sources ?? []) {
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= defaultTokenSeconds
    for (const item of source.downwardAPI?.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1'
  }
  if (volume.ephemeral?.volumeClaimTemplate?.spec)
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem'
}
