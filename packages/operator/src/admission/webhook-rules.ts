// SPDX-License-Identifier: Apache-2.0

// The admission webhooks as pure code, on top of the rules of the API package. Each webhook first names the objects
// that it needs looked up. The rules run in a review process, or in this process for the embedded cluster.
import {
  authorize,
  type ClusterTopologyBinding,
  type ClusterView,
  clusterNeeds,
  type Decoded,
  decodePodCliqueSet,
  defaultPodCliqueSet,
  kinds,
  type Lookup,
  label,
  type OperatorConfiguration,
  type PodCliqueSet,
  type ProtectionContext,
  rejectionMessage,
  shortenedWarnings,
  type ValidationOutcome,
  validateChangedPodCliqueSet,
  validateClusterTopologyBinding,
  validateNewPodCliqueSet,
} from '@grove/api'
import {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  denied,
  errored,
  type IsolatedWebhook,
  patched,
  unknownOperation,
} from '@grove/kube/admission'
import { scalingWebhook } from './scaling-webhook.ts'

/** The paths that API servers call. Installed webhook configurations contain them. */
export const webhookPaths = {
  defaultPodCliqueSet: '/webhooks/default-podcliqueset',
  validatePodCliqueSet: '/webhooks/validate-podcliqueset',
  validateClusterTopology: '/webhooks/validate-clustertopology',
  authorizer: '/webhooks/authorizer-webhook',
  warnAboutScaling: '/webhooks/scale-podclique',
  warnAboutPlacement: '/webhooks/placement-warnings',
} as const

/** The objects that webhooks look up, by name. */
export interface Questions {
  readonly topologyBindings: readonly string[]
  readonly volcanoQueues: readonly string[]
  readonly podCliqueSets: readonly { readonly namespace: string; readonly name: string }[]
  readonly podCliques?: readonly { readonly namespace: string; readonly name: string }[]
}

/** The objects that were found. Sets and cliques have the key `namespace/name`. */
export interface Facts {
  readonly topologyDomains: ReadonlyMap<string, Lookup<readonly string[]>>
  readonly volcanoQueueStates: ReadonlyMap<string, Lookup<string>>
  readonly podCliqueSetAnnotations: ReadonlyMap<string, Lookup<Readonly<Record<string, string>>>>
  readonly podCliqueLabels: ReadonlyMap<string, Lookup<Readonly<Record<string, string>>>>
}

export type GroveWebhook = IsolatedWebhook<Questions, Facts>

/** The start parameters of a review process. */
export interface AdmissionSetup {
  readonly configuration: OperatorConfiguration
  /** User names of the operator itself; none when the protection of managed objects is off. */
  readonly ownUserNames: readonly string[]
}

export function webhooksByPath({
  configuration,
  ownUserNames,
}: AdmissionSetup): Record<string, GroveWebhook> {
  return {
    [webhookPaths.defaultPodCliqueSet]: defaultingWebhook(),
    [webhookPaths.validatePodCliqueSet]: validatingWebhook(configuration),
    [webhookPaths.validateClusterTopology]: topologyWebhook(configuration),
    [webhookPaths.warnAboutScaling]: scalingWebhook(),
    ...(ownUserNames.length > 0 && {
      [webhookPaths.authorizer]: authorizerWebhook(configuration, ownUserNames),
    }),
  }
}

export function defaultingWebhook(): GroveWebhook {
  return {
    decide(request) {
      if (!isWrite(request) || isTerminating(request)) return allowed()
      const decoded = decodePodCliqueSet(request.object)
      if (!decoded.ok) return errored(400, decoded.message)
      const old = request.operation === 'UPDATE' ? readable(request.oldObject) : undefined
      return patched(request.object, defaultPodCliqueSet(decoded.value, request.namespace, old))
    },
  }
}

export function validatingWebhook(configuration: OperatorConfiguration): GroveWebhook {
  return {
    question(request) {
      if (!isWrite(request) || isTerminating(request)) return undefined
      const { topologyBindings, volcanoQueues } = clusterNeeds(request.object, configuration)
      const isNothing = topologyBindings.length + volcanoQueues.length === 0
      return isNothing ? undefined : { topologyBindings, volcanoQueues, podCliqueSets: [] }
    },
    decide(request, facts) {
      const unknown = unknownOperation(request)
      if (unknown) return unknown
      if (!isWrite(request) || isTerminating(request)) return allowed()
      const decoded = decodePodCliqueSet(request.object)
      if (!decoded.ok) return errored(400, decoded.message)
      const context = { configuration, cluster: viewOf(facts) }
      const old = request.operation === 'UPDATE' ? readable(request.oldObject) : undefined
      return responseOf(
        // The new object cannot be compared with an old one that cannot be decoded, so it is validated like a created
        // object.
        old
          ? validateChangedPodCliqueSet(decoded.value, old, context)
          : validateNewPodCliqueSet(decoded.value, context),
      )
    },
  }
}

export function topologyWebhook(configuration: OperatorConfiguration): GroveWebhook {
  return {
    decide(request) {
      const unknown = unknownOperation(request)
      if (unknown) return unknown
      if (!isWrite(request) || isTerminating(request)) return allowed()
      const errors = validateClusterTopologyBinding(request.object as ClusterTopologyBinding, configuration)
      return responseOf({ errors, warnings: [] })
    },
  }
}

export function authorizerWebhook(
  { authorizer }: OperatorConfiguration,
  ownUserNames: readonly string[],
): GroveWebhook {
  const exemptUserNames = authorizer.exemptServiceAccountUserNames
  const alwaysAllowed = new Set([...ownUserNames, ...exemptUserNames])
  return {
    question(request) {
      // Most requests come from the operator and are always allowed. A read of the set would double their cost.
      if (alwaysAllowed.has(userNameOf(request))) return undefined
      const podCliqueSets = possibleParents(request)
      return podCliqueSets.length === 0
        ? undefined
        : { topologyBindings: [], volcanoQueues: [], podCliqueSets }
    },
    decide(request, facts) {
      const userName = userNameOf(request)
      const isAlwaysAllowed = alwaysAllowed.has(userName)
      const context: ProtectionContext = {
        podCliqueSetAnnotations: (namespace, name) =>
          isAlwaysAllowed
            ? { outcome: 'found', value: {} }
            : (facts?.podCliqueSetAnnotations.get(`${namespace}/${name}`) ?? { outcome: 'notFound' }),
        ownUserName: ownUserNames.includes(userName) ? userName : (ownUserNames[0] ?? ''),
        exemptUserNames,
      }
      const { operation, kind, object, oldObject } = request
      const response = authorize({ operation, userName, kind, object, oldObject }, context)
      const { message, warnings } = response
      if (response.allowed) return allowed({ message, warnings })
      return response.code === 403
        ? denied(message, { warnings, rules: ['Managed object'] })
        : errored(response.code, message)
    },
  }
}

export function isWrite({ operation }: AdmissionRequest): boolean {
  return operation === 'CREATE' || operation === 'UPDATE'
}

/**
 * Reports whether the object is being deleted. Its finalizer must be removable whatever the object contains, so this
 * check runs before decoding. API servers ignore a deletionTimestamp that a client sends.
 */
export function isTerminating({ operation, object, oldObject }: AdmissionRequest): boolean {
  return (
    operation === 'UPDATE' && [object, oldObject].some(each => Boolean(metadataOf(each).deletionTimestamp))
  )
}

/**
 * The stored object; undefined if it cannot be decoded. It may be older than the present rules, or than the webhooks.
 */
function readable(object: unknown): PodCliqueSet | undefined {
  const decoded: Decoded<PodCliqueSet> = decodePodCliqueSet(object)
  return decoded.ok ? decoded.value : undefined
}

function viewOf(facts: Facts | undefined): ClusterView {
  return {
    topologyDomains: name => facts?.topologyDomains.get(name) ?? { outcome: 'notFound' },
    volcanoQueueState: name => facts?.volcanoQueueStates.get(name) ?? { outcome: 'notFound' },
  }
}

/** The sets that an object may belong to, by its label and by its controller: at most four. */
function possibleParents(request: AdmissionRequest): { namespace: string; name: string }[] {
  const { namespace = '' } = request
  const names = new Set<string>()
  for (const object of [request.object, request.oldObject]) {
    const { labels, ownerReferences } = metadataOf(object)
    const partOf = labels?.[label.partOf]
    if (typeof partOf === 'string' && partOf !== '') names.add(partOf)
    const owners = Array.isArray(ownerReferences) ? ownerReferences : []
    const controller = owners.find(
      owner => owner?.controller === true && owner.kind === kinds.podCliqueSet.kind,
    )
    if (typeof controller?.name === 'string' && controller.name !== '') names.add(controller.name)
  }
  return [...names].map(name => ({ namespace, name }))
}

function userNameOf({ userInfo }: AdmissionRequest): string {
  return userInfo?.username ?? ''
}

interface Metadata {
  readonly deletionTimestamp?: unknown
  readonly labels?: Readonly<Record<string, unknown>>
  readonly ownerReferences?: readonly {
    readonly controller?: unknown
    readonly kind?: unknown
    readonly name?: unknown
  }[]
}

function metadataOf(object: unknown): Metadata {
  return (object as { metadata?: Metadata | null } | null | undefined)?.metadata ?? {}
}

function responseOf({ errors, warnings }: ValidationOutcome): AdmissionResponse {
  const shown = { warnings: shortenedWarnings(warnings) }
  if (errors.length === 0) return allowed(shown)
  return denied(rejectionMessage(errors), { ...shown, rules: [...new Set(errors.map(ruleOf))] })
}

/** The type of an error and its field without list indexes, so that the number of distinct values is bounded. */
function ruleOf({ kind, field }: ValidationOutcome['errors'][number]): string {
  return `${kind} ${field.replaceAll(/\[[^\]]*\]/g, '[]')}`
}
