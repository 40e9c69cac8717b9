// SPDX-License-Identifier: Apache-2.0

/** Variables that every container of a pod gets, in this order, before its own. The names are reserved. */
export const podEnvironment = {
  setName: 'GROVE_PCS_NAME',
  setIndex: 'GROVE_PCS_INDEX',
  cliqueName: 'GROVE_PCLQ_NAME',
  headlessService: 'GROVE_HEADLESS_SERVICE',
  podIndex: 'GROVE_PCLQ_POD_INDEX',
} as const

/** Additional variables for pods of a scaling group. They are part of the pod spec of the PodClique. */
export const scalingGroupEnvironment = {
  name: 'GROVE_PCSG_NAME',
  templatePodCount: 'GROVE_PCSG_TEMPLATE_NUM_PODS',
  index: 'GROVE_PCSG_INDEX',
} as const

/** Environment variables of the operator process. */
export const operatorEnvironment = {
  /** Image repository of the startup waiter, without tag. */
  waiterImage: 'GROVE_INIT_CONTAINER_IMAGE',
  serviceAccountName: 'GROVE_OPERATOR_SERVICE_ACCOUNT_NAME',
} as const

/** The init container that delays a pod until the cliques it starts after are ready. */
export const waiter = {
  containerName: 'grove-initc',
  podInfoVolume: 'pod-info-vol',
  podInfoPath: '/var/grove/pod-info',
  tokenVolume: 'sa-token-secret-vol',
  tokenPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  tokenFileMode: 420,
  namespaceFile: 'namespace',
  podGangFile: 'podgangname',
  argument: (cliqueName: string, minAvailable: number): string =>
    `--podcliques=${cliqueName}:${minAvailable}`,
} as const

/** Name of the claim that joins a pod to its ComputeDomain. */
export const mnnvlClaimName = 'mnnvl-claim'
export const gpuResourceName = 'nvidia.com/gpu'
