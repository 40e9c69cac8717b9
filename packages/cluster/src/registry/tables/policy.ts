// SPDX-License-Identifier: Apache-2.0

import type { WithMetadata } from '../../object.ts'
import type {
  AdmissionregistrationMutatingWebhookConfiguration,
  CoordinationLease,
  DiscoveryEndpointSlice,
  NetworkingIngress,
  PolicyPodDisruptionBudget,
  RbacRoleBinding,
  ResourceResourceClaim,
  SchedulingPriorityClass,
  StorageStorageClass,
} from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, integerColumn, nameColumn, wide } from './column.ts'

export const disruptionBudgetColumns: readonly Column<PolicyPodDisruptionBudget>[] = [
  nameColumn,
  column('Min Available', object => String(object.spec?.minAvailable ?? 'N/A')),
  column('Max Unavailable', object => String(object.spec?.maxUnavailable ?? 'N/A')),
  integerColumn('Allowed Disruptions', object => object.status?.disruptionsAllowed),
  ageColumn,
]

export const leaseColumns: readonly Column<CoordinationLease>[] = [
  nameColumn,
  column('Holder', object => object.spec?.holderIdentity ?? ''),
  ageColumn,
]

export const priorityClassColumns: readonly Column<SchedulingPriorityClass>[] = [
  nameColumn,
  integerColumn('Value', object => object.value),
  {
    name: 'Global-Default',
    type: 'boolean',
    description: '',
    cell: object => object.globalDefault ?? false,
  },
  ageColumn,
  column('PreemptionPolicy', object => object.preemptionPolicy ?? ''),
]

export const endpointSliceColumns: readonly Column<DiscoveryEndpointSlice>[] = [
  nameColumn,
  column('AddressType', object => object.addressType),
  column('Ports', object => {
    const ports = object.ports
    return ports?.length
      ? shortList(ports.map(({ port }) => (port === undefined ? '*' : String(port))))
      : '<unset>'
  }),
  column('Endpoints', object => {
    const addresses = (object.endpoints ?? []).flatMap(endpoint => endpoint.addresses ?? [])
    return addresses.length > 0 ? shortList(addresses) : '<unset>'
  }),
  ageColumn,
]

export const ingressColumns: readonly Column<NetworkingIngress>[] = [
  nameColumn,
  column('Class', object => object.spec?.ingressClassName ?? '<none>'),
  column('Hosts', object => {
    const hosts = (object.spec?.rules ?? []).flatMap(({ host }) => host || [])
    return hosts.length > 0 ? shortList(hosts) : '*'
  }),
  column('Address', object =>
    (object.status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').join(','),
  ),
  column('Ports', object => (object.spec?.tls?.length ? '80, 443' : '80')),
  ageColumn,
]

const listLimit = 3

function shortList(items: readonly string[]): string {
  const more = items.length - listLimit
  return items.slice(0, listLimit).join(',') + (more > 0 ? ` + ${more} more...` : '')
}

const subjects = (object: RbacRoleBinding, kind: string) =>
  (object.subjects ?? [])
    .filter(subject => subject.kind === kind)
    .map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ')

export const roleBindingColumns: readonly Column<RbacRoleBinding>[] = [
  nameColumn,
  column('Role', object => `${object.roleRef?.kind}/${object.roleRef?.name}`),
  ageColumn,
  wide(column('Users', object => subjects(object, 'User'))),
  wide(column('Groups', object => subjects(object, 'Group'))),
  wide(column('ServiceAccounts', object => subjects(object, 'ServiceAccount'))),
]

export const createdAtColumns: readonly Column<WithMetadata>[] = [
  nameColumn,
  { name: 'Created At', type: 'date', description: '', cell: object => object.metadata.creationTimestamp },
]

export const webhookColumns: readonly Column<AdmissionregistrationMutatingWebhookConfiguration>[] = [
  nameColumn,
  integerColumn('Webhooks', object => object.webhooks?.length),
  ageColumn,
]

export const storageClassColumns: readonly Column<StorageStorageClass>[] = [
  nameColumn,
  column('Provisioner', object => object.provisioner),
  column('ReclaimPolicy', object => object.reclaimPolicy ?? 'Delete'),
  column('VolumeBindingMode', object => object.volumeBindingMode ?? '<unset>'),
  {
    name: 'AllowVolumeExpansion',
    type: 'string',
    description: '',
    cell: object => object.allowVolumeExpansion ?? false,
  },
  ageColumn,
]

export const resourceClaimColumns: readonly Column<ResourceResourceClaim>[] = [
  nameColumn,
  column('State', object => {
    const { status } = object
    const parts = [
      ...(object.metadata.deletionTimestamp ? ['deleted'] : []),
      ...(status?.allocation ? ['allocated'] : []),
      ...(status?.reservedFor?.length ? ['reserved'] : []),
    ]
    return parts.join(',') || 'pending'
  }),
  ageColumn,
]

export const definitionColumns: readonly Column<WithMetadata>[] = createdAtColumns
