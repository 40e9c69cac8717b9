// SPDX-License-Identifier: Apache-2.0

// Actions of users, autoscalers and failures on a running set.
import { annotation, label, type PodCliqueSet } from '@grove/api'
import { isConflict, isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import fc from 'fast-check'
import type { Harness } from '../harness.ts'
import { childEdits } from './child-edits.ts'
import { type Model, templateSize } from './model.ts'

export type Action =
  | { readonly do: 'scale set'; readonly replicas: number }
  | { readonly do: 'scale group'; readonly pick: number; readonly replicas: number }
  | { readonly do: 'scale clique'; readonly pick: number; readonly replicas: number }
  | { readonly do: 'delete pods'; readonly pick: number; readonly count: number }
  | { readonly do: 'fail pod'; readonly pick: number }
  | { readonly do: 'delete child'; readonly kind: keyof typeof children; readonly pick: number }
  | { readonly do: 'remove owner'; readonly kind: keyof typeof children; readonly pick: number }
  | { readonly do: 'edit template'; readonly member: keyof typeof templateEdits; readonly pick: number }
  | { readonly do: 'change image'; readonly pick: number; readonly tag: number }
  | { readonly do: 'reorder cliques' }
  | { readonly do: 'relabel set'; readonly value: string }
  | { readonly do: 'restart operator' }
  | { readonly do: 'edit child'; readonly edit: string; readonly pick: number }
  | { readonly do: 'clear status'; readonly kind: keyof typeof withStatus; readonly pick: number }
  | { readonly do: 'switch strategy' }
  | { readonly do: 'change autoscaling'; readonly pick: number }
  | { readonly do: 'recreate set' }
  | { readonly do: 'elapse' }

const children = {
  PodClique: resources.podCliques,
  PodCliqueScalingGroup: resources.podCliqueScalingGroups,
  PodGang: resources.podGangs,
  Service: resources.services,
  ServiceAccount: resources.serviceAccounts,
  Role: resources.roles,
  RoleBinding: resources.roleBindings,
  HorizontalPodAutoscaler: resources.autoscalers,
} as const satisfies Record<string, Resource<KubeObject>>

const withStatus = {
  PodCliqueSet: resources.podCliqueSets,
  PodClique: resources.podCliques,
  PodCliqueScalingGroup: resources.podCliqueScalingGroups,
  PodGang: resources.podGangs,
} as const satisfies Record<string, Resource<KubeObject>>

type Template = PodCliqueSet['spec']['template']
type TemplateEdit = (template: Template, clique: Template['cliques'][number], pick: number) => void

const odd = (value: number) => value % 2 === 1
const templateEdits = {
  terminationDelay: (template, _, value) => {
    template.terminationDelay = odd(value) ? '1m5s' : '1m0s'
  },
  headlessService: (template, _, value) => {
    template.headlessServiceConfig = { publishNotReadyAddresses: odd(value) }
  },
  priorityClass: (template, _, value) => {
    if (odd(value)) template.priorityClassName = 'high'
    else delete template.priorityClassName
  },
  labels: (_, clique, value) => {
    clique.labels = odd(value) ? { tier: `edited-${value}` } : {}
  },
  annotations: (_, clique, value) => {
    clique.annotations = odd(value) ? { 'example.com/note': `edited-${value}` } : {}
  },
  gracePeriod: (_, clique, value) => {
    clique.spec.podSpec.terminationGracePeriodSeconds = value % 40
  },
} as const satisfies Record<string, TemplateEdit>
/** Longer than every termination delay. */
const elapsedMs = 70_000

const pick = fc.nat(1000)
const size = fc.integer({ min: 0, max: 4 })

export const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('scale set' as const), replicas: size }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('scale group' as const), pick, replicas: size }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('scale clique' as const), pick, replicas: size }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('delete pods' as const),
      pick,
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail pod' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('delete child' as const),
      kind: fc.constantFrom(...(Object.keys(children) as (keyof typeof children)[])),
      pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('remove owner' as const),
      kind: fc.constantFrom(...(Object.keys(children) as (keyof typeof children)[])),
      pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit template' as const),
      member: fc.constantFrom(...(Object.keys(templateEdits) as (keyof typeof templateEdits)[])),
      pick,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change image' as const),
      pick,
      tag: fc.integer({ min: 2, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reorder cliques' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('relabel set' as const), value: fc.constantFrom('a', 'b') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart operator' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('edit child' as const),
      edit: fc.constantFrom(...Object.keys(childEdits)),
      pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('clear status' as const),
      kind: fc.constantFrom(...(Object.keys(withStatus) as (keyof typeof withStatus)[])),
      pick,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('switch strategy' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change autoscaling' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('recreate set' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('elapse' as const) }) },
)

/** Executes the action and updates the model. Does nothing if the object of the action does not exist. */
export async function act(harness: Harness, model: Model, action: Action): Promise<void> {
  const set = (await harness.set(model.name))!
  if (set.spec.updateStrategy?.type === 'OnDelete') model.mayHaveOutdatedPods = true
  const isWanted = ({ metadata }: Stored<KubeObject>) =>
    Number(metadata.labels?.[label.setReplicaIndex]) < (set.spec.replicas ?? 0)
  switch (action.do) {
    case 'scale set':
      model.scaleSet(action.replicas, set)
      return harness.scale(resources.podCliqueSets, model.name, action.replicas)
    case 'scale group': {
      const group = chosen((await harness.groups(model.name)).filter(isWanted), action.pick)
      if (!group) return
      const replicas = Math.max(action.replicas, group.spec.minAvailable ?? 1)
      if (await scaled(harness, resources.podCliqueScalingGroups, group, replicas))
        model.resize(set, group, replicas)
      return
    }
    case 'scale clique': {
      const standalone = (await harness.cliques(model.name)).filter(
        clique => isWanted(clique) && templateSize(set, clique) !== undefined,
      )
      const clique = chosen(standalone, action.pick)
      if (!clique) return
      const replicas = Math.max(action.replicas, clique.spec.minAvailable ?? 1)
      if (await scaled(harness, resources.podCliques, clique, replicas)) model.resize(set, clique, replicas)
      return
    }
    case 'delete pods': {
      const pods = (await harness.pods(model.name)).sort(byName)
      const from = pods.length ? action.pick % pods.length : 0
      await Promise.all(
        pods.slice(from, from + action.count).map(pod => remove(harness, resources.pods, pod)),
      )
      return
    }
    case 'fail pod': {
      const pod = chosen(await harness.pods(model.name), action.pick)
      if (!pod) return
      await unlessGone(() =>
        harness.client.patch(
          resources.pods,
          { name: pod.metadata.name, namespace: harness.namespace },
          { merge: { status: { phase: 'Failed' } } },
          { subresource: 'status' },
        ),
      )
      return
    }
    case 'delete child': {
      const resource = children[action.kind] as Resource<KubeObject>
      const child = chosen(await harness.list(resource, model.name), action.pick)
      if (!child) return
      await remove(harness, resource, child)
      if (action.kind === 'PodClique' || action.kind === 'PodCliqueScalingGroup')
        model.renew(child.metadata.name, templateSize(set, child))
      return
    }
    case 'remove owner': {
      const resource = children[action.kind] as Resource<KubeObject>
      const child = chosen(await harness.list(resource, model.name), action.pick)
      if (!child) return
      const { name, uid } = child.metadata
      const merge = { metadata: { uid, ownerReferences: null } }
      await unlessGone(() =>
        harness.client.patch(resource, { name, namespace: harness.namespace }, { merge }),
      )
      return
    }
    case 'edit template': {
      return harness.edit(model.name, ({ spec: { template } }) => {
        const clique = template.cliques[action.pick % template.cliques.length]!
        templateEdits[action.member](template, clique, action.pick)
      })
    }
    case 'change image': {
      const cliques = structuredClone(set.spec.template.cliques)
      const clique = cliques[action.pick % cliques.length]!
      clique.spec.podSpec.containers[0]!.image = `registry.example/${clique.name}:${action.tag}`
      return harness.patchSet(model.name, { spec: { template: { cliques } } })
    }
    case 'reorder cliques': {
      if (set.spec.template.cliqueStartupType === 'CliqueStartupTypeInOrder') return
      return harness.patchSet(model.name, {
        spec: { template: { cliques: structuredClone(set.spec.template.cliques).reverse() } },
      })
    }
    case 'relabel set':
      return harness.patchSet(model.name, { metadata: { labels: { team: action.value } } })
    case 'restart operator':
      await harness.stopOperator()
      return harness.startOperator()
    case 'edit child': {
      const { resource, isOf, merge } = childEdits[action.edit]!
      const child = chosen((await harness.list(resource, model.name)).filter(isOf), action.pick)
      if (!child) return
      const { name, uid } = child.metadata
      const { metadata, ...rest } = merge(child)
      await unlessGone(() =>
        harness.client.patch(
          resource,
          { name, namespace: harness.namespace },
          { merge: { ...rest, metadata: { ...metadata, uid } } },
        ),
      )
      return
    }
    case 'clear status': {
      const resource = withStatus[action.kind] as Resource<KubeObject>
      const all = action.kind === 'PodCliqueSet' ? [set] : await harness.list(resource, model.name)
      const object = chosen(all as readonly Stored<KubeObject & { status?: object }>[], action.pick)
      if (!object) return
      const { name, uid } = object.metadata
      // The API requires the phase of a gang.
      const status = Object.fromEntries(
        Object.keys(object.status ?? {}).map(key => [key, key === 'phase' ? 'Pending' : null]),
      )
      await unlessGone(() =>
        harness.client.patch(
          resource,
          { name, namespace: harness.namespace },
          { merge: { metadata: { uid }, status } },
          { subresource: 'status' },
        ),
      )
      return
    }
    case 'switch strategy': {
      const type = set.spec.updateStrategy?.type === 'OnDelete' ? 'RollingRecreate' : 'OnDelete'
      model.mayHaveOutdatedPods = true
      return harness.patchSet(model.name, { spec: { updateStrategy: { type } } })
    }
    case 'change autoscaling':
      return harness.edit(model.name, ({ spec: { template } }) => changeAutoscaling(template, action.pick))
    case 'recreate set':
      await recreate(harness, set)
      model.reset()
      return
    case 'elapse':
      return harness.fastForward(elapsedMs)
  }
}

/** Adds, changes or removes the autoscaler of a standalone clique or of a scaling group. */
function changeAutoscaling({ cliques, podCliqueScalingGroups: groups = [] }: Template, pick: number): void {
  const members = new Set(groups.flatMap(({ cliqueNames }) => cliqueNames))
  const standalone = cliques.filter(({ name }) => !members.has(name))
  const at = pick % (standalone.length + groups.length)
  const maxReplicas = 6 + (pick % 3)
  const spec = standalone[at]?.spec
  const group = groups[at - standalone.length]
  if (spec?.autoScalingConfig && odd(pick)) delete spec.autoScalingConfig
  else if (spec) spec.autoScalingConfig = { ...spec.autoScalingConfig, maxReplicas }
  if (group?.scaleConfig && odd(pick)) delete group.scaleConfig
  else if (group) group.scaleConfig = { ...group.scaleConfig, maxReplicas }
}

async function recreate(harness: Harness, { apiVersion, kind, metadata, spec }: PodCliqueSet): Promise<void> {
  const { name, namespace, labels, annotations } = metadata
  const { [annotation.countsBeforeTermination]: _, ...kept } = annotations ?? {}
  await harness.deleteSet(name!)
  await harness.until(
    'the set to be deleted',
    () => harness.set(name!),
    found => found === undefined,
  )
  await harness.client.create(resources.podCliqueSets, {
    apiVersion,
    kind,
    metadata: { name, namespace, ...(labels && { labels }), annotations: kept },
    spec,
  } as PodCliqueSet)
}

function chosen<T extends { metadata: { name: string; deletionTimestamp?: string } }>(
  all: readonly T[],
  at: number,
): T | undefined {
  const live = all.filter(one => one.metadata.deletionTimestamp === undefined).sort(byName)
  return live.length ? live[at % live.length] : undefined
}

function byName(a: { metadata: { name: string } }, b: { metadata: { name: string } }): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}

async function scaled(
  harness: Harness,
  resource: Resource<KubeObject>,
  { metadata }: Stored,
  replicas: number,
) {
  return unlessGone(() => harness.scale(resource, metadata.name, replicas))
}

async function remove(
  harness: Harness,
  resource: Resource<KubeObject>,
  { metadata }: Stored,
): Promise<boolean> {
  return unlessGone(() =>
    harness.client.delete(
      resource,
      { name: metadata.name, namespace: harness.namespace },
      { preconditions: { uid: metadata.uid } },
    ),
  )
}

/** Returns false if the object was deleted or changed meanwhile: the operator also deletes objects. */
async function unlessGone(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await request()
    return true
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false
    throw error
  }
}
