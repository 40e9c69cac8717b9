// SPDX-License-Identifier: Apache-2.0

/** The treatment of a PodSpec field by the planner. */
export type FieldUse =
  | { readonly use: 'read' }
  | { readonly use: 'ignored'; readonly because: string }
  | { readonly use: 'unsupported' }

const read: FieldUse = { use: 'read' }
const unsupported: FieldUse = { use: 'unsupported' }
const ignored = (because: string): FieldUse => ({ use: 'ignored', because })
const runtimeOnly = ignored('the kubelet applies it after the pod is bound')
const identityOnly = ignored('it names the pod or its account, not where it runs')

/**
 * Every field of a PodSpec. A pod that sets a field that is not in this table is not placed, because the field may
 * restrict the nodes. A test compares the table with the schema of Kubernetes.
 */
export const podFields: Readonly<Record<string, FieldUse>> = {
  activeDeadlineSeconds: runtimeOnly,
  affinity: read,
  automountServiceAccountToken: identityOnly,
  containers: read,
  dnsConfig: runtimeOnly,
  dnsPolicy: runtimeOnly,
  enableServiceLinks: runtimeOnly,
  ephemeralContainers: ignored('ephemeral containers have no resources and start after binding'),
  evictionResponders: ignored('it matters when a pod is evicted'),
  hostAliases: runtimeOnly,
  hostIPC: runtimeOnly,
  hostNetwork: read,
  hostPID: runtimeOnly,
  hostUsers: runtimeOnly,
  hostname: identityOnly,
  hostnameOverride: identityOnly,
  imagePullSecrets: runtimeOnly,
  initContainers: read,
  nodeName: read,
  nodeSelector: read,
  os: ignored('the scheduler of Kubernetes ignores it too; the kubelet rejects a pod of another system'),
  overhead: read,
  preemptionPolicy: ignored('the PriorityClass of the gang decides'),
  priority: ignored('the PriorityClass of the gang decides'),
  priorityClassName: ignored('the PriorityClass of the gang decides'),
  readinessGates: runtimeOnly,
  resourceClaims: read,
  resources: read,
  restartPolicy: runtimeOnly,
  runtimeClassName: ignored(
    'admission copies the node selector, tolerations and overhead of the class to the pod',
  ),
  schedulerName: read,
  schedulingGates: read,
  schedulingGroup: unsupported,
  securityContext: runtimeOnly,
  serviceAccount: identityOnly,
  serviceAccountName: identityOnly,
  setHostnameAsFQDN: identityOnly,
  shareProcessNamespace: runtimeOnly,
  subdomain: identityOnly,
  terminationGracePeriodSeconds: runtimeOnly,
  tolerations: read,
  topologySpreadConstraints: read,
  volumes: read,
  workloadRef: unsupported,
}

/** Returns the paths of set fields that the core does not support. */
export function unsupportedFields(spec: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(spec)
    .filter(name => isSet(spec[name]))
    .filter(name => !Object.hasOwn(podFields, name) || podFields[name]?.use === 'unsupported')
    .map(name => `spec.${name}`)
    .sort()
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}
