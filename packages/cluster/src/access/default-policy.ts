// SPDX-License-Identifier: Apache-2.0

import { type KubeObject, objectKey } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { RbacPolicyRule } from '../schema/types.generated.ts'
import { type ServerContext, timestamp } from '../server/context.ts'
import { stampNewObject } from '../server/metadata.ts'
import policy from './default-policy.json' with { type: 'json' }

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

/** Creates the default roles and bindings of Kubernetes. Existing ones stay unchanged. */
export function createDefaultPolicy(context: ServerContext): void {
  for (const role of policy.clusterRoles) createMissing(context, storages.clusterRoles, clusterRole(role))
  for (const binding of policy.clusterRoleBindings)
    createMissing(context, storages.clusterRoleBindings, clusterRoleBinding(binding))
}

interface DefaultRole {
  readonly name: string
  /** The role that aggregates this one. */
  readonly aggregatesTo?: string
  readonly aggregates?: string
  readonly rules?: RbacPolicyRule[]
}

const aggregationLabel = (role: string) => `rbac.authorization.k8s.io/aggregate-to-${role}`

function metadata(name: string, labels: Record<string, string> = {}): KubeObject['metadata'] {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  }
}

function clusterRole({ name, aggregatesTo, aggregates, rules }: DefaultRole): KubeObject {
  return {
    kind: 'ClusterRole',
    apiVersion,
    metadata: metadata(name, aggregatesTo ? { [aggregationLabel(aggregatesTo)]: 'true' } : {}),
    rules: structuredClone(rules ?? null),
    ...(aggregates && {
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(aggregates)]: 'true' } }],
      },
    }),
  }
}

function clusterRoleBinding(binding: { name: string; role: string; groups: string[] }): KubeObject {
  return {
    kind: 'ClusterRoleBinding',
    apiVersion,
    metadata: metadata(binding.name),
    subjects: binding.groups.map(name => ({ kind: 'Group', apiGroup, name })),
    roleRef: { apiGroup, kind: 'ClusterRole', name: binding.role },
  }
}

function createMissing(context: ServerContext, storage: string, object: KubeObject): void {
  const key = objectKey(undefined, object.metadata.name!)
  if (context.store.get(storage, key)) return
  stampNewObject(object, timestamp(context.clock.now()), context.random)
  context.store.write(storage, key, object, undefined)
}
