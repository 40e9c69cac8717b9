// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '@grove/apimachinery'
import { annotation } from '../annotations.ts'
import { apiVersion as groveApiVersion } from '../kinds.ts'
import type { ObjectMeta } from '../kubernetes/index.ts'
import { label } from '../labels.ts'
import { operatorName } from '../names.ts'
import type { Lookup } from './cluster-view.ts'
import { decodeMetadata } from './decode.ts'

// Protects objects that belong to a PodCliqueSet against accidental changes. It is not a security boundary: it trusts
// owner references and labels, and a user who may edit the PodCliqueSet can disable it.

export interface ProtectionRequest {
  readonly operation: string
  readonly userName: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly object?: unknown
  readonly oldObject?: unknown
}

export interface ProtectionContext {
  /** The annotations of a PodCliqueSet. */
  podCliqueSetAnnotations(namespace: string, name: string): Lookup<Readonly<Record<string, string>>>
  /** The user name of the operator itself. */
  readonly ownUserName: string
  /** `authorizer.exemptServiceAccountUserNames` of the configuration. */
  readonly exemptUserNames: readonly string[]
}

export interface ProtectionResponse {
  readonly allowed: boolean
  readonly code: number
  readonly message: string
  readonly warnings: readonly string[]
}

/** `group/version/kind` of every kind that can belong to a PodCliqueSet. */
const protectedKinds: ReadonlySet<string> = new Set([
  '/v1/Secret',
  '/v1/ServiceAccount',
  '/v1/Service',
  '/v1/Pod',
  'rbac.authorization.k8s.io/v1/Role',
  'rbac.authorization.k8s.io/v1/RoleBinding',
  'autoscaling/v1/HorizontalPodAutoscaler',
  'autoscaling/v2/HorizontalPodAutoscaler',
  'grove.io/v1alpha1/PodClique',
  'grove.io/v1alpha1/PodCliqueScalingGroup',
  'scheduler.grove.io/v1alpha1/PodGang',
  'resource.k8s.io/v1/ResourceClaim',
  'resource.nvidia.com/v1beta1/ComputeDomain',
])

/** Authorizes one request. The first rule that applies wins. */
export function authorize(request: ProtectionRequest, context: ProtectionContext): ProtectionResponse {
  const { operation, userName } = request
  if (operation === 'CONNECT') return allow('operation CONNECT is allowed')
  if (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE') {
    return deny(500, `unsupported operation: operation ${operation}`)
  }
  const { group, version, kind } = request.kind
  if (!protectedKinds.has(`${group}/${version}/${kind}`)) {
    return allow(`admission allowed, objects of kind ${kind} are not protected`, [
      `${group || 'core'}/${version} ${kind} is not a kind that the operator manages, it is not protected`,
    ])
  }
  const metadata = metadataOf(operation === 'CREATE' ? request.object : request.oldObject)
  if (typeof metadata === 'string') return deny(400, `failed to decode request: ${metadata}`)

  const namespace = metadata.namespace ?? ''
  const resource = `${namespace}/${metadata.name}`
  const undetermined = `admission allowed, no PodCliqueSet could be determined for resource: ${resource}`
  const parent = parentOf(metadata)
  if (!parent) {
    return allow(undetermined, [
      `missing required label ${label.partOf} on resource ${resource}, could not determine parent PodCliqueSet`,
    ])
  }
  const annotations = context.podCliqueSetAnnotations(namespace, parent)
  switch (annotations.outcome) {
    case 'notFound':
      return allow(undetermined, [`parent PodCliqueSet ${parent} not found for resource: ${resource}`])
    case 'failed':
      return deny(500, annotations.error)
    case 'found':
      if (annotations.value[annotation.disableProtection] === 'true') {
        return allow(
          `admission allowed, resource protection is disabled for PodCliqueSet: ${namespace}/${parent}`,
        )
      }
  }
  if (operation === 'DELETE' && group === '' && kind === 'Pod') {
    return allow(
      'admission allowed, deletion of resource: Pod is allowed for all users having sufficient RBAC',
    )
  }
  const action = operation === 'DELETE' ? 'deletion' : 'creation/updation'
  const subject = `${action} of resource: ${resource}`
  if (userName === context.ownUserName) {
    return allow(`admission allowed, ${subject} is initiated by the grove reconciler service account`)
  }
  if (operation === 'UPDATE') {
    const removed = removedLabel(metadata, request.object)
    if (removed)
      return deny(403, `admission denied, label ${removed} of resource: ${resource} must not be changed`)
  }
  if (context.exemptUserNames.includes(userName)) {
    return allow(`admission allowed, ${subject} is initiated by exempt serviceaccount: ${userName}`)
  }
  return deny(403, `admission denied, ${subject} is not allowed`)
}

function allow(message: string, warnings: readonly string[] = []): ProtectionResponse {
  return { allowed: true, code: 200, message, warnings }
}

function deny(code: number, message: string): ProtectionResponse {
  return { allowed: false, code, message, warnings: [] }
}

function metadataOf(object: unknown): ObjectMeta | string {
  if (!isJsonObject(object)) return 'the request contains no object'
  const decoded = decodeMetadata(object)
  return decoded.ok ? decoded.value : decoded.message
}

/** The operator and the garbage collector keep the owner reference correct. A label is easily changed. */
function parentOf({ ownerReferences = [], labels }: ObjectMeta): string | undefined {
  const owner = ownerReferences.find(
    reference =>
      reference.controller && reference.apiVersion === groveApiVersion && reference.kind === 'PodCliqueSet',
  )
  return owner?.name || labels?.[label.partOf]
}

/** Without these two labels an object would silently lose its protection. */
function removedLabel(old: ObjectMeta, object: unknown): string | undefined {
  if (old.labels?.[label.managedBy] !== operatorName) return undefined
  const now = metadataOf(object)
  if (typeof now === 'string') return undefined
  return [label.managedBy, label.partOf].find(key => now.labels?.[key] !== old.labels?.[key])
}
