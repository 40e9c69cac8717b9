// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const pods: Rejections = {
  'gate without a name': [
    { schedulingGates: [{ name: '' }] },
    "[spec.schedulingGates[0]: Invalid value: \"\": name part must be non-empty, spec.schedulingGates[0]: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]",
  ],
  'invalid gate name': [
    { schedulingGates: [{ name: 'a b' }] },
    "spec.schedulingGates[0]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  'duplicate gate': [
    { schedulingGates: [{ name: 'a' }, { name: 'a' }] },
    'spec.schedulingGates[1]: Duplicate value: "a"',
  ],
  'gate and nodeName': [
    { schedulingGates: [{ name: 'a' }], nodeName: 'n' },
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ],
}

const budgets: Rejections = {
  'minAvailable and maxUnavailable': [
    { minAvailable: 1, maxUnavailable: 1 },
    'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"x"}},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
  ],
  'negative minAvailable': [
    { minAvailable: -1 },
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
  ],
  'minAvailable above 100%': [
    { minAvailable: '110%' },
    'spec.minAvailable: Invalid value: "110%": must not be greater than 100%',
  ],
  'maxUnavailable that is not a percentage': [
    { maxUnavailable: 'x' },
    "spec.maxUnavailable: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
  ],
  'selector expression without values': [
    { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  'unknown policy': [
    { unhealthyPodEvictionPolicy: 'Foo' },
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "Foo": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ],
}

const leases: Rejections = {
  'leaseDurationSeconds 0': [
    { leaseDurationSeconds: 0 },
    'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
  ],
  'negative leaseTransitions': [
    { leaseTransitions: -1 },
    'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  ],
  'renewTime without fractional seconds': [
    { renewTime: '2026-01-01T00:00:00Z' },
    'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  'renewTime with one fractional digit': [
    { renewTime: '2026-01-01T00:00:00.1Z' },
    'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00.1Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".1Z" as ".000000"',
  ],
}

const nodes: Rejections = {
  'invalid pod CIDR': [
    { podCIDR: 'x' },
    'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  'two pod CIDRs of one family': [
    { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] },
    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
  ],
}

const priorityClasses: Rejections = {
  'value above the limit for users': [
    { value: 1000000001 },
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ],
  'unknown policy': [
    { value: 1, preemptionPolicy: 'Foo' },
    'preemptionPolicy: Unsupported value: "Foo": supported values: "PreemptLowerPriority", "Never"',
  ],
  'reserved name': [
    { metadata: { name: 'system-foo' }, value: 1 },
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-foo is not a known system priority class",
  ],
  'changed value of a system class': [
    { metadata: { name: 'system-node-critical' }, value: 5 },
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
  ],
}

const withSpec = (right: object) => (change: object) => ({
  metadata: { name: 'x' },
  spec: { ...right, ...change },
})

export const rejectedPolicies = chapter('rejected gates, budgets, leases, nodes and priorities', {
  'scheduling gates': rejected(
    { resource: 'v1/pods', object: withSpec({ containers: [{ name: 'main', image: 'i' }] }) },
    pods,
  ),
  'disruption budgets': rejected(
    {
      resource: 'policy/v1/poddisruptionbudgets',
      object: withSpec({ selector: { matchLabels: { app: 'x' } } }),
    },
    budgets,
  ),
  leases: rejected({ resource: 'coordination.k8s.io/v1/leases', object: withSpec({}) }, leases),
  'pod CIDRs of nodes': rejected({ resource: 'v1/nodes', isClusterWide: true, object: withSpec({}) }, nodes),
  'priority classes': rejected(
    {
      resource: 'scheduling.k8s.io/v1/priorityclasses',
      isClusterWide: true,
      object: change => ({ metadata: { name: 'x' }, ...change }),
    },
    priorityClasses,
  ),
})
