// SPDX-License-Identifier: Apache-2.0

// The admission webhooks as handlers that run in this process: for the embedded cluster, whose API server shares the
// process anyway, and for tests. The operator serves them from a process of their own, see serve-admission.ts.
import type { OperatorConfiguration } from '@grove/api'
import type { AdmissionHandler, Client } from '@grove/kube'
import { allowed } from '@grove/kube/admission'
import { resources } from '../caches/resources.ts'
import { lookUp } from './cluster-lookups.ts'
import { nodeText } from './node-text.ts'
import { scalingWebhook } from './scaling-webhook.ts'
import {
  authorizerWebhook,
  defaultingWebhook,
  type GroveWebhook,
  topologyWebhook,
  validatingWebhook,
} from './webhook-rules.ts'

export interface AdmissionOptions {
  readonly client: Client
  readonly configuration: OperatorConfiguration
}

/** All webhooks except the protection of managed objects, which needs the user names of the operator. */
export function admissionHandlers(options: AdmissionOptions) {
  return {
    defaultPodCliqueSet: defaultingHandler(options),
    validatePodCliqueSet: validatingHandler(options),
    validateClusterTopology: topologyHandler(options),
    warnAboutScaling: handlerOf(scalingWebhook(), options.client),
    warnAboutPlacement: placementHandler(options),
  }
}

function defaultingHandler({ client }: Pick<AdmissionOptions, 'client'>): AdmissionHandler {
  return handlerOf(defaultingWebhook(), client)
}

export function validatingHandler({ client, configuration }: AdmissionOptions): AdmissionHandler {
  return handlerOf(validatingWebhook(configuration), client)
}

function topologyHandler({ client, configuration }: AdmissionOptions): AdmissionHandler {
  return handlerOf(topologyWebhook(configuration), client)
}

export function authorizerHandler(
  { client, configuration }: AdmissionOptions,
  ...ownUserNames: readonly string[]
): AdmissionHandler {
  return handlerOf(authorizerWebhook(configuration, ownUserNames), client)
}

/** Reads the nodes for every request, because a cluster that runs in this process has few. */
function placementHandler({ client, configuration }: AdmissionOptions): AdmissionHandler {
  return async (request, { signal }) => {
    if (!configuration.placementWarnings.enabled) return allowed()
    const { placementWebhook } = await import('./placement-webhook.ts')
    const webhook = placementWebhook(configuration)
    if (webhook.question?.(request) === undefined) return allowed()
    const [nodes, topologyBindings] = await Promise.all([
      client.list(resources.nodes, { signal }),
      client.list(resources.clusterTopologyBindings, { signal }),
    ])
    return webhook.decide(request, {
      nodes: nodes.items.map(nodeText),
      topologyBindings: topologyBindings.items,
    })
  }
}

function handlerOf(webhook: GroveWebhook, client: Client): AdmissionHandler {
  return async (request, { signal }) => {
    const questions = webhook.question?.(request)
    return webhook.decide(request, questions && (await lookUp(client, questions, signal)))
  }
}
