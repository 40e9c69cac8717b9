// SPDX-License-Identifier: Apache-2.0

// All errors of `status.lastErrors`, with one constructor each. Code and text of an error are declared only here. A
// constructor takes what the text names and returns a function that adds the cause.
import { cliqueErrorCode, type ErrorCode, label, scalingGroupErrorCode, setErrorCode } from '@grove/api'
import { CodedError } from './coded-error.ts'

export type ErrorConstructor = (cause?: unknown) => CodedError

const sync =
  (code: ErrorCode, message: string): ErrorConstructor =>
  cause =>
    new CodedError('Sync', code, message, cause)

export const cliqueErrors = {
  unknownClique: (set: string, name: string) =>
    sync(cliqueErrorCode.getTemplate, `PodCliqueSet ${set} has no clique that makes ${name}`),
  schedulerNotEnabled: (name: string) =>
    sync(cliqueErrorCode.buildPod, `schedulerName "${name}" is not an enabled scheduler backend`),
  schedulerNotRendered: (name: string) =>
    sync(cliqueErrorCode.buildPod, `schedulerName "${name}" is not enabled in OperatorConfiguration`),
  buildPod: sync(cliqueErrorCode.buildPod, 'Error building pod'),
  createPod: (hostname: string) => sync(cliqueErrorCode.createPod, `Error creating pod ${hostname}`),
  deletePod: (name: string) => sync(cliqueErrorCode.deletePod, `Error deleting pod ${name}`),
  removeGate: (pod: string) => sync(cliqueErrorCode.removeGate, `Error removing the gate of pod ${pod}`),
}

export const groupErrors = {
  noReplicaIndex: (group: string) =>
    sync(scalingGroupErrorCode.missingReplicaIndex, `${group} has no label ${label.setReplicaIndex}`),
  replicaIndexNotANumber: (group: string, text: string) =>
    sync(
      scalingGroupErrorCode.replicaIndexNotANumber,
      `${group} has the label ${label.setReplicaIndex} "${text}", which is no index`,
    ),
  unknownGroup: (set: string, name: string) =>
    sync(scalingGroupErrorCode.createCliques, `PodCliqueSet ${set} has no scaling group that makes ${name}`),
  createMember: (clique: string) =>
    sync(scalingGroupErrorCode.createCliques, `Error creating PodClique ${clique}`),
  foreignMember: (clique: string) =>
    sync(
      scalingGroupErrorCode.createCliques,
      `PodClique ${clique} exists and is not controlled by this PodCliqueScalingGroup; remove it or rename the PodCliqueSet`,
    ),
  labelMember: (clique: string) =>
    sync(scalingGroupErrorCode.applyCliques, `Error labelling PodClique ${clique}`),
  updateMember: (clique: string) =>
    sync(scalingGroupErrorCode.applyCliques, `Error updating PodClique ${clique}`),
  deleteReplicas: (replicas: readonly number[]) =>
    sync(scalingGroupErrorCode.deleteCliques, `Error deleting replicas ${replicas.join(', ')}`),
}

export const gangErrors = {
  foreignGang: (gang: string) =>
    sync(
      setErrorCode.setControllerReference,
      `PodGang ${gang} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  writeGang: (gang: string) => sync(setErrorCode.applyPodGang, `Error creating or patching PodGang ${gang}`),
  deleteGang: (gang: string) => sync(setErrorCode.deletePodGang, `Error deleting PodGang ${gang}`),
  mapping: (message: string) => sync(setErrorCode.applyPodGang, message),
  foreignSchedulerObject: (kind: string, name: string, apiVersion: string) =>
    sync(
      setErrorCode.setControllerReference,
      `${kind} ${name} of ${apiVersion} exists and is not controlled by PodGang ${name}; delete it or rename the PodCliqueSet`,
    ),
  kindNotServed: (kind: string, apiVersion: string, gang: string) =>
    sync(
      setErrorCode.applyPodGang,
      `the cluster does not serve ${kind} of ${apiVersion}: install the scheduler that PodGang ${gang} is for`,
    ),
  writeSchedulerObject: (kind: string, name: string, apiVersion: string) =>
    sync(setErrorCode.applyPodGang, `Error writing ${kind} ${name} of ${apiVersion}`),
}

/** Claims belong to a set, a scaling group or a clique, and carry the code of their owner. */
export const claimErrors = {
  notServed: (code: ErrorCode) =>
    sync(code, 'devices are shared, but the cluster does not serve resource.k8s.io/v1'),
  foreign: (code: ErrorCode, claim: string, controller: string) =>
    sync(code, `ResourceClaim ${claim} exists and is controlled by ${controller}`),
  notOfThisSet: (code: ErrorCode, claim: string) =>
    sync(
      code,
      `ResourceClaim ${claim} exists and does not belong to this PodCliqueSet; delete it or rename the PodCliqueSet`,
    ),
  terminating: (code: ErrorCode, claim: string) =>
    sync(code, `ResourceClaim ${claim} is still being deleted`),
  create: (code: ErrorCode, claim: string) => sync(code, `Error creating ResourceClaim ${claim}`),
  delete: (code: ErrorCode, claim: string) => sync(code, `Error deleting ResourceClaim ${claim}`),
  namespaceNotAllowed: (code: ErrorCode, namespace: string) =>
    sync(
      code,
      `claim templates of namespace ${namespace} may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`,
    ),
  noTemplate: (code: ErrorCode, template: string) =>
    sync(code, `ResourceClaimTemplate ${template} does not exist`),
}

export const setErrors = {
  adopt: (code: ErrorCode, kind: string, name: string) =>
    sync(code, `Error taking over ${kind} ${name}, which has no controller`),
  writeChild: (code: ErrorCode, kind: string, name: string) =>
    sync(code, `${kind} ${name} cannot be written`),
  deleteChild: (code: ErrorCode, kind: string, name: string) =>
    sync(code, `${kind} ${name} cannot be deleted`),
  foreignChild: (code: ErrorCode, kind: string, name: string) =>
    sync(
      code,
      `${kind} ${name} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  childrenNotAttempted: (code: ErrorCode, kind: string, count: number) =>
    sync(code, `${count} more ${kind} objects wait until these can be created`),
  createDomain: (domain: string) =>
    sync(setErrorCode.syncComputeDomain, `Error creating ComputeDomain ${domain}`),
  domainTerminating: (domain: string) =>
    sync(setErrorCode.syncComputeDomain, `ComputeDomain ${domain} is still being deleted`),
  foreignDomain: (domain: string) =>
    sync(
      setErrorCode.syncComputeDomain,
      `ComputeDomain ${domain} exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet`,
    ),
  releaseDomain:
    (domain: string): ErrorConstructor =>
    cause =>
      new CodedError(
        'Delete',
        setErrorCode.deleteComputeDomain,
        `Error releasing ComputeDomain ${domain}`,
        cause,
      ),
  recordRevision: sync(setErrorCode.syncRevision, 'Error recording the revision of the set'),
  removeReplicas: sync(setErrorCode.deleteClique, 'Error removing replicas of the set'),
  terminateReplica: (replica: number) =>
    sync(setErrorCode.deleteReplica, `Error terminating replica ${replica}`),
  confirmTermination: (replica: number) =>
    sync(
      setErrorCode.computeReplicaDeletion,
      `Error asking the pods of replica ${replica} before its termination`,
    ),
  createSecret: (secret: string) => sync(setErrorCode.createSecret, `Error creating Secret ${secret}`),
  readSecret: (secret: string) => sync(setErrorCode.getSecret, `Error reading Secret ${secret}`),
  deleteSecret: (secret: string) => sync(setErrorCode.deleteSecret, `Error deleting Secret ${secret}`),
  foreignSecret: (secret: string) =>
    sync(
      setErrorCode.secretConflict,
      `Secret ${secret} exists and is not controlled by this PodCliqueSet; remove it`,
    ),
  listPods: (set: string) => sync(setErrorCode.listPods, `Error listing pods of ${set}`),
  tokenMissing: (secret: string) =>
    sync(
      setErrorCode.tokenMissing,
      `Secret ${secret} has no token, and pods that start after others wait for it; check that kube-controller-manager fills in tokens of service accounts, or delete the Secret so that it is created again`,
    ),
}
