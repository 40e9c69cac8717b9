// SPDX-License-Identifier: Apache-2.0

// Edits of the children of a set by other clients. The operator reverts all of them.
import { label, type PodGang } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'

export interface ChildEdit {
  readonly resource: Resource<KubeObject>
  readonly isOf: (child: Stored<KubeObject>) => boolean
  merge(child: Stored<KubeObject>): { readonly metadata?: object }
}

const isMember = ({ metadata }: Stored<KubeObject>) => metadata.labels?.[label.scalingGroup] !== undefined
const isStandalone = (child: Stored<KubeObject>) => !isMember(child)

const ofAny = <T extends KubeObject>(
  resource: Resource<T>,
  merge: object,
  isOf: ChildEdit['isOf'] = () => true,
): ChildEdit => ({ resource: resource as unknown as Resource<KubeObject>, isOf, merge: () => merge })

/** Labels by which the operator finds a child. */
const ownLabels = [label.managedBy, label.partOf, label.name, label.component, label.setReplicaIndex]
const ofCliques = [...ownLabels, label.podGang]
const ofMembers = [...ofCliques, label.scalingGroup, label.scalingGroupReplicaIndex]

function relabellings<T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  keys: readonly string[],
  isOf: ChildEdit['isOf'] = () => true,
): [string, ChildEdit][] {
  return keys.flatMap(key =>
    [null, '7'].map((value): [string, ChildEdit] => [
      `${key} of a ${what}: ${value}`,
      ofAny(resource, { metadata: { labels: { [key]: value } } }, isOf),
    ]),
  )
}

const withoutLabels = { metadata: { labels: null } }

export const childEdits: Readonly<Record<string, ChildEdit>> = {
  ...Object.fromEntries([
    ...relabellings('clique', resources.podCliques, [...ofCliques, label.podTemplateHash], isStandalone),
    ...relabellings('member', resources.podCliques, ofMembers, isMember),
    ...relabellings('group', resources.podCliqueScalingGroups, ownLabels),
  ]),
  'image of a clique': ofAny(
    resources.podCliques,
    { spec: { podSpec: { containers: [{ name: 'main', image: 'registry.example/edited:1' }] } } },
    isStandalone,
  ),
  'minimum of a clique': ofAny(
    resources.podCliques,
    { spec: { minAvailable: 2, roleName: 'edited', startsAfter: ['edited'] } },
    isStandalone,
  ),
  'minimum of a group': ofAny(resources.podCliqueScalingGroups, { spec: { minAvailable: 2 } }),
  'pods of a gang': ofAny(resources.podGangs, { spec: { podgroups: [] } }),
  'minimum of a gang': {
    ...ofAny(resources.podGangs, {}),
    merge: gang => {
      const podgroups = (gang as Stored<PodGang>).spec.podgroups.map(one => ({ ...one, minReplicas: 9 }))
      return { spec: { podgroups } } as object
    },
  },
  'labels of a gang': ofAny(resources.podGangs, withoutLabels),
  'selector of a Service': ofAny(resources.services, { spec: { selector: { edited: 'yes' } } }),
  'labels of a Service': ofAny(resources.services, withoutLabels),
  'maximum of an autoscaler': ofAny(resources.autoscalers, { spec: { maxReplicas: 100 } }),
  'labels of an autoscaler': ofAny(resources.autoscalers, withoutLabels),
  'rules of a Role': ofAny(resources.roles, { rules: [] }),
  'labels of a Role': ofAny(resources.roles, withoutLabels),
  'subjects of a RoleBinding': ofAny(resources.roleBindings, { subjects: [] }),
  'automount of a ServiceAccount': ofAny(resources.serviceAccounts, { automountServiceAccountToken: false }),
}
