// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const configMaps: Rejections = {
  'key ".."': [{ data: { '..': '1' } }, 'data[..]: Invalid value: "..": must not be \'..\''],
  'key "."': [{ data: { '.': '1' } }, 'data[.]: Invalid value: ".": must not be \'.\''],
  'key with the prefix ".."': [
    { data: { '..a': '2' } },
    'data[..a]: Invalid value: "..a": must not start with \'..\'',
  ],
  'key in data and binaryData': [
    { data: { a: '1' }, binaryData: { a: 'AA==' } },
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ],
}

const secrets: Rejections = {
  'TLS secret without a certificate': [
    { type: 'kubernetes.io/tls' },
    '[data[tls.crt]: Required value, data[tls.key]: Required value]',
  ],
  'basic-auth secret without credentials': [
    { type: 'kubernetes.io/basic-auth' },
    '[data[username]: Required value, data[password]: Required value]',
  ],
  'ssh-auth secret with an empty key': [
    { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
    'data[ssh-privatekey]: Required value',
  ],
  'token secret without a service account': [
    { type: 'kubernetes.io/service-account-token' },
    'metadata.annotations[kubernetes.io/service-account.name]: Required value',
  ],
  'registry secret without credentials': [
    { type: 'kubernetes.io/dockerconfigjson' },
    'data[.dockerconfigjson]: Required value',
  ],
}

const revisions: Rejections = {
  'no data': [{ revision: 1 }, 'data: Required value: data is mandatory'],
  'string as data': [{ revision: 1, data: 'x' }, 'data: Required value: data must be a valid JSON object'],
  'negative revision': [
    { revision: -1, data: { a: 1 } },
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ],
}

const events: Rejections = {
  'involved object without a namespace': [
    {},
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
  ],
  'involved object in another namespace': [
    { involvedObject: { kind: 'Pod', name: 'p', namespace: 'other' } },
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ],
}

const newEvents: Rejections = {
  'no eventTime': [{ eventTime: null }, 'eventTime: Required value'],
  'no action': [{ action: '' }, 'action: Required value'],
  'no reason': [{ reason: '' }, 'reason: Required value'],
  'an unknown type': [{ type: 'Foo' }, 'type: Invalid value: "": has invalid value: Foo'],
  'no reportingInstance': [{ reportingInstance: '' }, 'reportingInstance: Required value'],
  'deprecated count': [{ deprecatedCount: 3 }, 'count: Invalid value: "": needs to be unset'],
  'series with count 1': [
    { series: { count: 1 } },
    '[series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value]',
  ],
  'invalid reportingController': [
    { reportingController: 'a b' },
    "reportingController: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
}

const rightEvent = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'a',
  reportingInstance: 'b',
  action: 'c',
  reason: 'r',
  type: 'Normal',
}
const flat = (right: object) => (change: object) => ({ metadata: { name: 'x' }, ...right, ...change })

export const rejectedConfiguration = chapter('rejected configuration, revisions and events', {
  'config maps': rejected({ resource: 'v1/configmaps', object: flat({}) }, configMaps),
  secrets: rejected({ resource: 'v1/secrets', object: flat({}) }, secrets),
  'controller revisions': rejected({ resource: 'apps/v1/controllerrevisions', object: flat({}) }, revisions),
  'events of the core group': rejected({ resource: 'v1/events', object: flat({}) }, events),
  'events of events.k8s.io': rejected(
    {
      resource: 'events.k8s.io/v1/events',
      object: (change, namespace) =>
        flat({ ...rightEvent, regarding: { kind: 'Pod', name: 'p', namespace } })(change),
    },
    newEvents,
  ),
})
