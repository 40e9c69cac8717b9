// SPDX-License-Identifier: Apache-2.0

import type { ObjectOf } from '../../object.ts'
import type {
  AdmissionregistrationMutatingWebhookConfiguration,
  DiscoveryEndpointSlice,
  Endpoints,
  Namespace,
  NetworkingNetworkPolicy,
  PersistentVolume,
  PersistentVolumeClaim,
  RbacRoleBinding,
  ResourceResourceClaim,
  ResourceResourceClaimSpec,
  ResourceResourceClaimTemplate,
  SchedulingPriorityClass,
  Secret,
  Service,
  StorageStorageClass,
} from '../../schema/types.generated.ts'

const affinitySeconds = 10_800
const webhookTimeoutSeconds = 10
const httpsPort = 443

export function defaultNamespace(namespace: ObjectOf<Namespace>): void {
  namespace.status = { ...namespace.status, phase: namespace.status?.phase || 'Active' }
  // Namespace selectors match this label, so it always exists.
  if (namespace.metadata.name)
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    }
}

/** Moves the write-only field `stringData` into `data`. */
export function defaultSecret(secret: Secret): void {
  if (secret.stringData) {
    secret.data = { ...secret.data }
    for (const [key, text] of Object.entries(secret.stringData))
      secret.data[key] = Buffer.from(text).toString('base64')
    delete secret.stringData
  }
  secret.type ||= 'Opaque'
}

export function defaultService({ spec }: Service): void {
  if (!spec) return
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  else if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } }
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    if (!port.targetPort) port.targetPort = port.port
  }
  const external =
    spec.type === 'NodePort' ||
    spec.type === 'LoadBalancer' ||
    (spec.type === 'ClusterIP' && Boolean(spec.externalIPs?.length))
  if (external) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

export function defaultEndpoints(draft: Endpoints): void {
  for (const subset of draft.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
}

export function defaultEndpointSlice(draft: DiscoveryEndpointSlice): void {
  for (const port of draft.ports ?? []) {
    port.name ??= ''
    port.protocol ??= 'TCP'
  }
}

export function defaultClaim(claim: PersistentVolumeClaim): void {
  claim.status = { ...claim.status, phase: claim.status?.phase || 'Pending' }
  if (claim.spec) claim.spec.volumeMode ??= 'Filesystem'
}

export function defaultVolume(volume: PersistentVolume): void {
  volume.status = { ...volume.status, phase: volume.status?.phase || 'Pending' }
  if (!volume.spec) return
  volume.spec.persistentVolumeReclaimPolicy ||= 'Retain'
  volume.spec.volumeMode ??= 'Filesystem'
}

const rbacGroup = 'rbac.authorization.k8s.io'

export function defaultRoleBinding(binding: RbacRoleBinding): void {
  if (binding.roleRef) binding.roleRef.apiGroup ||= rbacGroup
  for (const subject of binding.subjects ?? [])
    if (subject.kind !== 'ServiceAccount') subject.apiGroup ||= rbacGroup
}

export function defaultNetworkPolicy({ spec }: NetworkingNetworkPolicy): void {
  if (!spec) return
  for (const { ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
    for (const port of ports ?? []) port.protocol ??= 'TCP'
  if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']
}

export function defaultPriorityClass(draft: SchedulingPriorityClass): void {
  draft.preemptionPolicy ??= 'PreemptLowerPriority'
}

export function defaultStorageClass(storageClass: StorageStorageClass): void {
  storageClass.reclaimPolicy ??= 'Delete'
  storageClass.volumeBindingMode ??= 'Immediate'
}

export function defaultWebhooks(draft: AdmissionregistrationMutatingWebhookConfiguration): void {
  const mutating = draft.kind === 'MutatingWebhookConfiguration'
  for (const webhook of draft.webhooks ?? []) {
    webhook.failurePolicy ??= 'Fail'
    webhook.matchPolicy ??= 'Equivalent'
    webhook.namespaceSelector ??= {}
    webhook.objectSelector ??= {}
    webhook.timeoutSeconds ??= webhookTimeoutSeconds
    if (mutating) webhook.reinvocationPolicy ??= 'Never'
    for (const rule of webhook.rules ?? []) rule.scope ??= '*'
    if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= httpsPort
  }
}

export function defaultResourceClaim(draft: ResourceResourceClaim): void {
  defaultClaimSpec(draft.spec)
}

export function defaultResourceClaimTemplate(draft: ResourceResourceClaimTemplate): void {
  defaultClaimSpec(draft.spec?.spec)
}

function defaultClaimSpec(spec: ResourceResourceClaimSpec | undefined): void {
  for (const request of spec?.devices?.requests ?? []) {
    for (const one of [request.exactly, ...(request.firstAvailable ?? [])]) {
      if (!one) continue
      one.allocationMode ||= 'ExactCount'
      if (one.allocationMode === 'ExactCount') one.count ||= 1
    }
  }
}
