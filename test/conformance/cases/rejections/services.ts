// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const services: Rejections = {
  'headless NodePort service': [
    { clusterIP: 'None', type: 'NodePort' },
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
  ],
  'invalid cluster IP': [
    { clusterIP: 'x' },
    'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  'cluster IP outside of the range': [
    { clusterIP: '1.2.3.4' },
    'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  'network address as cluster IP': [
    { clusterIP: '10.96.0.0' },
    'spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  'clusterIP differs from clusterIPs': [
    { clusterIP: '10.96.77.88', clusterIPs: ['10.96.77.99'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.99"]: first value must match `clusterIP`',
  ],
  'clusterIPs without clusterIP': [
    { clusterIPs: ['10.96.77.89'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.89"]: must be empty when `clusterIP` is not specified',
  ],
  'None and a cluster IP': [
    { clusterIP: 'None', clusterIPs: ['None', '10.96.77.1'] },
    'spec.clusterIPs: Invalid value: ["None","10.96.77.1"]: \'None\' must be the first and only value',
  ],
  'two cluster IPs of one family': [
    { clusterIP: '10.96.77.88', clusterIPs: ['10.96.77.88', '10.96.77.90'] },
    'spec.clusterIPs: Invalid value: ["10.96.77.88","10.96.77.90"]: may specify no more than one IP for each IP family',
  ],
  'IPv6 cluster IP': [
    { clusterIP: '::1' },
    'spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster',
  ],
  'RequireDualStack on a single-stack cluster': [
    { ipFamilyPolicy: 'RequireDualStack' },
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
  'unknown ipFamilyPolicy': [
    { ipFamilyPolicy: 'Foo' },
    'spec.ipFamilyPolicy: Unsupported value: "Foo": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
  ],
  'ipFamilies IPv6': [
    { ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  'two families with SingleStack': [
    { ipFamilies: ['IPv4', 'IPv6'] },
    "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
  ],
  'duplicate family': [{ ipFamilies: ['IPv4', 'IPv4'] }, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  'unknown family': [
    { ipFamilies: ['Foo'] },
    'spec.ipFamilies[0]: Unsupported value: "Foo": supported values: "IPv4", "IPv6"',
  ],
  'headless IPv6 service': [
    { clusterIP: 'None', ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  'unknown type': [
    { type: 'Foo' },
    'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  'ExternalName service without a name': [{ type: 'ExternalName' }, 'spec.externalName: Required value'],
  'invalid external name': [
    { type: 'ExternalName', externalName: 'A_b' },
    "spec.externalName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  'external name and cluster IP': [
    { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.96.1.1' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
  ],
  'external name and family': [
    { type: 'ExternalName', externalName: 'a.b', ipFamilies: ['IPv4'] },
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
  ],
  'unknown session affinity': [
    { sessionAffinity: 'Foo' },
    'spec.sessionAffinity: Unsupported value: "Foo": supported values: "ClientIP", "None"',
  ],
  'session affinity timeout 0': [
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
  ],
  'invalid selector': [
    { selector: { a: 'c d' } },
    "spec.selector: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  'port out of range': [
    { ports: [{ port: 70000 }] },
    '[spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive]',
  ],
  'invalid target port name': [
    { ports: [{ port: 1, targetPort: 'A' }] },
    '[spec.ports[0].targetPort: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), spec.ports[0].targetPort: Invalid value: "A": must contain at least one letter (a-z)]',
  ],
  'target port name that is too long': [
    { ports: [{ port: 1, targetPort: 'toolongnameforaport' }] },
    'spec.ports[0].targetPort: Invalid value: "toolongnameforaport": must be no more than 15 characters',
  ],
  'duplicate port': [
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 1, name: 'b' },
      ],
    },
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
  ],
  'duplicate port name': [
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 2, name: 'a' },
      ],
    },
    'spec.ports[1].name: Duplicate value: "a"',
  ],
  'unknown protocol': [
    { ports: [{ port: 1, protocol: 'X' }] },
    'spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  'node port of a ClusterIP service': [
    { ports: [{ port: 1, nodePort: 30001 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  'externalTrafficPolicy of a ClusterIP service': [
    { externalTrafficPolicy: 'Local' },
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  'unknown internalTrafficPolicy': [
    { internalTrafficPolicy: 'Foo' },
    'spec.internalTrafficPolicy: Unsupported value: "Foo": supported values: "Cluster", "Local"',
  ],
  'invalid external IP': [
    { externalIPs: ['x'] },
    'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  'loopback address as external IP': [
    { externalIPs: ['127.0.0.1'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
  'loadBalancerClass of a ClusterIP service': [
    { loadBalancerClass: 'a/b' },
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  'allocateLoadBalancerNodePorts of a ClusterIP service': [
    { allocateLoadBalancerNodePorts: true },
    "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  'unknown traffic distribution': [
    { trafficDistribution: 'Foo' },
    'spec.trafficDistribution: Unsupported value: "Foo": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
  ],
}

const right = { selector: { app: 'a' }, ports: [{ port: 80 }] }

export const rejectedServices = chapter('rejected services', {
  'invalid addresses, families, ports and policies': rejected(
    {
      resource: 'v1/services',
      object: change => ({ metadata: { name: 'x' }, spec: { ...right, ...change } }),
    },
    services,
  ),
})
