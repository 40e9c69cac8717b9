// SPDX-License-Identifier: Apache-2.0

// Runs the operator's admission inside the embedded cluster, with the handlers that real API servers call over HTTPS.
import type { OperatorConfiguration } from '@grove/api'
import { applyJsonPatch } from '@grove/apimachinery'
import { type AdmissionAttributes, type AdmissionPlugin, ApiError } from '@grove/cluster'
import type { AdmissionHandler, AdmissionRequest, AdmissionResponse, Client, Logger } from '@grove/kube'
import { admissionHandlers } from '@grove/operator'

/** Calls stay in this process, so a slow one is a bug that the user should see early. */
const timeoutMs = 10_000

export function groveAdmission(
  client: Client,
  configuration: OperatorConfiguration,
  log: Logger,
): AdmissionPlugin {
  const handlers = admissionHandlers({ client, configuration })
  const ask = async (name: string, handler: AdmissionHandler, attributes: AdmissionAttributes) => {
    const response = await handler(requestOf(attributes), { signal: AbortSignal.timeout(timeoutMs), log })
    for (const warning of response.warnings ?? []) attributes.warn(warning)
    if (!response.allowed) throw rejection(name, response)
    return response
  }
  return {
    name: 'grove',
    async mutate(attributes) {
      if (!isWrite(attributes, 'podcliquesets')) return
      const { patch } = await ask(
        'pcs.defaulting.webhooks.grove.io',
        handlers.defaultPodCliqueSet,
        attributes,
      )
      if (!patch) return
      const changed = applyJsonPatch(attributes.object, patch)
      if (changed.ok) attributes.object = changed.value as typeof attributes.object
    },
    async validate(attributes) {
      if (isScaling(attributes))
        await ask('pclq.scaling.webhooks.grove.io', handlers.warnAboutScaling, attributes)
      if (isWrite(attributes, 'podcliquesets')) {
        await ask('pcs.validating.webhooks.grove.io', handlers.validatePodCliqueSet, attributes)
        await ask('pcs.placement.webhooks.grove.io', handlers.warnAboutPlacement, attributes)
      }
      if (isWrite(attributes, 'clustertopologybindings'))
        await ask(
          'clustertopology.validating.webhooks.grove.io',
          handlers.validateClusterTopology,
          attributes,
        )
    },
  }
}

function isWrite({ resource, subresource, operation }: AdmissionAttributes, plural: string): boolean {
  return (
    resource.group === 'grove.io' &&
    resource.plural === plural &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE')
  )
}

/** An update of a clique, or of its scale. */
function isScaling({ resource, subresource, operation }: AdmissionAttributes): boolean {
  return (
    resource.group === 'grove.io' &&
    resource.plural === 'podcliques' &&
    (subresource === '' || subresource === 'scale') &&
    operation === 'UPDATE'
  )
}

function requestOf(attributes: AdmissionAttributes): AdmissionRequest {
  const { group, version, plural } = attributes.resource
  const { objectKind = attributes.resource } = attributes
  return {
    uid: '',
    kind: { group: objectKind.group, version: objectKind.version, kind: objectKind.kind },
    resource: { group, version, resource: plural },
    ...(attributes.subresource && { subResource: attributes.subresource }),
    name: attributes.name,
    namespace: attributes.namespace,
    operation: attributes.operation,
    userInfo: { username: attributes.user.name, groups: attributes.user.groups },
    object: attributes.object,
    oldObject: attributes.oldObject,
    dryRun: attributes.dryRun,
  }
}

/** Without a reason in the response, the status of an API server has none, whatever the code is. */
function rejection(webhook: string, { code, reason = '', message }: AdmissionResponse): ApiError {
  return new ApiError(code, reason, `admission webhook "${webhook}" denied the request: ${message ?? ''}`)
}
