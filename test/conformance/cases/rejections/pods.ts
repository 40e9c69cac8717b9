// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const scheduling: Rejections = {
  'invalid key of the node selector': [
    { nodeSelector: { 'a b': 'c' } },
    "spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  'invalid value of the node selector': [
    { nodeSelector: { a: 'c d' } },
    "spec.nodeSelector: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  'invalid host name': [
    { hostname: 'A.B' },
    "spec.hostname: Invalid value: \"A.B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  'invalid subdomain': [
    { subdomain: 'A.B' },
    "spec.subdomain: Invalid value: \"A.B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  'invalid node name': [
    { nodeName: 'no such' },
    "spec.nodeName: Invalid value: \"no such\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  'maxSkew 0': [
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }] },
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
  ],
  'spread without a key': [
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: '', whenUnsatisfiable: 'DoNotSchedule' }] },
    'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
  ],
  'unknown spread action': [
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'X' }] },
    'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
  ],
  'empty spread constraint': [
    { topologySpreadConstraints: [{}] },
    '[spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero, spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty, spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"]',
  ],
  'equal spread constraints': [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}"',
  ],
  'minDomains 0': [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule', minDomains: 0 },
      ],
    },
    'spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero',
  ],
  'minDomains of a preferred spread': [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 },
      ],
    },
    'spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
  ],
  'unknown toleration operator': [
    { tolerations: [{ key: 'a', operator: 'Foo' }] },
    'spec.tolerations[0].operator: Unsupported value: "Foo": supported values: "Equal", "Exists"',
  ],
  'unknown operator without a key': [
    { tolerations: [{ operator: 'Foo' }] },
    '[spec.tolerations[0].operator: Invalid value: "Foo": operator must be Exists when `key` is empty, which means "match all values and all keys", spec.tolerations[0].operator: Unsupported value: "Foo": supported values: "Equal", "Exists"]',
  ],
  'disabled toleration operator': [
    { tolerations: [{ key: 'a', operator: 'Gt', value: '3' }] },
    'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
  ],
  'unknown taint effect': [
    { tolerations: [{ key: 'a', operator: 'Exists', effect: 'Foo' }] },
    'spec.tolerations[0].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  'Exists with a value': [
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] },
    'spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\'',
  ],
  'invalid toleration key': [
    { tolerations: [{ key: 'a b', operator: 'Exists' }] },
    "spec.tolerations[0].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  'invalid toleration value': [
    { tolerations: [{ key: 'a', value: 'a b' }] },
    "spec.tolerations[0].operator: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  'tolerationSeconds without an effect': [
    { tolerations: [{ key: 'a', tolerationSeconds: 3 }] },
    'spec.tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set',
  ],
  'unknown DNS policy': [
    { dnsPolicy: 'Foo' },
    'spec.dnsPolicy: Unsupported value: "Foo": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
  ],
  'many fields': [
    {
      nodeSelector: { 'a b': 'c' },
      hostname: 'A',
      tolerations: [{ key: 'a b' }],
      nodeName: 'X',
      restartPolicy: 'Y',
      dnsPolicy: 'Z',
      topologySpreadConstraints: [{}],
      activeDeadlineSeconds: -1,
      schedulingGates: [{ name: 'a b' }],
      subdomain: 'A',
    },
    "[spec.restartPolicy: Unsupported value: \"Y\": supported values: \"Always\", \"OnFailure\", \"Never\", spec.dnsPolicy: Unsupported value: \"Z\": supported values: \"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\", spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.schedulingGates[0]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero, spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty, spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\", spec.nodeName: Invalid value: \"X\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive, spec.hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.subdomain: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.tolerations[0].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared]",
  ],
}

const containers: Rejections = {
  'long port name': [
    { ports: [{ containerPort: 80, name: 'TOO_LONG_NAME_HERE' }] },
    '[spec.containers[0].ports[0].name: Invalid value: "TOO_LONG_NAME_HERE": must be no more than 15 characters, spec.containers[0].ports[0].name: Invalid value: "TOO_LONG_NAME_HERE": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), spec.containers[0].ports[0].name: Invalid value: "TOO_LONG_NAME_HERE": must contain at least one letter (a-z)]',
  ],
  'port name with upper case': [
    { ports: [{ containerPort: 80, name: 'Http' }] },
    'spec.containers[0].ports[0].name: Invalid value: "Http": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ],
  'consecutive hyphens': [
    { ports: [{ containerPort: 80, name: 'a--b' }] },
    'spec.containers[0].ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens',
  ],
  'hyphen at the start': [
    { ports: [{ containerPort: 80, name: '-a' }] },
    'spec.containers[0].ports[0].name: Invalid value: "-a": must not begin or end with a hyphen',
  ],
  'port name without a letter': [
    { ports: [{ containerPort: 80, name: '123' }] },
    'spec.containers[0].ports[0].name: Invalid value: "123": must contain at least one letter (a-z)',
  ],
  'duplicate port name': [
    {
      ports: [
        { containerPort: 80, name: 'a' },
        { containerPort: 81, name: 'a' },
      ],
    },
    'spec.containers[0].ports[1].name: Duplicate value: "a"',
  ],
  'unknown protocol': [
    { ports: [{ containerPort: 80, protocol: 'X' }] },
    'spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  'invalid name and number': [
    { ports: [{ containerPort: 70000, name: 'Aa' }] },
    '[spec.containers[0].ports[0].name: Invalid value: "Aa": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive]',
  ],
  'host port out of range': [
    { ports: [{ containerPort: 80, hostPort: 70000 }] },
    'spec.containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ],
  'invalid variable name': [
    { env: [{ name: 'a=b', value: 'x' }] },
    'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
  ],
  'variable with value and source': [
    { env: [{ name: 'a', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
    'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
  ],
  'variable with an empty source': [
    { env: [{ name: 'a', valueFrom: {} }] },
    'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
  ],
  'part of an extended resource': [
    { resources: { limits: { 'example.com/gpu': '0.5' } } },
    '[spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer, spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer]',
  ],
  'negative resource': [
    { resources: { requests: { cpu: '-1' } } },
    'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  'extended resource without a domain': [
    { resources: { requests: { gpu: '1' } } },
    '[spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified, spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers]',
  ],
  'resource with an invalid name': [
    { resources: { requests: { 'example.com/g pu': '1' } } },
    "[spec.containers[0].resources.requests[example.com/g pu]: Invalid value: \"example.com/g pu\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.containers[0].resources.requests[example.com/g pu]: Invalid value: \"example.com/g pu\": doesn't follow extended resource name standard, spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources]",
  ],
  'resource of a quota': [
    { resources: { requests: { 'requests.example.com/gpu': '1' } } },
    '[spec.containers[0].resources.requests[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn\'t follow extended resource name standard, spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources]',
  ],
  'request of an extended resource without a limit': [
    { resources: { requests: { 'example.com/gpu': '1' } } },
    'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
  ],
  'limit of an extended resource above its request': [
    { resources: { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } } },
    'spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
  ],
  'request above the limit': [
    { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
    'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  ],
  'repeated mount path': [
    {
      volumeMounts: [
        { name: 'v', mountPath: '/x' },
        { name: 'v', mountPath: '/x' },
      ],
    },
    'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
  ],
}

const deployments: Rejections = {
  'Recreate with rollingUpdate': [
    { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  'unknown strategy': [
    { strategy: { type: 'Foo' } },
    'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
  ],
  'neither surge nor unavailable': [
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
  ],
  'negative surge': [
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: -1 } } },
    'spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0',
  ],
  'surge that is not a percentage': [
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'x' } } },
    "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
  ],
  'maxUnavailable above 100%': [
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '120%' } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "120%": must not be greater than 100%',
  ],
  'negative history': [
    { revisionHistoryLimit: -1 },
    'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ],
  'negative minReadySeconds': [
    { minReadySeconds: -1 },
    'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
  ],
  'deadline before ready': [
    { minReadySeconds: 10, progressDeadlineSeconds: 10 },
    'spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds',
  ],
}

const restartPolicy: Rejections = {
  'pods that end': [
    {},
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
}

const labels = { app: 'x' }
const container = { name: 'main', image: 'i' }
const template = { metadata: { labels }, spec: { containers: [container] } }

const workload = (spec: object) => (change: object) => ({
  metadata: { name: 'x' },
  spec: { selector: { matchLabels: labels }, template, ...spec, ...change },
})
const ending = workload({ template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } })

export const rejectedPods = chapter('rejected pods and workloads', {
  'placement and names of pods': rejected(
    {
      resource: 'v1/pods',
      object: change => ({ metadata: { name: 'x' }, spec: { containers: [container], ...change } }),
    },
    scheduling,
  ),
  containers: rejected(
    {
      resource: 'v1/pods',
      object: change => ({
        metadata: { name: 'x' },
        spec: { containers: [{ ...container, ...change }], volumes: [{ name: 'v', emptyDir: {} }] },
      }),
    },
    containers,
  ),
  deployments: rejected({ resource: 'apps/v1/deployments', object: workload({}) }, deployments),
  'pods of deployments that end': rejected(
    { resource: 'apps/v1/deployments', object: ending },
    restartPolicy,
  ),
  'pods of replica sets that end': rejected(
    { resource: 'apps/v1/replicasets', object: ending },
    restartPolicy,
  ),
  'pods of daemon sets that end': rejected({ resource: 'apps/v1/daemonsets', object: ending }, restartPolicy),
  'pods of stateful sets that end': rejected(
    { resource: 'apps/v1/statefulsets', object: ending },
    restartPolicy,
  ),
})
