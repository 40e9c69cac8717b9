// SPDX-License-Identifier: Apache-2.0

import { type Clock, systemClock } from '@grove/kube'
import {
  type Access,
  type AuthorizationMode,
  createAccess,
  handleTokenRequest,
  impersonate,
  impersonates,
  type ServiceAccountTokens,
} from './access/index.ts'
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts'
import { defaultTolerations, notReadyTaint } from './admission/pod-defaults.ts'
import { priority } from './admission/priority.ts'
import { serviceAccountAdmission } from './admission/service-account.ts'
import { topologyLabels } from './admission/topology-labels.ts'
import { bootstrap } from './bootstrap.ts'
import { establishDefinitions } from './custom-resources/establishment.ts'
import { expireEvents } from './event-expiry.ts'
import type { Authenticate } from './front/https.ts'
import { podMetricsResource } from './metrics/pod-metrics.ts'
import { openApiRoute } from './openapi/route.ts'
import { seededRandom, systemRandom } from './random.ts'
import { builtIn } from './registry/built-in.ts'
import { builtInResources } from './registry/kinds/index.ts'
import { Registry } from './registry/registry.ts'
import { accessReviewKinds } from './reviews/access-review.ts'
import { identityReviewKinds } from './reviews/identity-review.ts'
import { Admission, type AdmissionPlugin } from './server/admission.ts'
import { ApiServer } from './server/api-server.ts'
import type { Authorizer } from './server/authorization.ts'
import type { ServerContext } from './server/context.ts'
import type { ApiRequest, ApiResponse } from './server/request.ts'
import type { SubresourceHandler } from './server/resource-call.ts'
import * as verbs from './server/resource-verbs.ts'
import { statusResponse } from './server/response.ts'
import { ApiError } from './server/status.ts'
import { tracked } from './server/tracked-ownership.ts'
import { untracked } from './server/untracked-ownership.ts'
import { MemoryStore, type Store } from './store/index.ts'
import { handleBinding } from './subresources/binding.ts'
import { handleEviction } from './subresources/eviction.ts'
import { handleFinalize } from './subresources/finalize.ts'
import {
  handleEphemeralContainers,
  handleLog,
  handleResize,
  type PodLogs,
  rejectConnection,
} from './subresources/pod.ts'
import { handleScale } from './subresources/scale.ts'
import { createWebhooks } from './webhooks/index.ts'

export interface ClusterOptions {
  readonly clock?: Clock
  /** The same seed gives the same UIDs, generated names and addresses. Without a seed they are random. */
  readonly seed?: number
  /** Default: an in-memory store. */
  readonly store?: Store
  /**
   * `RBAC` enforces roles and bindings and creates the default policy. When absent, every request is allowed.
   */
  readonly authorization?: AuthorizationMode
  /** Replaces RBAC. */
  readonly authorize?: Authorizer
  /**
   * Enables the ServiceAccount admission plugin. It needs the controller that creates the default service
   * accounts.
   */
  readonly serviceAccountAdmission?: boolean
  /** Default: tracked. `untracked` saves the cost of managedFields and rejects server-side apply. */
  readonly ownership?: 'tracked' | 'untracked'
  /** Admission plugins that run after the built-in ones. */
  readonly admission?: readonly AdmissionPlugin[]
  /** Additional or replaced subresource handlers, by `plural/subresource`. */
  readonly subresources?: ReadonlyMap<string, SubresourceHandler>
  readonly routes?: readonly ((
    request: ApiRequest,
  ) => ApiResponse | undefined | Promise<ApiResponse | undefined>)[]
  readonly podLogs?: PodLogs
  /** Serves simulated metrics of pods as metrics.k8s.io. */
  readonly podMetrics?: boolean
  /** Deletes events that are older. When absent, events stay. */
  readonly eventTtlMs?: number
  readonly onInternalError?: (error: unknown, request: ApiRequest) => void
}

/**
 * A Kubernetes API without sockets. Controllers, kubelets and schedulers use it as clients, or observe its
 * store.
 */
export interface Cluster {
  readonly context: ServerContext
  readonly admission: Admission
  readonly store: Store
  /** Issues and verifies service account tokens. */
  readonly tokens: ServiceAccountTokens
  /** Returns the user of the bearer token in the request headers. */
  readonly authenticate: Authenticate
  handle(request: ApiRequest): Promise<ApiResponse>
  stop(): void
}

export function createCluster(options: ClusterOptions = {}): Cluster {
  const store = options.store ?? new MemoryStore()
  const clock = options.clock ?? systemClock
  const random = options.seed === undefined ? systemRandom : seededRandom(options.seed)
  const { authorization: mode = 'always-allow', authorize } = options
  const access = createAccess({ store, clock, random, mode, ...(authorize && { authorize }) })
  const webhooks = createWebhooks(store)
  const registry = new Registry()
  for (const resource of builtInResources()) registry.add(resource)
  for (const kind of [...accessReviewKinds(access), ...identityReviewKinds(access)])
    registry.add(builtIn(kind))
  if (options.podMetrics) registry.add(podMetricsResource(registry.find('', 'v1', 'pods')!))
  const admission = new Admission([
    namespaceLifecycle,
    notReadyTaint,
    defaultTolerations,
    priority,
    topologyLabels,
    ...(options.serviceAccountAdmission ? [serviceAccountAdmission] : []),
    ...(options.admission ?? []),
    ...webhooks.plugins,
    ...access.admission,
  ])
  const context: ServerContext = {
    store,
    registry,
    clock,
    random,
    admission,
    authorize: access.authorize,
    ownership: options.ownership === 'untracked' ? untracked : tracked,
  }
  const server = new ApiServer({
    context,
    subresources: new Map([...builtInSubresources(access, options.podLogs), ...(options.subresources ?? [])]),
    routes: [...(options.routes ?? []), openApiRoute(registry)],
    onInternalError: options.onInternalError ?? (error => console.error(error)),
  })
  const stops = [establishDefinitions(context)]
  if (options.eventTtlMs !== undefined) stops.push(expireEvents(context, options.eventTtlMs))
  bootstrap(context)
  stops.push(access.start(context), webhooks.stop)
  return {
    context,
    admission,
    store: context.store,
    tokens: access.tokens,
    authenticate: access.authenticate,
    handle: request =>
      impersonates(request) ? handleImpersonated(server, access, request) : server.handle(request),
    stop() {
      for (const stop of stops) stop()
      context.store.close()
    },
  }
}

async function handleImpersonated(
  server: ApiServer,
  access: Access,
  request: ApiRequest,
): Promise<ApiResponse> {
  try {
    return await server.handle(await impersonate(request, access.decide))
  } catch (error) {
    if (error instanceof ApiError) return statusResponse(error.status)
    throw error
  }
}

function builtInSubresources(access: Access, podLogs: PodLogs = () => ''): Map<string, SubresourceHandler> {
  return new Map<string, SubresourceHandler>([
    ['*/status', verbs.status],
    ['*/scale', handleScale],
    ['pods/binding', handleBinding],
    ['pods/eviction', handleEviction],
    ['pods/log', handleLog(podLogs)],
    ...['attach', 'exec', 'portforward', 'proxy'].map(name => [`pods/${name}`, rejectConnection] as const),
    ['pods/ephemeralcontainers', handleEphemeralContainers],
    ['pods/resize', handleResize],
    ['namespaces/finalize', handleFinalize],
    ['serviceaccounts/token', handleTokenRequest(access.tokens)],
  ])
}
