// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../../object.ts'
import type {
  CoordinationLease,
  DiscoveryEndpointSlice,
  PolicyPodDisruptionBudget,
  RbacRoleBinding,
  ResourceResourceClaim,
  SchedulingPriorityClass,
  StorageStorageClass,
} from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, integerColumn, nameColumn, wide } from './column.ts'

const budget = (object: KubeObject) => object as unknown as PolicyPodDisruptionBudget

export const disruptionBudgetColumns: readonly Column[] = [
  nameColumn,
  column('Min Available', object => String(budget(object).spec?.minAvailable ?? 'N/A')),
  column('Max Unavailable', object => String(budget(object).spec?.maxUnavailable ?? 'N/A')),
  integerColumn('Allowed Disruptions', object => budget(object).status?.disruptionsAllowed),
  ageColumn,
]

export const leaseColumns: readonly Column[] = [
  nameColumn,
  column('Holder', object => (object as unknown as CoordinationLease).spec?.holderIdentity ?? ''),
  ageColumn,
]

const priorityClass = (object: KubeObject) => object as unknown as SchedulingPriorityClass

export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Value', object => priorityClass(object).value),
  {
    name: 'Global-Default',
    type: 'boolean',
    description: '',
    cell: object => priorityClass(object).globalDefault ?? false,
  },
  ageColumn,
  column('PreemptionPolicy', object => priorityClass(object).preemptionPolicy ?? ''),
]

const slice = (object: KubeObject) => object as unknown as DiscoveryEndpointSlice

export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  column('AddressType', object => slice(object).addressType),
  column('Ports', object => {
    const ports = slice(object).ports
    return ports?.length
      ? shortList(ports.map(({ port }) => (port === undefined ? '*' : String(port))))
      : '<unset>'
  }),
  column('Endpoints', object => {
    const addresses = (slice(object).endpoints ?? []).flatMap(endpoint => endpoint.addresses ?? [])
    return addresses.length > 0 ? shortList(addresses) : '<unset>'
  }),
  ageColumn,
]

const listLimit = 3

function shortList(items: readonly string[]): string {
  const more = items.length - listLimit
  return items.slice(0, listLimit).join(',') + (more > 0 ? ` + ${more} more...` : '')
}

const binding = (object: KubeObject) => object as unknown as RbacRoleBinding
const subjects = (object: KubeObject, kind: string) =>
  (binding(object).subjects ?? [])
    .filter(subject => subject.kind === kind)
    .map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ')

export const roleBindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', object => `${binding(object).roleRef?.kind}/${binding(object).roleRef?.name}`),
  ageColumn,
  wide(column('Users', object => subjects(object, 'User'))),
  wide(column('Groups', object => subjects(object, 'Group'))),
  wide(column('ServiceAccounts', object => subjects(object, 'ServiceAccount'))),
]

export const createdAtColumns: readonly Column[] = [
  nameColumn,
  { name: 'Created At', type: 'date', description: '', cell: object => object.metadata.creationTimestamp },
]

export const webhookColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Webhooks', object => (object.webhooks as unknown[] | undefined)?.length),
  ageColumn,
]

const storageClass = (object: KubeObject) => object as unknown as StorageStorageClass

export const storageClassColumns: readonly Column[] = [
  nameColumn,
  column('Provisioner', object => storageClass(object).provisioner),
  column('ReclaimPolicy', object => storageClass(object).reclaimPolicy ?? 'Delete'),
  column('VolumeBindingMode', object => storageClass(object).volumeBindingMode ?? '<unset>'),
  {
    name: 'AllowVolumeExpansion',
    type: 'string',
    description: '',
    cell: object => storageClass(object).allowVolumeExpansion ?? false,
  },
  ageColumn,
]

export const resourceClaimColumns: readonly Column[] = [
  nameColumn,
  column('State', object => {
    const { status } = object as unknown as ResourceResourceClaim
    const words = [
      ...(object.metadata.deletionTimestamp ? ['deleted'] : []),
      ...(status?.allocation ? ['allocated'] : []),
      ...(status?.reservedFor?.length ? ['reserved'] : []),
    ]
    return words.join(',') || 'pending'
  }),
  ageColumn,
]

export const definitionColumns: readonly Column[] = createdAtColumns
