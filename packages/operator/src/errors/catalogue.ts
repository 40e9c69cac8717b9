// SPDX-License-Identifier: Apache-2.0

// All errors of `status.lastErrors`, with one constructor each. Code and text of an error are declared only here. A
// constructor takes what the text names and returns a function that adds the cause.
import { cliqueErrorCode, type ErrorCode, label, scalingGroupErrorCode, setErrorCode } from '@grove/api'
import { CodedError } from './coded-error.ts'

export type ErrorConstructor = (cause?: unknown) => CodedError

function syncError(code: ErrorCode, message: string): ErrorConstructor {
  return cause => new CodedError('Sync', code, message, cause)
}

function deleteError(code: ErrorCode, message: string): ErrorConstructor {
  return cause => new CodedError('Delete', code, message, cause)
}

export const cliqueErrors = {
  unknownClique: (set: string, name: string) =>
    syncError(cliqueErrorCode.getTemplate, `PodCliqueSet ${set} defines no clique for PodClique ${name}`),
  schedulerNotEnabled: (name: string) =>
    syncError(cliqueErrorCode.buildPod, `schedulerName "${name}" is not an enabled scheduler backend`),
  schedulerNotRendered: (name: string) =>
    syncError(cliqueErrorCode.buildPod, `schedulerName "${name}" is not enabled in OperatorConfiguration`),
  buildPod: syncError(cliqueErrorCode.buildPod, 'Error building pod'),
  createPod: (hostname: string) => syncError(cliqueErrorCode.createPod, `Error creating pod ${hostname}`),
  deletePod: (name: string) => syncError(cliqueErrorCode.deletePod, `Error deleting pod ${name}`),
  removeGate: (pod: string) => syncError(cliqueErrorCode.removeGate, `Error removing the gate of pod ${pod}`),
}

export const groupErrors = {
  noReplicaIndex: (group: string) =>
    syncError(scalingGroupErrorCode.missingReplicaIndex, `${group} has no label ${label.setReplicaIndex}`),
  replicaIndexNotANumber: (group: string, text: string) =>
    syncError(
      scalingGroupErrorCode.replicaIndexNotANumber,
      `${group} has the label ${label.setReplicaIndex} "${text}", which is no index`,
    ),
  unknownGroup: (set: string, name: string) =>
    syncError(
      scalingGroupErrorCode.createCliques,
      `PodCliqueSet ${set} defines no scaling group for PodCliqueScalingGroup ${name}`,
    ),
  createMember: (clique: string) =>
    syncError(scalingGroupErrorCode.createCliques, `Error creating PodClique ${clique}`),
  foreignMember: (clique: string) =>
    syncError(
      scalingGroupErrorCode.createCliques,
      `PodClique ${clique} exists and is not controlled by this PodCliqueScalingGroup; remove it or rename the PodCliqueSet`,
    ),
  labelMember: (clique: string) =>
    syncError(scalingGroupErrorCode.applyCliques, `Error labelling PodClique ${clique}`),
  updateMember: (clique: string) =>
    syncError(scalingGroupErrorCode.applyCliques, `Error updating PodClique ${clique}`),
  deleteReplicas: (replicas: readonly number[]) =>
    syncError(scalingGroupErrorCode.deleteCliques, `Error deleting replicas ${replicas.join(', ')}`),
}

export const gangErrors = {
  foreignGang: (gang: string) =>
    syncError(
      setErrorCode.setControllerReference,
      `PodGang ${gang} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  writeGang: (gang: string) =>
    syncError(setErrorCode.applyPodGang, `Error creating or patching PodGang ${gang}`),
  deleteGang: (gang: string) => syncError(setErrorCode.deletePodGang, `Error deleting PodGang ${gang}`),
  mapping: (message: string) => syncError(setErrorCode.applyPodGang, message),
  foreignSchedulerObject: (kind: string, name: string, apiVersion: string) =>
    syncError(
      setErrorCode.setControllerReference,
      `${kind} ${name} of ${apiVersion} exists and is not controlled by PodGang ${name}; delete it or rename the PodCliqueSet`,
    ),
  kindNotServed: (kind: string, apiVersion: string, gang: string) =>
    syncError(
      setErrorCode.applyPodGang,
      `the cluster does not serve ${kind} of ${apiVersion}: install the scheduler that PodGang ${gang} is for`,
    ),
  writeSchedulerObject: (kind: string, name: string, apiVersion: string) =>
    syncError(setErrorCode.applyPodGang, `Error writing ${kind} ${name} of ${apiVersion}`),
}

/** Claims belong to a set, a scaling group or a clique, and carry the code of their owner. */
export const claimErrors = {
  notServed: (code: ErrorCode) =>
    syncError(code, 'devices are shared, but the cluster does not serve resource.k8s.io/v1'),
  foreign: (code: ErrorCode, claim: string, controller: string) =>
    syncError(code, `ResourceClaim ${claim} exists and is controlled by ${controller}`),
  notOfThisSet: (code: ErrorCode, claim: string) =>
    syncError(
      code,
      `ResourceClaim ${claim} exists and does not belong to this PodCliqueSet; delete it or rename the PodCliqueSet`,
    ),
  terminating: (code: ErrorCode, claim: string) =>
    syncError(code, `ResourceClaim ${claim} is still being deleted`),
  create: (code: ErrorCode, claim: string) => syncError(code, `Error creating ResourceClaim ${claim}`),
  delete: (code: ErrorCode, claim: string) => syncError(code, `Error deleting ResourceClaim ${claim}`),
  namespaceNotAllowed: (code: ErrorCode, namespace: string) =>
    syncError(
      code,
      `claim templates of namespace ${namespace} may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`,
    ),
  noTemplate: (code: ErrorCode, template: string) =>
    syncError(code, `ResourceClaimTemplate ${template} does not exist`),
}

export const setErrors = {
  adopt: (code: ErrorCode, kind: string, name: string) =>
    syncError(code, `Error taking over ${kind} ${name}, which has no controller`),
  writeChild: (code: ErrorCode, kind: string, name: string) =>
    syncError(code, `${kind} ${name} cannot be written`),
  deleteChild: (code: ErrorCode, kind: string, name: string) =>
    syncError(code, `${kind} ${name} cannot be deleted`),
  foreignChild: (code: ErrorCode, kind: string, name: string) =>
    syncError(
      code,
      `${kind} ${name} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  childrenNotAttempted: (code: ErrorCode, kind: string, count: number) =>
    syncError(code, `${count} more ${kind} objects wait until these can be created`),
  createDomain: (domain: string) =>
    syncError(setErrorCode.syncComputeDomain, `Error creating ComputeDomain ${domain}`),
  domainTerminating: (domain: string) =>
    syncError(setErrorCode.syncComputeDomain, `ComputeDomain ${domain} is still being deleted`),
  foreignDomain: (domain: string) =>
    syncError(
      setErrorCode.syncComputeDomain,
      `ComputeDomain ${domain} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  releaseDomain: (domain: string) =>
    deleteError(setErrorCode.deleteComputeDomain, `Error releasing ComputeDomain ${domain}`),
  recordRevision: syncError(setErrorCode.syncRevision, 'Error recording the revision of the set'),
  removeReplicas: syncError(setErrorCode.deleteClique, 'Error removing replicas of the set'),
  terminateReplica: (replica: number) =>
    syncError(setErrorCode.deleteReplica, `Error terminating replica ${replica}`),
  confirmTermination: (replica: number) =>
    syncError(
      setErrorCode.computeReplicaDeletion,
      `Error listing the pods of replica ${replica} before its termination`,
    ),
  createSecret: (secret: string) => syncError(setErrorCode.createSecret, `Error creating Secret ${secret}`),
  readSecret: (secret: string) => syncError(setErrorCode.getSecret, `Error reading Secret ${secret}`),
  deleteSecret: (secret: string) => syncError(setErrorCode.deleteSecret, `Error deleting Secret ${secret}`),
  foreignSecret: (secret: string) =>
    syncError(
      setErrorCode.secretConflict,
      `Secret ${secret} exists and is not controlled by this PodCliqueSet; remove it`,
    ),
  listPods: (set: string) => syncError(setErrorCode.listPods, `Error listing pods of ${set}`),
  tokenMissing: (secret: string) =>
    syncError(
      setErrorCode.tokenMissing,
      `Secret ${secret} has no token, and pods that start after others wait for it; check that kube-controller-manager fills in tokens of service accounts, or delete the Secret so that it is created again`,
    ),
}
