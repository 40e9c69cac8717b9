// SPDX-License-Identifier: Apache-2.0

import { cloneJson } from '@grove/apimachinery'
import { labelTopology } from '../admission/topology-labels.ts'
import type { KubeObject } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { structType } from '../schema/type-table.ts'
import type { Binding, Pod } from '../schema/types.generated.ts'
import { parseBodyAs } from '../server/body.ts'
import { timestamp } from '../server/context.ts'
import type { ApiResponse } from '../server/request.ts'
import { type ResourceCall, writeRequestOf } from '../server/resource-call.ts'
import { jsonResponse } from '../server/response.ts'
import { apiError } from '../server/status.ts'
import { storageKey, type UpdateScope, updateObject } from '../server/update.ts'
import { objectIn } from '../store/index.ts'

const bindingType = structType('core/v1.Binding')

/** Binds a pod to a node. Works once per pod. */
export async function handleBinding(call: ResourceCall): Promise<ApiResponse> {
  const { context, request, resource, info } = call
  const write = writeRequestOf(call)
  const binding = parseBodyAs<Binding>(request, 'Binding', bindingType)
  if (binding.metadata?.name && binding.metadata.name !== info.name)
    throw apiError.badRequest('name in URL does not match name in Binding object')
  const { kind = '', name: node = '' } = binding.target ?? {}
  if (kind !== '' && kind !== 'Node')
    throw apiError.unexpected(
      `target.kind: Unsupported value: "${kind}": supported values: "Node", "<empty>"`,
    )
  if (node === '') throw apiError.unexpected('target.name: Required value')
  const bind = (live: KubeObject | undefined): KubeObject => {
    const draft = cloneJson(live!)
    // Keeps the shared managedFields: a binding has no field manager.
    draft.metadata.managedFields = live!.metadata.managedFields
    const pod = objectIn(storages.pods, draft, resource.storage)!
    if (binding.metadata?.uid && binding.metadata.uid !== draft.metadata.uid)
      throw apiError.conflict(
        resource,
        info.name,
        `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, draft)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${binding.metadata.uid}, UID in object meta: ${draft.metadata.uid}`,
      )
    if (draft.metadata.deletionTimestamp)
      throw apiError.conflict(
        { group: '', plural: 'pods/binding' },
        info.name,
        `pod ${info.name} is being deleted, cannot be assigned to a host`,
      )
    if (pod.spec?.nodeName)
      throw apiError.conflict(
        { group: '', plural: 'pods/binding' },
        info.name,
        `pod ${info.name} is already assigned to node "${pod.spec.nodeName}"`,
      )
    if (pod.spec?.schedulingGates?.length)
      throw apiError.conflict(
        { group: '', plural: 'pods/binding' },
        info.name,
        `pod ${info.name} has non-empty .spec.schedulingGates`,
      )
    assign(pod, node, binding, timestamp(context.clock.now()))
    // The API server does not label the pod if the binding leaves out the kind of its target.
    if (kind === 'Node') labelTopology(pod, context.store)
    return draft
  }
  await updateObject(context, write, bind, bindingScope, { createMissing: false })
  return jsonResponse(201, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}')
}

function assign(pod: Pod, node: string, binding: Binding, now: string): void {
  pod.spec = { ...pod.spec, nodeName: node }
  if (binding.metadata?.annotations)
    pod.metadata!.annotations = { ...pod.metadata!.annotations, ...binding.metadata.annotations }
  if (binding.metadata?.labels) pod.metadata!.labels = { ...pod.metadata!.labels, ...binding.metadata.labels }
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  pod.status = {
    ...pod.status,
    conditions: [
      ...others,
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: now,
      },
    ],
  }
}

/** The pod was validated on creation, and only the node changes. */
const bindingScope: UpdateScope = { prepare: () => {}, validate: () => [] }
