// SPDX-License-Identifier: Apache-2.0

// Native gangs of Kubernetes 1.37 for the stock kube-scheduler: a gang is a CompositePodGroup, a clique is a
// PodGroup, and a set of cliques with a topology constraint is a CompositePodGroup between them. A Workload holds one
// template for each clique; replicas of a scaling group share it.
import { type PodGang, type PodGangTopologyConstraint, scheduler } from '@grove/api'
import type { PodGangInstance } from '../layout/layout.ts'
import { controlledBy } from '../layout/owner.ts'
import type { StoredGang } from '../layout/stored.ts'
import { GangMappingError, type SchedulerBackend, type SchedulerObject } from './backend.ts'

type Group = PodGang['spec']['podgroups'][number]

const workloadVersion = 'scheduling.k8s.io/v1beta1'
const compositeVersion = 'scheduling.k8s.io/v1alpha3'
/** Names of templates are unique in a Workload: cliques have the prefix `c-`, group replicas `g-`. */
const gangTemplate = 'gang'

export const kubernetesScheduler: SchedulerBackend = {
  name: scheduler.kubernetes,
  podSchedulerName: scheduler.default,
  topologyAware: true,
  gatesPods: true,

  preparePod: (pod, { clique }) => ({
    ...pod,
    spec: { ...pod.spec!, schedulingGroup: { podGroupName: clique } },
  }),

  objectsFor: (gang, { instance }) => nativeObjects(gang, instance),

  // A new value applies when the gang is recreated.
  immutableInSpec: [
    'priorityClassName',
    'schedulingConstraints',
    'workloadRef',
    'parentCompositePodGroupName',
    'compositePodGroupTemplates',
  ],
}

function nativeObjects(gang: StoredGang, instance: PodGangInstance): SchedulerObject[] {
  const { spec } = gang
  const configs = (spec.topologyConstraintGroupConfigs ?? []).filter(
    ({ podGroupNames }) => podGroupNames.length > 0,
  )
  const configOf = new Map(
    configs.flatMap(config => config.podGroupNames.map(name => [name, config] as const)),
  )
  const direct = spec.podgroups.filter(({ name }) => !configOf.has(name))
  const templates = new Map(instance.cliques.map(({ name, template }) => [name, template.name]))
  const cliqueOf = ({ name }: Group) => `c-${templates.get(name) ?? name}`
  const compositeName = (config: string) => `${gang.metadata.name}.${config}`
  const priority = spec.priorityClassName ? { priorityClassName: spec.priorityClassName } : {}
  const policy = {
    gang: { gang: { minGroupCount: direct.length + configs.length } },
    config: (groups: readonly string[]) => ({ gang: { minGroupCount: groups.length } }),
    group: ({ minReplicas }: Group) => ({ gang: { minCount: Math.max(1, minReplicas) } }),
  }
  const object = (
    apiVersion: string,
    kind: string,
    name: string,
    spec: SchedulerObject['spec'] & object,
  ): SchedulerObject => ({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: gang.metadata.namespace,
      labels: { ...gang.metadata.labels },
      ownerReferences: controlledBy(gang),
    },
    spec,
  })
  const groupTemplates = (groups: readonly Group[]) => ({
    podGroupTemplates: distinct(
      groups.map(group => ({
        name: cliqueOf(group),
        schedulingPolicy: policy.group(group),
        ...topology(group.topologyConstraint, gang),
      })),
    ),
  })
  const groupsNamed = (names: readonly string[]) => spec.podgroups.filter(({ name }) => names.includes(name))
  const configTemplates = distinct(
    configs.map(({ podGroupNames, topologyConstraint }) => {
      const groups = groupsNamed(podGroupNames)
      return {
        name: configTemplate(groups.map(cliqueOf)),
        schedulingPolicy: policy.config(podGroupNames),
        ...topology(topologyConstraint, gang),
        ...groupTemplates(groups),
      }
    }),
  )
  const workloadRef = (templateName: string) => ({
    workloadRef: { workloadName: gang.metadata.name, templateName },
  })
  return [
    object(workloadVersion, 'Workload', gang.metadata.name, {
      compositePodGroupTemplates: [
        {
          name: gangTemplate,
          schedulingPolicy: policy.gang,
          ...topology(spec.topologyConstraint, gang),
          ...(direct.length > 0 && groupTemplates(direct)),
          ...(configTemplates.length > 0 && { compositePodGroupTemplates: configTemplates }),
        },
      ],
    }),
    object(compositeVersion, 'CompositePodGroup', gang.metadata.name, {
      ...workloadRef(gangTemplate),
      schedulingPolicy: policy.gang,
      ...topology(spec.topologyConstraint, gang),
      ...priority,
    }),
    ...configs.map(({ name, podGroupNames, topologyConstraint }) =>
      object(compositeVersion, 'CompositePodGroup', compositeName(name), {
        parentCompositePodGroupName: gang.metadata.name,
        ...workloadRef(configTemplate(groupsNamed(podGroupNames).map(cliqueOf))),
        schedulingPolicy: policy.config(podGroupNames),
        ...topology(topologyConstraint, gang),
        ...priority,
      }),
    ),
    ...spec.podgroups.map(group => {
      const config = configOf.get(group.name)
      return object(workloadVersion, 'PodGroup', group.name, {
        parentCompositePodGroupName: config ? compositeName(config.name) : gang.metadata.name,
        ...workloadRef(cliqueOf(group)),
        schedulingPolicy: policy.group(group),
        ...topology(group.topologyConstraint, gang),
        ...priority,
      })
    }),
  ]
}

/** Admission rejects preferred levels. A set that was admitted for another scheduler may have one. */
function topology(of: PodGangTopologyConstraint | undefined, gang: StoredGang): object {
  const { required, preferred } = of?.packConstraint ?? {}
  if (preferred)
    throw new GangMappingError(
      `PodGang ${gang.metadata.namespace}/${gang.metadata.name} prefers topology level ${preferred}, and scheduler ${scheduler.kubernetes} supports required levels only; remove pack.preferred`,
    )
  return required ? { schedulingConstraints: { topology: [{ key: required }] } } : {}
}

/** Group replicas have the same cliques, and therefore share a template. A clique is in one scaling group at most. */
function configTemplate(cliques: readonly string[]): string {
  return `g-${cliques[0]?.slice(2) ?? ''}`
}

/** Returns the first of several templates with one name. */
function distinct<T extends { readonly name: string }>(templates: readonly T[]): T[] {
  return [...new Map(templates.toReversed().map(template => [template.name, template])).values()].toReversed()
}
