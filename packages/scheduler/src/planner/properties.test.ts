// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { instances, propertyOptions, singleGangInstances } from '../testing/instances.ts'
import { gpu, node } from '../testing/objects.ts'
import type { Decision, SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false }
const decide = (objects: SnapshotObjects): Decision => plan(snapshotFrom(objects), policy, 0)
const verdicts = ({ gangs }: Decision) =>
  gangs.map(({ verdict, placementScore, provenance }) => ({ verdict, placementScore, provenance }))
const isScheduled = (objects: SnapshotObjects) => decide(objects).gangs[0]?.verdict === 'Scheduled'

/** The cluster after all bindings of a decision. */
function applied(objects: SnapshotObjects, { bindings }: Decision): SnapshotObjects {
  const nodes = new Map(bindings.map(({ namespace, pod, node }) => [`${namespace}/${pod}`, node]))
  return {
    ...objects,
    pods: objects.pods.map(pod => {
      const node = nodes.get(`${pod.metadata.namespace}/${pod.metadata.name}`)
      return node === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName: node } }
    }),
  }
}

test('binds the whole missing minimum of a gang or no pod of it', () => {
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      const { bindings, gangs } = plan(snapshot, policy, 0)
      for (const [index, gang] of snapshot.gangs.entries()) {
        const own = bindings.filter(binding => binding.gang === gang.name)
        if (gangs[index]?.verdict !== 'Scheduled') deepEqual(own, [])
        else
          for (const group of gang.groups) {
            const minimum = own.filter(
              binding => binding.podGroup === group.name && binding.part === 'minimum',
            )
            equal(minimum.length, Math.max(0, group.minReplicas - group.placed.length))
          }
      }
    }),
    propertyOptions(500),
  )
})

test('the order of input lists and of map keys does not matter', () => {
  const reversed = <Value extends object>(record: Value): Value =>
    Object.fromEntries(Object.entries(record).reverse()) as Value
  fc.assert(
    fc.property(instances, objects => {
      const shuffled: SnapshotObjects = {
        ...objects,
        nodes: objects.nodes.toReversed().map(entry => ({
          ...entry,
          metadata: { ...entry.metadata, labels: reversed(entry.metadata.labels ?? {}) },
          status: { allocatable: reversed(entry.status?.allocatable ?? {}) },
        })),
        pods: objects.pods.toReversed(),
        podGangs: objects.podGangs.toReversed(),
      }
      equal(
        JSON.stringify(plan(snapshotFrom(shuffled), defaultPolicy, 0)),
        JSON.stringify(plan(snapshotFrom(objects), defaultPolicy, 0)),
      )
    }),
    propertyOptions(60),
  )
})

test('the plan of an applied plan is empty', () => {
  fc.assert(
    fc.property(instances, objects => {
      deepEqual(decide(applied(objects, decide(objects))).bindings, [])
    }),
    propertyOptions(500),
  )
})

test('binds no surplus while a gang that could be accepted waits', () => {
  fc.assert(
    fc.property(instances, objects => {
      const decision = decide(objects)
      const minima = { ...decision, bindings: decision.bindings.filter(({ part }) => part === 'minimum') }
      // With all minima bound and the surplus left out, no further gang is accepted.
      const next = decide(applied(objects, minima))
      deepEqual(
        next.bindings.filter(({ part }) => part === 'minimum'),
        [],
      )
    }),
    propertyOptions(300),
  )
})

test('one more empty node never makes a gang unschedulable', () => {
  const labels = { 'example.com/zone': 'a', 'example.com/rack': 'r1' }
  fc.assert(
    fc.property(singleGangInstances, fc.integer({ min: 0, max: 8 }), (objects, gpus) => {
      if (!isScheduled(objects)) return
      const added = node('n-added', { [gpu]: String(gpus), cpu: '8' }, { labels })
      ok(isScheduled({ ...objects, nodes: [...objects.nodes, added] }))
    }),
    propertyOptions(500),
  )
})

test('one pod less never makes a gang unschedulable', () => {
  fc.assert(
    fc.property(singleGangInstances, fc.nat({ max: 3 }), (objects, at) => {
      if (!isScheduled(objects)) return
      const [gang] = objects.podGangs
      const podgroups = gang!.spec.podgroups.map((group, i) =>
        i === at ? { ...group, minReplicas: Math.max(0, group.minReplicas - 1) } : group,
      )
      ok(isScheduled({ ...objects, podGangs: [{ ...gang!, spec: { ...gang!.spec, podgroups } }] }))
    }),
    propertyOptions(500),
  )
})

test('a wider required level never makes a gang unschedulable', () => {
  const wider = new Map([
    ['kubernetes.io/hostname', 'example.com/rack'],
    ['example.com/rack', 'example.com/zone'],
  ])
  fc.assert(
    fc.property(singleGangInstances, objects => {
      const [gang] = objects.podGangs
      const required = wider.get(gang!.spec.topologyConstraint?.packConstraint?.required ?? '')
      if (!required || !gang!.metadata.annotations || !isScheduled(objects)) return
      const spec = { ...gang!.spec, topologyConstraint: { packConstraint: { required } } }
      ok(isScheduled({ ...objects, podGangs: [{ ...gang!, spec }] }))
    }),
    propertyOptions(500),
  )
})

test('a label that no filter reads changes nothing', () => {
  fc.assert(
    fc.property(instances, objects => {
      const labelled = objects.nodes.map(
        (entry, i): Node => ({
          ...entry,
          metadata: {
            ...entry.metadata,
            labels: { ...entry.metadata.labels, 'example.com/serial': String(i) },
          },
        }),
      )
      deepEqual(decide({ ...objects, nodes: labelled }), decide(objects))
    }),
    propertyOptions(200),
  )
})

test('scaling all quantities changes nothing', () => {
  const scaled = (amounts: Record<string, string | number> = {}) =>
    Object.fromEntries(
      Object.entries(amounts).map(([name, value]) => [
        name,
        name === 'pods' ? value : String(Number(value) * 7),
      ]),
    )
  fc.assert(
    fc.property(instances, objects => {
      const larger: SnapshotObjects = {
        ...objects,
        nodes: objects.nodes.map(entry => ({
          ...entry,
          status: { allocatable: scaled(entry.status?.allocatable) },
        })),
        pods: objects.pods.map(
          (entry): Pod => ({
            ...entry,
            spec: {
              ...entry.spec,
              containers: entry.spec.containers.map(container => ({
                ...container,
                resources: { requests: scaled(container.resources?.requests) },
              })),
            },
          }),
        ),
      }
      deepEqual(decide(larger).bindings, decide(objects).bindings)
    }),
    propertyOptions(200),
  )
})

test('renaming nodes changes no verdict and no score of the first gang', () => {
  fc.assert(
    fc.property(singleGangInstances, objects => {
      const rename = (name: string) => `x${99 - Number(name.slice(1))}`
      const renamed: SnapshotObjects = {
        ...objects,
        nodes: objects.nodes.map(({ metadata, ...rest }) => {
          const name = rename(metadata.name)
          return {
            ...rest,
            metadata: { name, labels: { ...metadata.labels, 'kubernetes.io/hostname': name } },
          }
        }),
        pods: objects.pods.map(entry =>
          entry.spec.nodeName
            ? { ...entry, spec: { ...entry.spec, nodeName: rename(entry.spec.nodeName) } }
            : entry,
        ),
      }
      deepEqual(verdicts(decide(renamed)), verdicts(decide(objects)))
    }),
    propertyOptions(500),
  )
})

test('renaming pods, groups, gangs and domains gives the same decision up to the names', () => {
  const renameLabels = (labels: Readonly<Record<string, string>> = {}, values: ReadonlyMap<string, string>) =>
    Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, values.get(key) ?? value]))
  // Prefixes keep the order of names, by which ties are decided.
  const domain = (value: string | undefined) => `domain-${value}`
  const member = (name: string) => `renamed-${name}`
  fc.assert(
    fc.property(instances, objects => {
      const renamed: SnapshotObjects = {
        ...objects,
        nodes: objects.nodes.map(entry => {
          const labels = { ...entry.metadata.labels }
          for (const key of ['example.com/zone', 'example.com/rack'])
            if (labels[key] !== undefined) labels[key] = domain(labels[key])
          return { ...entry, metadata: { ...entry.metadata, labels } }
        }),
        pods: objects.pods.map((entry): Pod => {
          const labels = entry.metadata.labels ?? {}
          const values = new Map(
            ['grove.io/podgang', 'grove.io/podclique', 'grove.io/base-podgang'].flatMap(key =>
              labels[key] === undefined ? [] : [[key, member(labels[key])] as const],
            ),
          )
          return {
            ...entry,
            metadata: {
              ...entry.metadata,
              name: member(entry.metadata.name),
              labels: renameLabels(labels, values),
            },
            // Terms of anti-affinity name their PodClique.
            spec: JSON.parse(
              JSON.stringify(entry.spec).replaceAll(
                /"grove\.io\/podclique":"([^"]+)"/g,
                (_, clique: string) => `"grove.io/podclique":"${member(clique)}"`,
              ),
            ),
          }
        }),
        podGangs: objects.podGangs.map(gang => ({
          ...gang,
          metadata: { ...gang.metadata, name: member(gang.metadata.name) },
          spec: {
            ...gang.spec,
            podgroups: gang.spec.podgroups.map(group => ({ ...group, name: member(group.name) })),
            ...(gang.spec.topologyConstraintGroupConfigs && {
              topologyConstraintGroupConfigs: gang.spec.topologyConstraintGroupConfigs.map(config => ({
                ...config,
                podGroupNames: config.podGroupNames.map(member),
              })),
            }),
          },
        })),
      }
      deepEqual(
        decide(renamed).bindings.map(({ pod, node, part }) => [pod, node, part]),
        decide(objects).bindings.map(({ pod, node, part }) => [member(pod), node, part]),
      )
      deepEqual(verdicts(decide(renamed)), verdicts(decide(objects)))
    }),
    propertyOptions(300),
  )
})

test('a gang that waits alone on an empty cluster also waits on the same cluster with running pods', () => {
  fc.assert(
    fc.property(singleGangInstances, objects => {
      const pending = objects.pods.filter(({ spec }) => !spec.nodeName)
      if (pending.length !== objects.pods.length && !isScheduled({ ...objects, pods: pending })) {
        const [gang] = objects.podGangs
        const own = objects.pods.some(
          ({ metadata, spec }) =>
            spec.nodeName && metadata.labels?.['grove.io/podgang'] === gang?.metadata.name,
        )
        // Running pods of the gang itself count for its minimum.
        if (!own) ok(!isScheduled(objects))
      }
    }),
    propertyOptions(500),
  )
})
