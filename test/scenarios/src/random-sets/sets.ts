// SPDX-License-Identifier: Apache-2.0

// Valid PodCliqueSets in every shape that affects the created objects.
import type {
  CliqueStartupType,
  CliqueTemplate,
  PodCliqueSet,
  ScalingGroupTemplate,
  UpdateStrategyType,
} from '@grove/api'
import fc from 'fast-check'

/** Names with common prefixes and suffixes, and names that look like indexes: the operator must not parse names. */
const cliqueNames = ['worker', 'gpu-worker', 'w', '0', 'lead', '1-w'] as const
const groupNames = ['g', 'eng', 'g-0'] as const

interface CliqueShape {
  readonly name: string
  readonly replicas: number
  readonly minAvailable: number | undefined
  readonly tags: boolean
  readonly autoscaled: boolean
}

const cliqueShape = (name: string): fc.Arbitrary<CliqueShape> =>
  fc.record({
    name: fc.constant(name),
    replicas: fc.integer({ min: 1, max: 3 }),
    minAvailable: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    tags: fc.boolean(),
    autoscaled: fc.boolean(),
  })

interface GroupShape {
  readonly replicas: number
  readonly minAvailable: number
  readonly autoscaled: boolean
}

const groupShape: fc.Arbitrary<GroupShape> = fc.record({
  replicas: fc.integer({ min: 1, max: 3 }),
  minAvailable: fc.integer({ min: 1, max: 3 }),
  autoscaled: fc.boolean(),
})

interface SetShape {
  readonly replicas: number
  readonly cliques: CliqueShape[]
  readonly groups: GroupShape[]
  /** The group of each clique. A number beyond the groups means a standalone clique. */
  readonly membership: number[]
  readonly startup: CliqueStartupType
  readonly strategy: UpdateStrategyType | undefined
  readonly priorityClassName: string | undefined
  readonly publishNotReady: boolean | undefined
  readonly tags: boolean
}

export const sets: fc.Arbitrary<PodCliqueSet> = fc
  .record({
    replicas: fc.integer({ min: 0, max: 3 }),
    cliques: fc
      .shuffledSubarray([...cliqueNames], { minLength: 1, maxLength: 4 })
      .chain(names => fc.tuple(...names.map(cliqueShape))),
    groups: fc.array(groupShape, { maxLength: 2 }),
    membership: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
    startup: fc.constantFrom<CliqueStartupType>(
      'CliqueStartupTypeAnyOrder',
      'CliqueStartupTypeInOrder',
      'CliqueStartupTypeExplicit',
    ),
    strategy: fc.constantFrom<UpdateStrategyType | undefined>(undefined, 'RollingRecreate', 'OnDelete'),
    priorityClassName: fc.constantFrom(undefined, 'high'),
    publishNotReady: fc.constantFrom(undefined, true, false),
    tags: fc.boolean(),
  })
  .map(setOf)

function setOf(shape: SetShape): PodCliqueSet {
  const membersOf = (group: number) =>
    shape.cliques.filter((_, at) => shape.membership[at] === group).map(({ name }) => name)
  const groups = shape.groups.flatMap((group, at) => {
    const cliqueNames = membersOf(at)
    return cliqueNames.length ? [scalingGroup(groupNames[at]!, group, cliqueNames)] : []
  })
  const grouped = new Set(groups.flatMap(({ cliqueNames }) => cliqueNames))
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: {
      name: 'gen',
      ...(shape.tags && {
        labels: { team: 'search', 'grove.io/ours': 'stays' },
        annotations: { 'example.com/note': 'mirrored' },
      }),
    },
    spec: {
      replicas: shape.replicas,
      ...(shape.strategy && { updateStrategy: { type: shape.strategy } }),
      template: {
        cliqueStartupType: shape.startup,
        terminationDelay: '1m0s',
        ...(shape.priorityClassName && { priorityClassName: shape.priorityClassName }),
        ...(shape.publishNotReady !== undefined && {
          headlessServiceConfig: { publishNotReadyAddresses: shape.publishNotReady },
        }),
        cliques: shape.cliques.map((clique, at) =>
          cliqueTemplate(clique, {
            grouped: grouped.has(clique.name),
            startsAfter:
              shape.startup === 'CliqueStartupTypeExplicit' && at > 0 ? [shape.cliques[at - 1]!.name] : [],
          }),
        ),
        ...(groups.length && { podCliqueScalingGroups: groups }),
      },
    },
  }
}

function cliqueTemplate(
  shape: CliqueShape,
  { grouped, startsAfter }: { grouped: boolean; startsAfter: string[] },
): CliqueTemplate {
  const minAvailable =
    shape.minAvailable === undefined ? undefined : Math.min(shape.minAvailable, shape.replicas)
  return {
    name: shape.name,
    ...(shape.tags && {
      labels: { tier: shape.name },
      annotations: { 'example.com/role': shape.name },
    }),
    spec: {
      roleName: shape.name,
      replicas: shape.replicas,
      ...(minAvailable !== undefined && { minAvailable }),
      ...(startsAfter.length && { startsAfter }),
      ...(shape.autoscaled && !grouped && { autoScalingConfig: { maxReplicas: 6 } }),
      podSpec: {
        containers: [
          {
            name: 'main',
            image: `registry.example/${shape.name}:1`,
            env: [
              { name: 'A', value: '1' },
              { name: 'GROVE_PCS_NAME', value: 'the user cannot override it' },
            ],
          },
        ],
        ...(shape.tags && { initContainers: [{ name: 'prepare', image: 'registry.example/prepare:1' }] }),
      },
    },
  }
}

function scalingGroup(name: string, shape: GroupShape, cliqueNames: string[]): ScalingGroupTemplate {
  return {
    name,
    cliqueNames,
    replicas: shape.replicas,
    minAvailable: Math.min(shape.minAvailable, shape.replicas),
    ...(shape.autoscaled && { scaleConfig: { maxReplicas: 6 } }),
  }
}
