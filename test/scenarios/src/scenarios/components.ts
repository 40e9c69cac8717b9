// SPDX-License-Identifier: Apache-2.0

// Deletes and edits every kind of object that the operator creates for a set.
import assert from 'node:assert/strict'
import { annotation, label } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { whole } from './manifests.ts'

interface Part {
  readonly resource: Resource<KubeObject>
  readonly name: string
  /** Edits that the operator reverts. */
  readonly edit: object
  /** Edits that the operator keeps. */
  readonly addition?: object
}

const role = 'grove.io:pcs:whole'
const unlabelled = { metadata: { labels: { [label.partOf]: null } } }
const hidden = { metadata: { labels: { [label.managedBy]: null } } }
const annotated = { metadata: { annotations: { 'example.com/mine': 'yes' } } }

const parts: readonly Part[] = [
  {
    resource: resources.serviceAccounts,
    name: 'whole',
    edit: { automountServiceAccountToken: false },
    addition: { ...annotated, imagePullSecrets: [{ name: 'mine' }] },
  },
  { resource: resources.roles, name: role, edit: { rules: [] }, addition: annotated },
  { resource: resources.roleBindings, name: role, edit: { subjects: [] }, addition: annotated },
  {
    resource: resources.services,
    name: 'whole-0',
    edit: { spec: { selector: { 'app.kubernetes.io/part-of': 'other' } } },
    addition: { ...annotated, spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] } },
  },
  {
    resource: resources.autoscalers,
    name: 'whole-0-web',
    edit: { spec: { maxReplicas: 9 } },
    addition: annotated,
  },
  { resource: resources.autoscalers, name: 'whole-0-eng', edit: unlabelled },
  { resource: resources.podGangs, name: 'whole-0', edit: { spec: { podgroups: [] } } },
  { resource: resources.podCliqueScalingGroups, name: 'whole-0-eng', edit: unlabelled },
  {
    resource: resources.podCliqueScalingGroups,
    name: 'whole-0-eng',
    edit: { spec: { cliqueNames: ['web'] } },
  },
  { resource: resources.podCliques, name: 'whole-0-web', edit: unlabelled },
  { resource: resources.podCliques, name: 'whole-0-web', edit: { spec: { roleName: 'other' } } },
]

const at = (harness: Harness, name: string) => ({ name, namespace: harness.namespace })
const find = (harness: Harness, { resource, name }: Part) => harness.client.find(resource, at(harness, name))

/** Returns the fields that the operator owns. */
function said(object: Stored<KubeObject>): object {
  const { metadata, status: _, ...rest } = object as Stored<KubeObject> & { status?: unknown }
  const { labels, ownerReferences } = metadata
  return { labels, ownerReferences, ...rest }
}

/** Waits until an object has its former fields again, recreated or repaired. */
async function untilAsBefore(harness: Harness, part: Part, before: Stored<KubeObject>, isAnother: boolean) {
  const wanted = comparable(said(before))
  await harness.until(
    `${part.resource.kind} ${part.name} as it was`,
    () => find(harness, part),
    seen =>
      seen !== undefined &&
      !seen.metadata.deletionTimestamp &&
      (seen.metadata.uid !== before.metadata.uid) === isAnother &&
      comparable(said(seen)) === wanted,
  )
}

/** Recreated pods and gangs have other names. */
function comparable(value: unknown): string {
  return JSON.stringify(sorted(value)).replace(/"podReferences":\[[^\]]*\]/g, '')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  )
}

export async function untilWhole(harness: Harness, replicas = 1): Promise<void> {
  await harness.untilReady('whole', 2 * replicas)
  await harness.untilAvailable('whole', replicas)
}

export const componentScenarios: Scenario[] = [
  {
    name: 'recreates every kind of child that is deleted',
    async run(harness) {
      await harness.apply(whole())
      await untilWhole(harness)
      for (const part of parts.filter(({ edit }) => edit !== unlabelled)) {
        const before = (await find(harness, part))!
        await harness.client.delete(part.resource, at(harness, part.name))
        await untilAsBefore(harness, part, before, true)
      }
      await untilWhole(harness)
      // The operator does not watch Secrets. It reads them when it reconciles the set.
      const secret = { resource: resources.secrets as Resource<KubeObject>, name: 'whole-ic-sat', edit: {} }
      const before = await find(harness, secret)
      await harness.client.delete(resources.secrets, at(harness, secret.name))
      let look = 0
      const after = await harness.until(
        'another token',
        async () => {
          const trigger = { [annotation.reconcileTrigger]: String(look++) }
          await harness.patchSet('whole', { metadata: { annotations: trigger } })
          return find(harness, secret)
        },
        seen => (seen as { data?: { token?: string } } | undefined)?.data?.token !== undefined,
      )
      assert.notEqual(after!.metadata.uid, before!.metadata.uid)
      assert.deepEqual(after!.metadata.labels, before!.metadata.labels)
      assert.deepEqual(after!.metadata.ownerReferences, before!.metadata.ownerReferences)
    },
  },
  {
    name: 'reverts edits of every kind of child at once, and keeps fields that it does not own',
    async run(harness) {
      await harness.apply(whole())
      await untilWhole(harness)
      const pods = await harness.pods('whole')
      for (const part of parts) {
        if (part.addition)
          await harness.client.patch(part.resource, at(harness, part.name), { merge: part.addition })
        const before = (await find(harness, part))!
        await harness.client.patch(part.resource, at(harness, part.name), { merge: part.edit })
        await untilAsBefore(harness, part, before, false)
        const kept = (await find(harness, part))!.metadata.annotations
        assert.equal(kept?.['example.com/mine'], part.addition && 'yes')
      }
      // The operator finds children also without the label that its caches select.
      for (const part of parts.filter(({ resource }) => resource === resources.services)) {
        const before = (await find(harness, part))!
        await harness.client.patch(part.resource, at(harness, part.name), { merge: hidden })
        await untilAsBefore(harness, part, before, false)
      }
      await harness.stopOperator()
      const binding = await harness.client.get(resources.roleBindings, at(harness, role))
      await harness.client.delete(resources.roleBindings, at(harness, role))
      const { name, namespace, labels, ownerReferences } = binding.metadata
      await harness.client.create(resources.roleBindings, {
        ...binding,
        metadata: { name, namespace, labels, ownerReferences } as typeof binding.metadata,
        roleRef: { ...binding.roleRef, name: 'another-role' },
      })
      await harness.startOperator()
      await harness.until(
        'a RoleBinding to the Role of the set',
        () => harness.client.find(resources.roleBindings, at(harness, role)),
        seen => seen?.roleRef.name === role,
      )
      assert.deepEqual(
        (await harness.pods('whole')).map(({ metadata }) => metadata.uid).toSorted(),
        pods.map(({ metadata }) => metadata.uid).toSorted(),
      )
    },
  },
]
