// SPDX-License-Identifier: Apache-2.0

// Compares the output of `grove render` with the live objects. Rendering does not know live sizes, so sizes that were
// scaled are first written into the template.
import { defaultConfiguration, defaultScheduler, enabledSchedulers, podTemplateHash } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import {
  type RenderContext,
  type RenderedObject,
  render,
  type StoredSet,
  schedulerBackends,
} from '@grove/operator'
import { waiterImage } from '../harness.ts'
import type { Model } from './model.ts'
import type { Observed } from './observed.ts'

const configuration = defaultConfiguration()
const context: RenderContext = {
  backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
  configuration,
  waiterImage,
  topologyBindings: [],
  claimTemplates: [],
  podTemplateHashes: set =>
    Object.fromEntries(
      set.spec.template.cliques.map(clique => [clique.name, podTemplateHash(set.spec.template, clique)]),
    ),
}

/** Returns every expected object, with the sizes of the model. */
export function expectedObjects(seen: Observed, model: Model): RenderedObject[] {
  const replicas = Array.from({ length: seen.set.spec.replicas ?? 0 }, (_, replica) => replica)
  return [
    ...render(sized(seen, model, 0, 0), context),
    ...replicas.flatMap(replica => {
      // The objects of a replica are the difference between rendering with and without it.
      const others = new Set(render(sized(seen, model, replica, replica), context).map(identityOf))
      return render(sized(seen, model, replica, replica + 1), context).filter(
        object => !others.has(identityOf(object)),
      )
    }),
  ]
}

function sized(seen: Observed, model: Model, replica: number, replicas: number): StoredSet {
  const set = structuredClone(seen.set)
  const live = sizes(seen)
  const size = (name: string, templateSize: number) => {
    const child = `${model.name}-${replica}-${name}`
    return model.sizeOf(child, templateSize, live.get(child))
  }
  set.spec.replicas = replicas
  const { cliques, podCliqueScalingGroups = [] } = set.spec.template
  const members = new Set(podCliqueScalingGroups.flatMap(({ cliqueNames }) => cliqueNames))
  for (const { name, spec } of cliques) if (!members.has(name)) spec.replicas = size(name, spec.replicas)
  for (const group of podCliqueScalingGroups) group.replicas = size(group.name, group.replicas ?? 1)
  return set
}

/** Returns the sizes of live cliques and scaling groups by name. */
export function sizes({ cliques, groups }: Observed): Map<string, number> {
  return new Map([...cliques, ...groups].map(({ metadata, spec }) => [metadata.name, spec.replicas]))
}

export function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata?.name}`
}
