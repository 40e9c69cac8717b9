// SPDX-License-Identifier: Apache-2.0

// Random edits of a set by users and autoscalers.
import type { CliqueTemplate, PodClique, PodCliqueScalingGroup, PodCliqueSetUpdateStrategy } from '@grove/api'
import type { Resource, Stored } from '@grove/kube'
import { resources } from '../../caches/resources.ts'
import { type Simulation, setName } from './simulation.ts'

export type Edit =
  | 'template'
  | 'reorder'
  | 'scale set'
  | 'scale clique'
  | 'scale group'
  | 'pause'
  | 'partition'
  | 'budget'
  | 'surge'
  | 'resume'
  | 'switch strategy'
  | 'new template'
  | 'take back'
  | 'delete clique'

/** Makes one edit and returns its description. */
export function editSet(simulation: Simulation, edit: Edit): string {
  const { api, random, set } = simulation
  const strategy = (change: Partial<PodCliqueSetUpdateStrategy>) => {
    const updateStrategy = { ...set.spec.updateStrategy, ...change }
    api.modify(resources.podCliqueSets, setName, { spec: { updateStrategy } })
    return JSON.stringify(updateStrategy)
  }
  switch (edit) {
    case 'template':
      // Few versions, so that an edit often restores an earlier one.
      return editCliques(simulation, cliques => {
        const one = random.pick(cliques)!
        one.spec.podSpec.containers[0]!.image = `registry.example/main:${1 + random.below(3)}`
        return cliques
      })
    case 'new template':
      return editCliques(simulation, cliques => {
        for (const one of cliques)
          one.spec.podSpec.containers[0]!.image = `registry.example/main:${set.metadata.generation}`
        return cliques
      })
    case 'take back':
      return editCliques(simulation, cliques => {
        for (const one of cliques) one.spec.podSpec.containers[0]!.image = 'registry.example/main:1'
        return cliques
      })
    case 'switch strategy':
      return strategy({ type: set.spec.updateStrategy?.type === 'OnDelete' ? 'RollingRecreate' : 'OnDelete' })
    case 'reorder':
      return editCliques(simulation, cliques => {
        for (const one of cliques) one.spec.podSpec.dnsPolicy = 'ClusterFirst'
        return cliques.reverse()
      })
    case 'scale set':
      return scale(simulation, resources.podCliqueSets as unknown as Resource, set, random.below(4))
    case 'scale clique': {
      // Below minAvailable it would block the gangs that wait for it.
      const one = random.pick(simulation.cliques.filter(({ metadata }) => metadata.name.endsWith('-web')))
      return one
        ? scale(
            simulation,
            resources.podCliques as unknown as Resource,
            one,
            (one.spec.minAvailable ?? 1) + random.below(3),
          )
        : ''
    }
    case 'scale group': {
      const one = random.pick(simulation.groups)
      return one
        ? scale(
            simulation,
            resources.podCliqueScalingGroups as unknown as Resource,
            one,
            (one.spec.minAvailable ?? 1) + random.below(3),
          )
        : ''
    }
    case 'pause':
      return strategy({ paused: !set.spec.updateStrategy?.paused })
    case 'partition':
      return strategy({ partition: random.below(3) })
    case 'budget':
      return strategy({ maxUnavailable: 1 + random.below(2) })
    case 'surge': {
      const maxSurge = random.below(3)
      return strategy({ maxSurge, maxUnavailable: maxSurge ? random.below(2) : 1 })
    }
    case 'resume':
      return strategy({ type: 'RollingRecreate', paused: false, partition: 0 })
    case 'delete clique': {
      const one = random.pick(simulation.cliques)
      if (one) api.remove(resources.podCliques as unknown as Resource, one as Stored<PodClique>)
      return one?.metadata.name ?? ''
    }
  }
}

function editCliques(
  { api, set }: Simulation,
  edit: (cliques: CliqueTemplate[]) => CliqueTemplate[],
): string {
  const cliques = edit(structuredClone(set.spec.template.cliques))
  api.modify(resources.podCliqueSets, setName, { spec: { template: { ...set.spec.template, cliques } } })
  return cliques.map(({ name, spec }) => `${name}=${spec.podSpec.containers[0]!.image}`).join(' ')
}

function scale(
  { api }: Simulation,
  resource: Resource,
  { metadata }: { metadata: PodCliqueScalingGroup['metadata'] },
  replicas: number,
): string {
  api.modify(resource, metadata.name, { spec: { replicas } })
  return `${metadata.name} to ${replicas}`
}
