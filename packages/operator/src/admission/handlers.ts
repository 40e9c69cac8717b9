// SPDX-License-Identifier: Apache-2.0

// The four admission webhooks, over the rules of the API package.
import {
  authorize,
  type ClusterTopologyBinding,
  decodePodCliqueSet,
  defaultPodCliqueSet,
  type Lookup,
  type OperatorConfiguration,
  type ProtectionContext,
  validateChangedPodCliqueSet,
  validateClusterTopologyBinding,
  validateNewPodCliqueSet,
} from '@grove/api'
import { type FieldError, renderFieldErrors } from '@grove/apimachinery'
import {
  type AdmissionHandler,
  type AdmissionRequest,
  allowed,
  type Client,
  denied,
  errored,
  patched,
  validating,
} from '@grove/kube'
import { resources } from '../resources.ts'
import { asLookup, lookUp } from './cluster-lookups.ts'

/** Where API servers call; part of the webhook configurations that are installed. */
export const webhookPaths = {
  defaultPodCliqueSet: '/webhooks/default-podcliqueset',
  validatePodCliqueSet: '/webhooks/validate-podcliqueset',
  validateClusterTopology: '/webhooks/validate-clustertopology',
  authorizer: '/webhooks/authorizer-webhook',
} as const

export interface AdmissionOptions {
  readonly client: Client
  readonly configuration: OperatorConfiguration
}

/** All but the protection of managed objects, which needs to know who the operator is. */
export function admissionHandlers(options: AdmissionOptions) {
  return {
    defaultPodCliqueSet: defaultingHandler(),
    validatePodCliqueSet: validatingHandler(options),
    validateClusterTopology: topologyHandler(options),
  }
}

export function defaultingHandler(): AdmissionHandler {
  return request => {
    if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return allowed()
    const decoded = decodePodCliqueSet(request.object)
    if (!decoded.ok) return errored(400, decoded.message)
    // What is stored may be older than today's rules: then it has nothing to say.
    const old = request.operation === 'UPDATE' ? decodePodCliqueSet(request.oldObject) : undefined
    const filled = defaultPodCliqueSet(decoded.value, request.namespace, old?.ok ? old.value : undefined)
    return patched(request.object, filled)
  }
}

export function validatingHandler({ client, configuration }: AdmissionOptions): AdmissionHandler {
  return validating(async (request, { signal }) => {
    if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return allowed()
    const decoded = decodePodCliqueSet(request.object)
    if (!decoded.ok) return errored(400, decoded.message)
    const cluster = await lookUp(client, request.object, configuration, signal)
    const context = { configuration, cluster }
    if (request.operation === 'CREATE') {
      const { errors, warnings } = validateNewPodCliqueSet(decoded.value, context)
      return judged(errors, warnings)
    }
    const old = decodePodCliqueSet(request.oldObject)
    if (!old.ok) return errored(400, old.message)
    const { errors, warnings } = validateChangedPodCliqueSet(decoded.value, old.value, context)
    return judged(errors, warnings)
  })
}

export function topologyHandler({ configuration }: AdmissionOptions): AdmissionHandler {
  return validating(request =>
    request.operation === 'CREATE' || request.operation === 'UPDATE'
      ? judged(validateClusterTopologyBinding(request.object as ClusterTopologyBinding, configuration), [])
      : allowed(),
  )
}

export function authorizerHandler(
  { client, configuration }: AdmissionOptions,
  ownUserName: string,
): AdmissionHandler {
  const exemptUserNames = configuration.authorizer.exemptServiceAccountUserNames
  const mayAnyway = new Set([ownUserName, ...exemptUserNames])
  return async (request, { signal }) => {
    // Whatever their set says: most requests are our own, and asking for the set each time would double their cost.
    const isFree = mayAnyway.has(request.userInfo.username ?? '')
    const annotations = isFree ? undefined : await parentAnnotations(client, request, signal)
    const context: ProtectionContext = {
      podCliqueSetAnnotations: (namespace, name) =>
        annotations
          ? (annotations.get(`${namespace}/${name}`) ?? { outcome: 'notFound' })
          : { outcome: 'found', value: {} },
      ownUserName,
      exemptUserNames,
    }
    const answer = authorize(
      {
        operation: request.operation,
        userName: request.userInfo.username ?? '',
        kind: request.kind,
        object: request.object,
        oldObject: request.oldObject,
      },
      context,
    )
    const { message, warnings } = answer
    if (answer.allowed) return allowed({ message, warnings })
    return answer.code === 403 ? denied(message, { warnings }) : errored(answer.code, message)
  }
}

/** The sets that an object may belong to, by its label and by its controller. */
async function parentAnnotations(client: Client, request: AdmissionRequest, signal: AbortSignal) {
  const namespace = request.namespace ?? ''
  const names = new Set<string>()
  for (const object of [request.object, request.oldObject]) {
    const { labels, ownerReferences } = metadataOf(object)
    if (labels?.['app.kubernetes.io/part-of']) names.add(labels['app.kubernetes.io/part-of'])
    for (const owner of ownerReferences ?? [])
      if (owner.kind === 'PodCliqueSet' && owner.name) names.add(owner.name)
  }
  const found = new Map<string, Lookup<Readonly<Record<string, string>>>>()
  for (const name of names) {
    const lookup = await asLookup(async () => {
      const set = await client.get(resources.podCliqueSets, { namespace, name }, { signal })
      return set.metadata.annotations ?? {}
    })
    found.set(`${namespace}/${name}`, lookup)
  }
  return found
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly { readonly kind?: string; readonly name?: string }[]
}

function metadataOf(object: unknown): Metadata {
  return (object as { metadata?: Metadata } | null | undefined)?.metadata ?? {}
}

function judged(errors: readonly FieldError[], warnings: readonly string[]) {
  return errors.length ? denied(renderFieldErrors(errors), { warnings }) : allowed({ warnings })
}
