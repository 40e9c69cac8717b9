// SPDX-License-Identifier: Apache-2.0

// PodCliqueSets of any size that are expensive to validate. Each function creates a set of about `size`
// entries. Some are valid, most are not.

import type { PodCliqueSet, PodCliqueSetTemplate, ResourceSharing } from '../types/index.ts'
import { clique } from './sample-sets.ts'

function times<T>(size: number, make: (index: number) => T): T[] {
  return Array.from({ length: size }, (_, index) => make(index))
}

function setOf(template: Partial<PodCliqueSetTemplate>, metadata: object = {}): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'demo', namespace: 'work', ...metadata },
    spec: {
      replicas: 1,
      template: { cliques: [clique('web')], cliqueStartupType: 'CliqueStartupTypeAnyOrder', ...template },
    },
  }
}

function perReplica(name: string): ResourceSharing {
  return { name, scope: 'PerReplica' }
}

const numbered = (size: number): ResourceSharing[] =>
  times(size, index => perReplica(`t-${index}-1-${index}`))
const gpu = { containers: [{ name: 'main', image: 'i', resources: { limits: { 'nvidia.com/gpu': 8 } } }] }

export const hostileSets: Readonly<Record<string, (size: number) => PodCliqueSet>> = {
  'many cliques': size => setOf({ cliques: times(size, index => clique(`c${index}`)) }),

  'many groups of one clique': size =>
    setOf({
      cliques: times(size, index => clique(`c${index}`)),
      podCliqueScalingGroups: times(size, index => ({ name: `g${index}`, cliqueNames: [`c${index}`] })),
    }),

  'names with a common prefix': size =>
    setOf({
      cliques: [...times(size, index => clique(`1-w${index}`)), ...times(size, index => clique(`w${index}`))],
      podCliqueScalingGroups: [
        { name: 'g', cliqueNames: times(size, index => `1-w${index}`) },
        ...times(size, index => ({ name: `g-${index}`, cliqueNames: [`w${index}`] })),
      ],
    }),

  'numeric names': size =>
    setOf({
      cliques: times(size, index => clique(`${index}-1-2`)),
      podCliqueScalingGroups: times(size, index => ({
        name: Array.from({ length: (index % 8) + 1 }, () => index % 7).join('-'),
        cliqueNames: [`${index}-1-2`],
      })),
    }),

  'a member that shares numbered claims': size =>
    setOf({
      cliques: [clique('web', {}, { resourceSharing: numbered(size) })],
      podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['web'] }],
    }),

  'numbered claims at every level': size =>
    setOf({
      resourceSharing: numbered(size),
      cliques: [
        clique('web', {}, { resourceSharing: numbered(size) }),
        clique('solo', {}, { resourceSharing: numbered(size) }),
      ],
      podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['web'], resourceSharing: numbered(size) }],
    }),

  'claims that repeat each other': size =>
    setOf({
      resourceSharing: times(size, () => perReplica('t')),
      resourceClaimTemplates: times(size, index => ({
        name: `t${index % 2}`,
        templateSpec: { spec: { devices: { requests: [] } } },
      })),
    }),

  'filters without matches': size =>
    setOf({
      resourceSharing: times(size, index => ({
        ...perReplica(`t${index}`),
        filter: { childCliqueNames: [`no${index}`], childScalingGroupNames: [`no${index}`] },
      })),
      podCliqueScalingGroups: [
        {
          name: 'g',
          cliqueNames: ['web'],
          resourceSharing: [
            { ...perReplica('t'), filter: { childCliqueNames: times(size, index => `no${index}`) } },
          ],
        },
      ],
    }),

  'a chain of dependencies': size =>
    setOf({
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      cliques: times(size, index =>
        clique(`c${index}`, { startsAfter: index === 0 ? [] : [`c${index - 1}`] }),
      ),
    }),

  'a dependency cycle': size =>
    setOf({
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      cliques: times(size, index => clique(`c${index}`, { startsAfter: [`c${(index + 1) % size}`] })),
    }),

  'dependencies on missing cliques': size =>
    setOf({
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      cliques: [clique('web', { startsAfter: times(size, index => `no${index % 10}`) })],
    }),

  'members that do not exist': size =>
    setOf({ podCliqueScalingGroups: [{ name: 'g', cliqueNames: times(size, index => `no${index}`) }] }),

  'one clique in every group': size =>
    setOf({ podCliqueScalingGroups: times(size, index => ({ name: `g${index}`, cliqueNames: ['web'] })) }),

  'a long group name with many members': size =>
    setOf({
      topologyConstraint: { topologyName: 'site', pack: { required: 'zone' } },
      cliques: times(size, index =>
        clique(
          `c${index}`,
          {},
          { topologyConstraint: { pack: { required: 'region', preferred: 'region' } } },
        ),
      ),
      podCliqueScalingGroups: [
        {
          name: 'g'.repeat(100 * size),
          cliqueNames: times(size, index => `c${index}`),
          topologyConstraint: { pack: { required: 'host', preferred: 'host' } },
        },
      ],
    }),

  'a long set name with many cliques': size =>
    setOf({ cliques: times(size, index => clique(`c${index}`)) }, { name: 'n'.repeat(100 * size) }),

  'long names': size =>
    setOf({
      cliques: [
        clique('x-'.repeat(100 * size), {}, { resourceSharing: [perReplica('1-'.repeat(100 * size))] }),
      ],
      resourceSharing: [perReplica('1-'.repeat(100 * size))],
    }),

  'bad labels and annotations': size => {
    const bad = Object.fromEntries(times(size, index => [`bad key ${index}`, `bad value ${index}`]))
    return setOf(
      { cliques: [clique('web', {}, { labels: bad, annotations: bad })] },
      { labels: bad, annotations: bad },
    )
  },

  'owner references that all control': size =>
    setOf(
      {},
      {
        ownerReferences: times(size, index => ({
          apiVersion: 'v1',
          kind: 'Event',
          name: `o${index}`,
          uid: `${index}`,
          controller: true,
        })),
      },
    ),

  'a long queue and many others': size =>
    setOf(
      {
        cliques: times(size, index =>
          clique(
            `c${index}`,
            {},
            {
              labels: { 'kai.scheduler/queue': `q${index}` },
              annotations: { 'scheduling.grove.io/volcano-queue': `q${index}` },
            },
          ),
        ),
      },
      {
        labels: { 'kai.scheduler/queue': 'q'.repeat(100 * size) },
        annotations: { 'scheduling.grove.io/volcano-queue': 'q'.repeat(100 * size) },
      },
    ),

  'a long NVLink group for many cliques': size =>
    setOf(
      { cliques: times(size, index => clique(`c${index}`, { podSpec: gpu })) },
      { annotations: { 'grove.io/mnnvl-group': 'm'.repeat(100 * size) } },
    ),

  'constraints with different topologies': size =>
    setOf({
      cliques: times(size, index =>
        clique(
          `c${index}`,
          {},
          { topologyConstraint: { topologyName: `t${index}`, packDomain: `d${index}` } },
        ),
      ),
      podCliqueScalingGroups: times(size, index => ({
        name: `g${index}`,
        cliqueNames: [`c${index}`],
        topologyConstraint: { pack: { required: 'zone', preferred: 'region' } },
      })),
    }),

  'different schedulers': size =>
    setOf({
      cliques: times(size, index =>
        clique(`c${index}`, {
          podSpec: { schedulerName: `s${index}`, containers: [{ name: 'main', image: 'i' }] },
        }),
      ),
    }),

  'many containers and variables': size => {
    const containers = times(size, index => ({
      name: `Bad ${index}`,
      image: 'i',
      env: [{ name: `1bad${index}` }, { name: 'A' }, { name: 'A' }],
    }))
    const env = times(size, index => ({ name: `A${index % 50}`, value: 'x' }))
    return setOf({
      cliques: [
        clique('web', {
          podSpec: {
            containers: [...containers, { name: 'main', image: 'i', env }],
            initContainers: containers,
            volumes: times(size, () => ({ name: 'grove-initc', emptyDir: {} })),
          },
        }),
      ],
    })
  },

  'values of a wrong type': size =>
    setOf({
      cliques: times(size, index => ({ name: index, spec: 'x'.repeat(100) }) as never),
      terminationDelay: '1h'.repeat(size),
    }),
}
