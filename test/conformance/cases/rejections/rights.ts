// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const roles: Rejections = {
  'rule without verbs': [
    { rules: [{ apiGroups: [''], resources: ['pods'] }] },
    'rules[0].verbs: Required value',
  ],
  'rule without API groups': [
    { rules: [{ verbs: ['get'], resources: ['pods'] }] },
    'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
  ],
  'rule without resources': [
    { rules: [{ verbs: ['get'], apiGroups: [''] }] },
    'rules[0].resources: Required value: resource rules must supply at least one resource',
  ],
  'URLs in a namespace': [
    { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
  ],
  'empty rule': [
    { rules: [{}] },
    '[rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource, rules[0].verbs: Required value]',
  ],
}

const clusterRoles: Rejections = {
  'URLs and resources': [
    { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['x'] }] },
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
  ],
}

const bindings: Rejections = {
  'unknown kind of role': [
    { roleRef: { kind: 'X', name: 'a', apiGroup: 'rbac.authorization.k8s.io' } },
    'roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"',
  ],
  'API group of the role': [
    { roleRef: { kind: 'Role', name: 'a', apiGroup: 'x' } },
    'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
  ],
  'role without a name': [
    { roleRef: { kind: 'Role', name: '', apiGroup: 'rbac.authorization.k8s.io' } },
    'roleRef.name: Required value',
  ],
  'invalid role name': [
    { roleRef: { kind: 'Role', name: 'a/b', apiGroup: 'rbac.authorization.k8s.io' } },
    'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  'unknown kind of subject': [
    { subjects: [{ kind: 'X', name: 'a' }] },
    'subjects[0].kind: Unsupported value: "X": supported values: "ServiceAccount", "User", "Group"',
  ],
  'subject without a name': [{ subjects: [{ kind: 'User', name: '' }] }, 'subjects[0].name: Required value'],
  'invalid service account': [
    { subjects: [{ kind: 'ServiceAccount', name: 'a_b', namespace: 'x', apiGroup: 'y' }] },
    "[subjects[0].name: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), subjects[0].apiGroup: Unsupported value: \"y\": supported values: \"\"]",
  ],
  'API group of a user': [
    { subjects: [{ kind: 'User', name: 'a', apiGroup: 'y' }] },
    'subjects[0].apiGroup: Unsupported value: "y": supported values: "rbac.authorization.k8s.io"',
  ],
}

const clusterBindings: Rejections = {
  'cluster-wide binding of a role': [
    {},
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
  ],
}

const networkPolicies: Rejections = {
  'unknown policy type': [
    { policyTypes: ['X'] },
    'spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"',
  ],
}

const ingresses: Rejections = {
  'neither backend nor rules': [
    {},
    'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified',
  ],
}

const definitions: Rejections = {
  'no versions': [
    { versions: null },
    '[spec.versions: Invalid value: null: must have exactly one version marked as storage version, status.storedVersions: Invalid value: null: must have at least one stored version]',
  ],
}

const rbac = 'rbac.authorization.k8s.io'
const named = (right: object) => (change: object) => ({ metadata: { name: 'x' }, ...right, ...change })
const withSpec = (right: object) => (change: object) => named({ spec: { ...right, ...change } })({})
const roleRef = { kind: 'Role', name: 'a', apiGroup: rbac }

export const rejectedRights = chapter('rejected roles, networks and definitions', {
  roles: rejected({ resource: `${rbac}/v1/roles`, object: named({}) }, roles),
  'cluster roles': rejected(
    { resource: `${rbac}/v1/clusterroles`, isClusterWide: true, object: named({}) },
    clusterRoles,
  ),
  bindings: rejected({ resource: `${rbac}/v1/rolebindings`, object: named({ roleRef }) }, bindings),
  'cluster role bindings': rejected(
    { resource: `${rbac}/v1/clusterrolebindings`, isClusterWide: true, object: named({ roleRef }) },
    clusterBindings,
  ),
  'network policies': rejected(
    { resource: 'networking.k8s.io/v1/networkpolicies', object: withSpec({ podSelector: {} }) },
    networkPolicies,
  ),
  ingresses: rejected({ resource: 'networking.k8s.io/v1/ingresses', object: withSpec({}) }, ingresses),
  'custom resource definitions': rejected(
    {
      resource: 'apiextensions.k8s.io/v1/customresourcedefinitions',
      isClusterWide: true,
      object: change => ({
        metadata: { name: 'ws.a.b' },
        spec: { group: 'a.b', names: { plural: 'ws', kind: 'W' }, scope: 'Namespaced', ...change },
      }),
    },
    definitions,
  ),
})
