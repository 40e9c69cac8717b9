// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const claims: Rejections = {
  'duplicate request name': [
    {
      requests: [
        { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } },
        { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } },
      ],
    },
    'spec.devices.requests[1]: Duplicate value: {"name":"gpu","exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":1}}',
  ],
  'invalid request name': [
    { requests: [{ name: 'A', exactly: { deviceClassName: 'gpu.example.com' } }] },
    "spec.devices.requests[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  'request without a device': [
    { requests: [{ name: 'a' }] },
    'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
  ],
  'request without a device class': [
    { requests: [{ name: 'a', exactly: {} }] },
    'spec.devices.requests[0].exactly.deviceClassName: Required value',
  ],
  'invalid device class name': [
    { requests: [{ name: 'gpu', exactly: { deviceClassName: 'A_' } }] },
    "spec.devices.requests[0].exactly.deviceClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  'unknown allocation mode': [
    { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', allocationMode: 'Foo' } }] },
    'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Foo": supported values: "All", "ExactCount"',
  ],
  'allocation mode All with a count': [
    {
      requests: [
        { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', allocationMode: 'All', count: 2 } },
      ],
    },
    "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
  ],
  'negative count': [
    { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', count: -1 } }] },
    'spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero',
  ],
  'empty selector': [
    { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', selectors: [{}] } }] },
    'spec.devices.requests[0].exactly.selectors[0].cel: Required value',
  ],
  'duplicate subrequest name': [
    {
      requests: [
        {
          name: 'a',
          firstAvailable: [
            { name: 'x', deviceClassName: 'y' },
            { name: 'x', deviceClassName: 'y' },
          ],
        },
      ],
    },
    'spec.devices.requests[0].firstAvailable[1]: Duplicate value: {"name":"x","deviceClassName":"y","allocationMode":"ExactCount","count":1}',
  ],
  'both exactly and firstAvailable': [
    {
      requests: [
        {
          name: 'gpu',
          exactly: { deviceClassName: 'gpu.example.com' },
          firstAvailable: [{ name: 'x', deviceClassName: 'y' }],
        },
      ],
    },
    'spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
  ],
  'constraint on an unknown request': [
    {
      requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }],
      constraints: [{ requests: ['nope'], matchAttribute: 'a/b' }],
    },
    'spec.devices.constraints[0].requests[0]: Invalid value: "nope": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
  ],
  'attribute without a domain': [
    {
      requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }],
      constraints: [{ requests: ['gpu'], matchAttribute: 'b' }],
    },
    'spec.devices.constraints[0].matchAttribute: Invalid value: "b": a fully qualified name must be a domain and a name separated by a slash',
  ],
  'empty constraint': [
    { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }], constraints: [{}] },
    'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
  ],
  'config for an unknown request': [
    {
      requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }],
      config: [{ requests: ['nope'] }],
    },
    '[spec.devices.config[0].requests[0]: Invalid value: "nope": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\', spec.devices.config[0].opaque: Required value]',
  ],
}

const templates: Rejections = {
  'request without a device': [
    { spec: { devices: { requests: [{ name: 'a' }] } } },
    'spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
  ],
  'name in the metadata of a template': [
    {
      metadata: { name: 'foo' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } },
    },
    'spec.metadata.name: Forbidden: cannot be set',
  ],
  'invalid label in a template': [
    { metadata: { labels: { 'a b': 'c' } }, spec: {} },
    "spec.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
}

const classes: Rejections = {
  'empty selector': [{ selectors: [{}] }, 'spec.selectors[0].cel: Required value'],
  'empty config': [{ config: [{}] }, 'spec.config[0].opaque: Required value'],
  'extended resource without a domain': [
    { extendedResourceName: 'x' },
    'spec.extendedResourceName: Invalid value: "x": a name must be a domain-prefixed path, such as \'example.com/my-prop\'',
  ],
}

const slices: Rejections = {
  'no driver': [{ driver: '' }, 'spec.driver: Required value'],
  'empty node name': [
    { nodeName: '' },
    '[spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string, spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required]',
  ],
  'pool without slices': [
    { pool: { name: '', generation: -1, resourceSliceCount: 0 } },
    '[spec.pool.name: Required value, spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero, spec.pool.generation: Invalid value: -1: must be greater than or equal to zero]',
  ],
  'nodeName and allNodes': [
    { allNodes: true },
    'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
  ],
  'duplicate device': [{ devices: [{ name: 'x' }, { name: 'x' }] }, 'spec.devices[1]: Duplicate value: "x"'],
}

const pods: Rejections = {
  'claim without a source': [
    { resourceClaims: [{ name: 'a' }] },
    'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
  ],
  'claim with two sources': [
    { resourceClaims: [{ name: 'a', resourceClaimName: 'c', resourceClaimTemplateName: 't' }] },
    'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"c","ResourceClaimTemplateName":"t"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
  ],
  'invalid claim name': [
    { resourceClaims: [{ name: 'A_', resourceClaimName: 'c' }] },
    "spec.resourceClaims[0].name: Invalid value: \"A_\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  'duplicate claim name': [
    {
      resourceClaims: [
        { name: 'a', resourceClaimName: 'c' },
        { name: 'a', resourceClaimName: 'c' },
      ],
    },
    'spec.resourceClaims[1].name: Duplicate value: "a"',
  ],
  'container with an unknown claim': [
    { containers: [{ name: 'main', image: 'i', resources: { claims: [{ name: 'x' }] } }] },
    'spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
  ],
  'container with a duplicate claim': [
    {
      resourceClaims: [{ name: 'a', resourceClaimName: 'c' }],
      containers: [{ name: 'main', image: 'i', resources: { claims: [{ name: 'a' }, { name: 'a' }] } }],
    },
    'spec.containers[0].resources.claims[1]: Duplicate value: "a"',
  ],
}

const rightSlice = {
  driver: 'd.example.com',
  pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
  nodeName: 'n',
}
const group = 'resource.k8s.io/v1'
const withSpec = (right: object) => (change: object) => ({
  metadata: { name: 'x' },
  spec: { ...right, ...change },
})

export const rejectedClaims = chapter('rejected claims and devices', {
  'unsatisfiable claims': rejected(
    {
      resource: `${group}/resourceclaims`,
      object: devices => ({ metadata: { name: 'x' }, spec: { devices } }),
    },
    claims,
  ),
  'templates of unsatisfiable claims': rejected(
    { resource: `${group}/resourceclaimtemplates`, object: withSpec({}) },
    templates,
  ),
  'device classes': rejected(
    { resource: `${group}/deviceclasses`, isClusterWide: true, object: withSpec({}) },
    classes,
  ),
  'resource slices': rejected(
    { resource: `${group}/resourceslices`, isClusterWide: true, object: withSpec(rightSlice) },
    slices,
  ),
  'pods with invalid claims': rejected(
    { resource: 'v1/pods', object: withSpec({ containers: [{ name: 'main', image: 'i' }] }) },
    pods,
  ),
})
