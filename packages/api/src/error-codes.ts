// SPDX-License-Identifier: Apache-2.0

// Codes of `status.lastErrors`, by the object that carries them. Dashboards match them, spelling included.

export const setErrorCode = {
  syncServiceAccount: 'ERR_SYNC_SERVICEACCOUNT',
  syncRole: 'ERR_SYNC_ROLE',
  syncRoleBinding: 'ERR_SYNC_ROLEBINDING',
  getSecret: 'ERR_GET_SECRET',
  secretConflict: 'ERR_SECRET_CONFLICT',
  setControllerReference: 'ERR_SET_CONTROLLER_REFERENCE',
  createSecret: 'ERR_CREATE_SECRET',
  listPods: 'ERR_LIST_PODS',
  deleteSecret: 'ERR_DELETE_SECRET',
  syncService: 'ERR_SYNC_PODCLIQUESET_SERVICE',
  syncAutoscaler: 'ERR_SYNC_HPA',
  computeReplicaDeletion: 'ERR_COMPUTE_PCS_REPLICA_DELETION_WORK',
  deleteReplica: 'ERR_DELETE_PCS_REPLICA',
  updateStatus: 'ERR_UPDATE_PCS_STATUS',
  syncComputeDomain: 'ERR_SYNC_COMPUTEDOMAIN',
  deleteComputeDomain: 'ERR_DELETE_COMPUTEDOMAIN',
  syncResourceClaim: 'ERR_SYNC_PCS_RESOURCE_CLAIM',
  syncRevision: 'ERR_SYNC_CONTROLLERREVISION',
  syncClique: 'ERR_SYNC_PODCLIQUE',
  deleteClique: 'ERR_DELETE_PODCLIQUE',
  syncScalingGroup: 'ERR_SYNC_PODCLIQUESCALINGGROUP',
  deletePodGang: 'ERR_DELETE_EXCESS_PODGANG',
  applyPodGang: 'ERR_CREATE_OR_PATCH_PODGANG',
  tokenMissing: 'ERR_SECRET_WITHOUT_TOKEN',
  limitExceeded: 'ERR_REPLICA_LIMIT_EXCEEDED',
} as const

export const cliqueErrorCode = {
  syncResourceClaim: 'ERR_SYNC_PCLQ_RESOURCE_CLAIM',
  getTemplate: 'ERR_GET_PODCLIQUE_TEMPLATE',
  listPods: 'ERR_LIST_POD',
  buildPod: 'ERR_BUILD_POD_RESOURCE',
  waiterImageMissing: 'ERR_INITCONTAINER_ENVIRONMENT_VARIABLE_MISSING',
  createPod: 'ERR_CREATE_POD',
  deletePod: 'ERR_DELETE_POD',
  removeGate: 'ERR_REMOVE_POD_SCHEDULING_GATE',
} as const

export const scalingGroupErrorCode = {
  missingReplicaIndex: 'ERR_MISSING_PODCLIQUESET_REPLICA_INDEX',
  replicaIndexNotANumber: 'ERR_PODCLIQUESET_REPLICA_INDEX_CONVERSION',
  listCliques: 'ERR_LIST_PODCLIQUE_FOR_PCSG',
  syncResourceClaim: 'ERR_SYNC_PCSG_RESOURCE_CLAIM',
  deleteCliques: 'ERR_DELETE_PODCLIQUE',
  createCliques: 'ERR_CREATE_PODCLIQUES',
  applyCliques: 'ERR_CREATE_OR_UPDATE_PODCLIQUES',
  setOwner: 'ERR_SET_PODCLIQUE_OWNER_REFERENCE',
} as const

/**
 * Codes of the published API that this operator does not report. They stay reserved, so that no other failure gets a
 * code that dashboards already interpret. Move an entry to its catalogue above before using it.
 */
export const reservedErrorCodes = {
  set: {
    getRole: 'ERR_GET_ROLE',
    getRoleBinding: 'ERR_GET_ROLEBINDING',
    listAutoscalers: 'ERR_LIST_HPA',
    deleteAutoscaler: 'ERR_DELETE_HPA',
    listCliquesForUpdate: 'ERR_LIST_PCLQs',
    listScalingGroupsForUpdate: 'ERR_LIST_PCGS',
    listComputeDomains: 'ERR_LIST_COMPUTEDOMAIN',
    listCliques: 'ERR_LIST_PODCLIQUES',
    applyClique: 'ERR_CREATE_OR_UPDATE_PODCLIQUE',
    listScalingGroups: 'ERR_LIST_PODCLIQUESCALINGGROUP',
    createScalingGroup: 'ERR_CREATE_PODCLIQUESCALINGGROUP',
    deleteScalingGroup: 'ERR_DELETE_PODCLIQUESCALINGGROUP',
    listCliquesForGangs: 'ERR_LIST_PODCLIQUES_FOR_PODCLIQUESET',
    listScalingGroupsForGangs: 'ERR_LIST_PODCLIQUESCALINGGROUPS_FOR_PODCLIQUESET',
    listPodsForGangs: 'ERR_LIST_PODS_FOR_PODCLIQUESET',
    listPodGangs: 'ERR_LIST_PODGANGS',
    getTopologyLevels: 'ERR_GET_CLUSTER_TOPOLOGY_LEVELS',
    computePodGangs: 'ERR_COMPUTE_EXISTING_PODGANG',
  },
  clique: {
    getSet: 'ERR_GET_PODCLIQUESET',
    missingPodGangLabel: 'ERR_MISSING_PODGANG_LABEL_ON_PODCLIQUE',
    hostnameIndices: 'ERR_GET_AVAILABLE_POD_HOSTNAME_INDICES',
    getSetReplicaIndex: 'ERR_GET_PODCLIQUESET_REPLICA_INDEX',
    setControllerReference: 'ERR_SET_CONTROLLER_REFERENCE',
    missingTemplate: 'ERR_MISSING_PODCLIQUE_TEMPLATE',
    updateStatus: 'ERR_UPDATE_PODCLIQUE_STATUS',
    getPodGang: 'ERR_GET_PODGANG',
    getClique: 'ERR_GET_PODCLIQUE',
  },
  scalingGroup: {
    getSet: 'ERR_GET_PODCLIQUESET',
    parseReplicaIndex: 'ERR_PARSE_PODCLIQUESCALINGGROUP_REPLICA_INDEX',
    buildClique: 'ERR_BUILD_PODCLIQUE',
    undefinedStartupType: 'ERR_UNDEFINED_STARTUP_TYPE',
    createClique: 'ERR_CREATE_PODCLIQUE',
    computePendingUpdate: 'ERR_COMPUTE_PENDINGUPDATE_WORK',
    updateStatus: 'ERR_UPDATE_STATUS',
  },
} as const

type ValueOf<T> = T[keyof T]
export type ErrorCode =
  | ValueOf<typeof setErrorCode>
  | ValueOf<typeof cliqueErrorCode>
  | ValueOf<typeof scalingGroupErrorCode>

export type Operation = 'Sync' | 'Delete' | 'GetExistingResourceNames'

/** The text of a coded error, for `lastErrors[].description` and for logs. */
export function describeCodedError(
  operation: Operation,
  code: ErrorCode,
  message: string,
  cause?: string,
): string {
  const text = `[Operation: ${operation}, Code: ${code}] message: ${message}`
  return cause === undefined ? text : `${text}, cause: ${cause}`
}
