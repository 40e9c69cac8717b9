// SPDX-License-Identifier: Apache-2.0

// The init container that blocks a pod until its parent cliques are ready, and the volumes that it needs in the pod.
import {
  type Container,
  label,
  names,
  type PodSpec,
  type ResourceRequirements,
  type SecurityContext,
  type StartupWaiterConfiguration,
  type Volume,
  waiter,
} from '@grove/api'
import { compareQuantities, type Quantity, readQuantity } from '@grove/apimachinery'
import type { StartupParent } from '../layout/startup-order.ts'

/** Enough for the waiter of any image. The waiter is idle most of the time. */
const ownNeeds = { cpu: '200m', memory: '128Mi' } as const
/** Used only if the pod as a whole runs as root, because the waiter never does. */
const unprivilegedUser = 65_532

export interface WaiterNeeds {
  readonly set: string
  /** Includes the tag. */
  readonly image: string
  readonly parents: readonly StartupParent[]
  readonly configuration: StartupWaiterConfiguration
}

/** The waiter is the last init container, so that init containers of the user run while the parents start. */
export function withStartupWaiter(spec: PodSpec, needs: WaiterNeeds): PodSpec {
  const { imagePullSecrets } = needs.configuration
  return {
    ...spec,
    initContainers: [...(spec.initContainers ?? []), container(spec, needs)],
    volumes: [...(spec.volumes ?? []), ...volumes(needs.set)],
    ...(imagePullSecrets.length && {
      imagePullSecrets: [
        ...(spec.imagePullSecrets ?? []),
        ...imagePullSecrets
          .filter(name => !spec.imagePullSecrets?.some(secret => secret.name === name))
          .map(name => ({ name })),
      ],
    }),
  }
}

function container(spec: PodSpec, { image, parents, configuration }: WaiterNeeds): Container {
  const resources = configuration.resources ?? resourcesLike(spec)
  return {
    name: waiter.containerName,
    image,
    ...(configuration.imagePullPolicy && { imagePullPolicy: configuration.imagePullPolicy }),
    args: parents.map(parent => waiter.argument(parent.name, parent.minAvailable)),
    ...(Object.keys(resources).length && { resources }),
    securityContext: securityContextIn(spec),
    volumeMounts: [
      { name: waiter.podInfoVolume, mountPath: waiter.podInfoPath, readOnly: true },
      { name: waiter.tokenVolume, mountPath: waiter.tokenPath, readOnly: true },
    ],
  }
}

/**
 * Limits the resources that every container of the pod limits, with equal requests. Requests those that every container
 * requests, as the container that requests least. This keeps the QoS class of the pod: Guaranteed stays Guaranteed,
 * BestEffort stays BestEffort. A pod that satisfies a quota or a minimum of its namespace still does.
 */
function resourcesLike({ containers, initContainers = [] }: PodSpec): ResourceRequirements {
  const all = [...containers, ...initContainers].map(one => one.resources ?? {})
  const limits: NonNullable<ResourceRequirements['limits']> = {}
  const requests: NonNullable<ResourceRequirements['requests']> = {}
  for (const resource of ['cpu', 'memory'] as const) {
    if (all.every(one => one.limits?.[resource] !== undefined)) limits[resource] = ownNeeds[resource]
    // A limit without a request is also the request.
    const request =
      limits[resource] ?? leastOf(all.map(one => one.requests?.[resource] ?? one.limits?.[resource]))
    if (request !== undefined) requests[resource] = request
  }
  return {
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

type Amount = string | number

/** Returns the smallest quantity; undefined if one is missing or malformed. */
function leastOf(amounts: readonly (Amount | undefined)[]): Amount | undefined {
  let least: { readonly amount: Amount; readonly quantity: Quantity } | undefined
  for (const amount of amounts) {
    const quantity = readQuantity(amount)
    if (amount === undefined || quantity instanceof Error) return undefined
    if (!least || compareQuantities(quantity, least.quantity) < 0) least = { amount, quantity }
  }
  return least?.amount
}

/** Satisfies the Restricted level of the Pod Security Standards. */
function securityContextIn({ securityContext: pod }: PodSpec): SecurityContext {
  return {
    runAsNonRoot: true,
    ...(pod?.runAsUser === 0 && { runAsUser: unprivilegedUser }),
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

function volumes(set: string): Volume[] {
  return [
    {
      name: waiter.tokenVolume,
      secret: { secretName: names.tokenSecret(set), defaultMode: waiter.tokenFileMode },
    },
    {
      name: waiter.podInfoVolume,
      downwardAPI: {
        items: [
          { path: waiter.namespaceFile, fieldRef: { fieldPath: 'metadata.namespace' } },
          { path: waiter.podGangFile, fieldRef: { fieldPath: `metadata.labels['${label.podGang}']` } },
        ],
      },
    },
  ]
}
