// SPDX-License-Identifier: Apache-2.0

// Every kind of object that a set makes for itself: taken away, edited, and in its place something of somebody else's.
import assert from 'node:assert/strict'
import { annotation, label } from '@grove/api'
import { isConflict, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

/** One of everything: a clique and a group, both scaled automatically, in one replica. */
const manifest = (replicas = 1) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: whole}
spec:
  replicas: ${replicas}
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 1
          autoScalingConfig: {maxReplicas: 3}
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
      - name: work
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [work], replicas: 1, minAvailable: 1, scaleConfig: {maxReplicas: 3}}
`

interface Part {
  readonly resource: Resource<KubeObject>
  readonly name: string
  /** What somebody does to it that is undone. */
  readonly edit: object
  /** What somebody does to it that stays. */
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

const at = (stage: Stage, name: string) => ({ name, namespace: stage.namespace })
const find = (stage: Stage, { resource, name }: Part) => stage.client.find(resource, at(stage, name))

/** What of an object is ours to say. */
function said(object: Stored<KubeObject>): object {
  const { metadata, status: _, ...rest } = object as Stored<KubeObject> & { status?: unknown }
  const { labels, ownerReferences } = metadata
  return { labels, ownerReferences, ...rest }
}

/** Waits until an object says what it said, as another object or as the same. */
async function untilAsBefore(stage: Stage, part: Part, before: Stored<KubeObject>, isAnother: boolean) {
  const wanted = comparable(said(before))
  await stage.until(
    `${part.resource.kind} ${part.name} as it was`,
    () => find(stage, part),
    seen =>
      seen !== undefined &&
      !seen.metadata.deletionTimestamp &&
      (seen.metadata.uid !== before.metadata.uid) === isAnother &&
      comparable(said(seen)) === wanted,
  )
}

/** Pods and gangs that are made anew have other names. */
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

async function untilWhole(stage: Stage, replicas = 1): Promise<void> {
  await stage.untilReady('whole', 2 * replicas)
  await stage.untilAvailable('whole', replicas)
}

const codesOf = async (stage: Stage) =>
  ((await stage.set('whole'))?.status?.lastErrors ?? []).map(({ code }) => code).toSorted()

export const componentStories: Story[] = [
  {
    name: 'every part of a set that somebody takes away is made again as it was',
    async tell(stage) {
      await stage.apply(manifest())
      await untilWhole(stage)
      for (const part of parts.filter(({ edit }) => edit !== unlabelled)) {
        const before = (await find(stage, part))!
        await stage.client.delete(part.resource, at(stage, part.name))
        await untilAsBefore(stage, part, before, true)
      }
      await untilWhole(stage)
      // Nobody tells us when a Secret goes: it is looked at whenever there is something to do.
      const secret = { resource: resources.secrets as Resource<KubeObject>, name: 'whole-ic-sat', edit: {} }
      const before = await find(stage, secret)
      await stage.client.delete(resources.secrets, at(stage, secret.name))
      let look = 0
      const after = await stage.until(
        'another token',
        async () => {
          const trigger = { [annotation.reconcileTrigger]: String(look++) }
          await stage.patchSet('whole', { metadata: { annotations: trigger } })
          return find(stage, secret)
        },
        seen => (seen as { data?: { token?: string } } | undefined)?.data?.token !== undefined,
      )
      assert.notEqual(after!.metadata.uid, before!.metadata.uid)
      assert.deepEqual(after!.metadata.labels, before!.metadata.labels)
      assert.deepEqual(after!.metadata.ownerReferences, before!.metadata.ownerReferences)
    },
  },
  {
    name: 'every part of a set that somebody edits is put right at once; what is not ours stays as they want it',
    async tell(stage) {
      await stage.apply(manifest())
      await untilWhole(stage)
      const pods = await stage.pods('whole')
      for (const part of parts) {
        if (part.addition)
          await stage.client.patch(part.resource, at(stage, part.name), { merge: part.addition })
        const before = (await find(stage, part))!
        await stage.client.patch(part.resource, at(stage, part.name), { merge: part.edit })
        await untilAsBefore(stage, part, before, false)
        const kept = (await find(stage, part))!.metadata.annotations
        assert.equal(kept?.['example.com/mine'], part.addition && 'yes')
      }
      // Without the label by which we see them they are found all the same.
      for (const part of parts.filter(({ resource }) => resource === resources.services)) {
        const before = (await find(stage, part))!
        await stage.client.patch(part.resource, at(stage, part.name), { merge: hidden })
        await untilAsBefore(stage, part, before, false)
      }
      await stage.stopOperator()
      const binding = await stage.client.get(resources.roleBindings, at(stage, role))
      await stage.client.delete(resources.roleBindings, at(stage, role))
      const { name, namespace, labels, ownerReferences } = binding.metadata
      await stage.client.create(resources.roleBindings, {
        ...binding,
        metadata: { name, namespace, labels, ownerReferences } as typeof binding.metadata,
        roleRef: { ...binding.roleRef, name: 'somebody-elses' },
      })
      await stage.startOperator()
      await stage.until(
        'a binding to our role',
        () => stage.client.find(resources.roleBindings, at(stage, role)),
        seen => seen?.roleRef.name === role,
      )
      assert.deepEqual(
        (await stage.pods('whole')).map(({ metadata }) => metadata.uid).toSorted(),
        pods.map(({ metadata }) => metadata.uid).toSorted(),
      )
    },
  },
  {
    name: 'whatever stands in the place of a part is named, left alone, and waited for; nothing comes before its time',
    async tell(stage) {
      const foreign: readonly [Resource<KubeObject>, string, object, string][] = [
        [resources.serviceAccounts, 'whole', {}, 'ERR_SYNC_SERVICEACCOUNT'],
        [resources.services, 'whole-0', { spec: { ports: [{ port: 80 }] } }, 'ERR_SYNC_PODCLIQUESET_SERVICE'],
        [
          resources.autoscalers,
          'whole-0-web',
          {
            spec: {
              maxReplicas: 2,
              scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' },
            },
          },
          'ERR_SYNC_HPA',
        ],
        [
          resources.roleBindings,
          role,
          { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'other' } },
          'ERR_SYNC_ROLEBINDING',
        ],
        [
          resources.podCliques,
          'whole-0-web',
          {
            spec: {
              roleName: 'other',
              replicas: 1,
              podSpec: { containers: [{ name: 'main', image: 'registry.example/other:1' }] },
            },
          },
          'ERR_SYNC_PODCLIQUE',
        ],
        [
          resources.podCliqueScalingGroups,
          'whole-0-eng',
          { spec: { replicas: 1, minAvailable: 1, cliqueNames: ['other'] } },
          'ERR_SYNC_PODCLIQUESCALINGGROUP',
        ],
      ]
      const made = new Map<string, string>()
      for (const [resource, name, rest, code] of foreign) {
        const object = { apiVersion: '', kind: resource.kind, metadata: at(stage, name), ...rest }
        const { group, version } = resource
        object.apiVersion = group ? `${group}/${version}` : version
        const { metadata } = await stage.client.create(resource, object as KubeObject)
        made.set(code, metadata.uid)
      }
      await stage.apply(manifest())
      // What fails together is told together; what comes after it has not begun.
      for (const together of [foreign.slice(0, 3), foreign.slice(3, 5), foreign.slice(5)]) {
        const codes = together.map(([, , , code]) => code).toSorted()
        await stage.until(
          codes.join(' and '),
          () => codesOf(stage),
          seen => seen.join() === codes.join(),
        )
        for (const { description } of (await stage.set('whole'))!.status!.lastErrors!)
          assert.match(
            description,
            /^failed to sync \w+: .* exists and is not controlled by this PodCliqueSet/,
          )
        const letGo = (await stage.pods('whole')).filter(({ spec }) => !spec?.schedulingGates?.length)
        assert.deepEqual(letGo, [], 'no pod is placed for half a set')
        for (const [resource, name, , code] of together) {
          assert.equal((await stage.client.get(resource, at(stage, name))).metadata.uid, made.get(code))
          await stage.client.delete(resource, at(stage, name))
        }
      }
      await untilWhole(stage)
      assert.deepEqual(await codesOf(stage), [])
    },
  },
  {
    name: 'scaled from three replicas to one, everything of two and three goes and nothing of the first is touched',
    async tell(stage) {
      const kinds = [
        resources.podCliques,
        resources.podCliqueScalingGroups,
        resources.podGangs,
        resources.services,
        resources.autoscalers,
        resources.pods,
      ] as Resource<KubeObject>[]
      const uidsOf = async (resource: Resource<KubeObject>, isOurs: (name: string) => boolean) =>
        (await stage.list(resource, 'whole'))
          .filter(({ metadata }) => isOurs(metadata.name))
          .map(({ metadata }) => metadata.uid)
          .toSorted()
      const isFirst = (name: string) => name === 'whole-0' || name.startsWith('whole-0-')
      await stage.apply(manifest(3))
      await untilWhole(stage, 3)
      const first = await Promise.all(kinds.map(kind => uidsOf(kind, isFirst)))
      for (let attempt = 0; ; attempt++)
        try {
          await stage.scale(resources.podCliqueSets as never, 'whole', 1)
          break
        } catch (error) {
          if (!isConflict(error) || attempt > 5) throw error
        }
      for (const [index, kind] of kinds.entries())
        await stage.until(
          `the first replica's ${kind.kind} alone`,
          () => uidsOf(kind, () => true),
          seen => seen.join() === first[index]!.join(),
        )
      await untilWhole(stage)
    },
  },
]
