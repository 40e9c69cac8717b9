// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const services: Rejections = {
  'no address with a node port': [
    { clusterIP: 'None', type: 'NodePort' },
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
  ],
  'an address that is none': [
    { clusterIP: 'x' },
    'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  'an address of others': [
    { clusterIP: '1.2.3.4' },
    'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  'the address of the network': [
    { clusterIP: '10.96.0.0' },
    'spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  'two first addresses': [
    { clusterIP: '10.96.77.88', clusterIPs: ['10.96.77.99'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.99"]: first value must match `clusterIP`',
  ],
  'addresses without the first': [
    { clusterIPs: ['10.96.77.89'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.89"]: must be empty when `clusterIP` is not specified',
  ],
  'none and one': [
    { clusterIP: 'None', clusterIPs: ['None', '10.96.77.1'] },
    'spec.clusterIPs: Invalid value: ["None","10.96.77.1"]: \'None\' must be the first and only value',
  ],
  'two of a family': [
    { clusterIP: '10.96.77.88', clusterIPs: ['10.96.77.88', '10.96.77.90'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.88","10.96.77.90"]: may specify no more than one IP for each IP family',
  ],
  'an address of the other family': [
    { clusterIP: '::1' },
    'spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster',
  ],
  'two families': [
    { ipFamilyPolicy: 'RequireDualStack' },
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
  'an unknown policy of families': [
    { ipFamilyPolicy: 'Foo' },
    'spec.ipFamilyPolicy: Unsupported value: "Foo": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
  ],
  'the other family': [
    { ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  'two families of a single one': [
    { ipFamilies: ['IPv4', 'IPv6'] },
    "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
  ],
  'one family twice': [{ ipFamilies: ['IPv4', 'IPv4'] }, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  'an unknown family': [
    { ipFamilies: ['Foo'] },
    'spec.ipFamilies[0]: Unsupported value: "Foo": supported values: "IPv4", "IPv6"',
  ],
  'no address of the other family': [
    { clusterIP: 'None', ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  'an unknown type': [
    { type: 'Foo' },
    'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  'no name of its own': [{ type: 'ExternalName' }, 'spec.externalName: Required value'],
  'a name that is none': [
    { type: 'ExternalName', externalName: 'A_b' },
    "spec.externalName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  'a name and an address': [
    { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.96.1.1' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
  ],
  'a name and a family': [
    { type: 'ExternalName', externalName: 'a.b', ipFamilies: ['IPv4'] },
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
  ],
  'an unknown affinity': [
    { sessionAffinity: 'Foo' },
    'spec.sessionAffinity: Unsupported value: "Foo": supported values: "ClientIP", "None"',
  ],
  'an affinity of no time': [
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
  ],
  'a selector that is none': [
    { selector: { a: 'c d' } },
    "spec.selector: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  'a port that is none': [
    { ports: [{ port: 70000 }] },
    '[spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive]',
  ],
  'a target that is no name': [
    { ports: [{ port: 1, targetPort: 'A' }] },
    '[spec.ports[0].targetPort: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), spec.ports[0].targetPort: Invalid value: "A": must contain at least one letter (a-z)]',
  ],
  'a long target': [
    { ports: [{ port: 1, targetPort: 'toolongnameforaport' }] },
    'spec.ports[0].targetPort: Invalid value: "toolongnameforaport": must be no more than 15 characters',
  ],
  'one port twice': [
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 1, name: 'b' },
      ],
    },
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
  ],
  'one name twice': [
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 2, name: 'a' },
      ],
    },
    'spec.ports[1].name: Duplicate value: "a"',
  ],
  'an unknown protocol': [
    { ports: [{ port: 1, protocol: 'X' }] },
    'spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  'a node port without its type': [
    { ports: [{ port: 1, nodePort: 30001 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  'an outer policy inside': [
    { externalTrafficPolicy: 'Local' },
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  'an unknown inner policy': [
    { internalTrafficPolicy: 'Foo' },
    'spec.internalTrafficPolicy: Unsupported value: "Foo": supported values: "Cluster", "Local"',
  ],
  'an outer address that is none': [
    { externalIPs: ['x'] },
    'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  'a loop as an outer address': [
    { externalIPs: ['127.0.0.1'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
  'a class without a balancer': [
    { loadBalancerClass: 'a/b' },
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  'ports of no balancer': [
    { allocateLoadBalancerNodePorts: true },
    "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  'an unknown distribution': [
    { trafficDistribution: 'Foo' },
    'spec.trafficDistribution: Unsupported value: "Foo": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
  ],
}

const right = { selector: { app: 'a' }, ports: [{ port: 80 }] }

export const rejectedServices = chapter('rejected services', {
  'addresses, families, ports and policies that cannot be': rejected(
    {
      resource: 'v1/services',
      object: change => ({ metadata: { name: 'x' }, spec: { ...right, ...change } }),
    },
    services,
  ),
})
