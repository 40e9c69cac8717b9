// SPDX-License-Identifier: Apache-2.0

// Kubernetes semantics of pod templates that the types do not contain. Fields are identified by the Go type that
// declares them and their JSON name.

const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
const container = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }
const fileMode = { defaultMode: 420 }

/**
 * Defaults that the API server sets on a new pod. `schedulerName` is omitted, because the operator sets its own default
 * scheduler.
 */
export const fieldDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'v1.PodSpec': {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
  },
  'v1.Container': container,
  'v1.EphemeralContainerCommon': container,
  'v1.ContainerPort': { protocol: 'TCP' },
  'v1.Probe': probe,
  'v1.HTTPGetAction': { path: '/', scheme: 'HTTP' },
  'v1.GRPCAction': { service: '' },
  'v1.ObjectFieldSelector': { apiVersion: 'v1' },
  'v1.FileKeySelector': { optional: false },
  'v1.HostPathVolumeSource': { type: '' },
  'v1.SecretVolumeSource': fileMode,
  'v1.ConfigMapVolumeSource': fileMode,
  'v1.DownwardAPIVolumeSource': fileMode,
  'v1.ProjectedVolumeSource': fileMode,
  'v1.ServiceAccountTokenProjection': { expirationSeconds: 3600 },
  'v1.PersistentVolumeClaimSpec': { volumeMode: 'Filesystem' },
  'v1.ISCSIVolumeSource': { iscsiInterface: 'default' },
  'v1.RBDVolumeSource': { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  'v1.AzureDiskVolumeSource': { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  'v1.ScaleIOVolumeSource': { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}

const containerLists = {
  ports: ['containerPort', 'protocol'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  resizePolicy: ['resourceName'],
}

/** Lists without a significant order, and their sort keys. All other lists keep their order. */
export const unorderedLists: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'v1.PodSpec': {
    containers: ['name'],
    ephemeralContainers: ['name'],
    volumes: ['name'],
    imagePullSecrets: ['name'],
    hostAliases: ['ip'],
    topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
    resourceClaims: ['name'],
  },
  'v1.Container': containerLists,
  'v1.EphemeralContainerCommon': containerLists,
}

/**
 * Pointers to these structs equal an absent value if they are empty, because all of their fields are optional. For
 * other pointers presence is significant: an empty `namespaceSelector` selects all namespaces, an absent one only the
 * own namespace.
 */
export const emptyMeansAbsent: ReadonlySet<string> = new Set([
  'v1.PodSecurityContext',
  'v1.SecurityContext',
  'v1.Capabilities',
  'v1.Affinity',
  'v1.NodeAffinity',
  'v1.PodAffinity',
  'v1.PodAntiAffinity',
  'v1.PodDNSConfig',
  'v1.Lifecycle',
  'v1.ResourceRequirements',
])

/** The default pull policy of Kubernetes for an image. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@', 2)
  const tag = /:([^:/]*)$/.exec(name)?.[1]
  const isLatest = tag === undefined ? digest === undefined && name !== '' : tag === 'latest'
  return isLatest ? 'Always' : 'IfNotPresent'
}
