// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment } from '../../objects.ts'
import { sessions } from '../session.ts'

const manifest = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')

export const objectSessions = sessions({
  'apply: created, unchanged, configured, and fields removed from the manifest are removed': async shell => {
    const app = (replicas: number, labels: object = {}) =>
      manifest({ ...deployment('site', { replicas }), metadata: { name: 'site', labels } })
    await shell.types('apply -f -', { input: app(0, { tier: 'web' }) })
    await shell.types('apply -f -', { input: app(0, { tier: 'web' }) })
    await shell.types('diff -f -', { input: app(0, { tier: 'web' }) })
    const difference = await shell.types('diff -f -', { input: app(2), code: 1, only: changedLines })
    assert.match(difference, /^\+ +replicas: 2$/m)
    await shell.types('apply -f -', { input: app(2) })
    await shell.types('get deployment site -o jsonpath={.metadata.labels.tier}{.spec.replicas}')
    await shell.types('apply view-last-applied deployment site -o yaml')
    await shell.types('apply set-last-applied -f -', { input: app(3) })
    await shell.types('apply -f - --dry-run=server -o name', { input: app(4) })
    await shell.types('apply -f - --dry-run=client', { input: app(4) })
    await shell.types('get deployment site -o jsonpath={.spec.replicas}')
  },

  'apply --server-side: conflicts, by force, migrated from client-side apply': async shell => {
    const map = (value: string) => manifest(configMap('m', { a: value }))
    await shell.types('apply --server-side -f -', { input: map('1') })
    const asOther = '--server-side --field-manager=other -f -'
    const rejection = await shell.isRejected(`apply ${asOther}`, { input: map('2') })
    assert.match(rejection, /conflict with "kubectl": \.data\.a/)
    await shell.types(`diff --force-conflicts ${asOther}`, { input: map('2'), code: 1, only: changedLines })
    await shell.types(`apply --force-conflicts ${asOther}`, { input: map('2') })
    await shell.types('get configmap m -o jsonpath={.data.a}')
    await shell.types(
      'get configmap m --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}',
    )
    await shell.types('apply -f -', { input: manifest(configMap('c', { a: '1' })) })
    await shell.types('apply --server-side -f -', { input: manifest(configMap('c', { a: '2' })) })
    await shell.types('get configmap c -o jsonpath={.data}')
    await shell.isRejected('apply --server-side -f -', {
      input: manifest({ ...configMap('c'), dta: {} }),
    })
  },

  'patch: strategic, merge, JSON; of a status, of a scale; rejected patches': async shell => {
    await shell.types('create -f -', { input: manifest(deployment('site')) })
    await shell.types('patch deployment site -p {"spec":{"paused":true}}')
    await shell.types('patch deployment site -p {"spec":{"paused":true}}')
    await shell.types(
      'patch deployment site -p {"spec":{"template":{"spec":{"containers":[{"name":"more","image":"b"}]}}}}',
    )
    await shell.types('get deployment site -o jsonpath={.spec.template.spec.containers[*].name}')
    await shell.types('patch deployment site --type=json -p [{"op":"remove","path":"/spec/paused"}]')
    await shell.isRejected(
      'patch deployment site --type=json -p [{"op":"test","path":"/spec/replicas","value":7}]',
    )
    await shell.types('patch deployment site --type=merge -p {"spec":{"minReadySeconds":1}}')
    await shell.isRejected('patch deployment site --type=merge -p {"spec":{"replicas":-1}}')
    await shell.isRejected('patch deployment nowhere -p {}')
    await shell.types('patch deployment site --subresource=scale --type=merge -p {"spec":{"replicas":1}}')
    await shell.types('get deployment site --subresource=scale -o jsonpath={.kind}{.spec.replicas}')
    await shell.types(
      'patch node node-b --subresource=status -p {"status":{"capacity":{"example.com/unit":"2"}}}',
    )
    await shell.types(
      'get node node-b --subresource=status -o jsonpath={.status.capacity.example\\.com/unit}',
    )
    await shell.types(
      'patch node node-b --subresource=status --type=json -p [{"op":"remove","path":"/status/capacity/example.com~1unit"}]',
    )
  },

  'edit with an editor': async shell => {
    await shell.types('create -f -', { input: manifest(deployment('site')) })
    const editor = (script: string) => ({ environment: { EDITOR: `sed -i ${script}` } })
    await shell.types('edit deployment site', editor('s/app:1/app:2/'))
    await shell.types('get deployment site -o jsonpath={.spec.template.spec.containers[0].image}')
    await shell.types('edit deployment site', editor('s/nothing-like-it/at-all/'))
    await shell.types('edit deployment site -o json', {
      environment: { KUBE_EDITOR: 'sed -i s/app:2/app:3/' },
    })
    await shell.isRejected('edit deployment nowhere', editor('s/a/b/'))
  },

  'label, annotate, replace, and --overwrite': async shell => {
    await shell.types('create -f -', { input: manifest(configMap('m')) })
    await shell.types('label configmap m a=b c=d')
    await shell.types('label configmap m a=b')
    await shell.isRejected('label configmap m a=c')
    await shell.types('label configmap m a=c --overwrite')
    await shell.types('label configmap m c-')
    await shell.isRejected('label configmap m a=not/a/value --overwrite')
    await shell.types('label configmap m --list')
    await shell.types('annotate configmap m note=first')
    await shell.types('annotate configmap m note- other=x')
    await shell.types('get configmap m -o jsonpath={.metadata.annotations}{.metadata.labels}')
    await shell.types('replace -f -', { input: manifest(configMap('m', { only: 'this' })) })
    await shell.types('get configmap m -o jsonpath={.data}{.metadata.labels}')
    await shell.types('replace --force -f -', { input: manifest(configMap('m', { again: 'x' })) })
    await shell.isRejected('replace -f -', { input: manifest(configMap('nowhere')) })
  },

  'get: tables, output formats, selectors, sorting': async shell => {
    const labelled = (name: string, tier: string, data: Record<string, string>) =>
      configMap(name, data, { labels: { tier } })
    const maps = [
      labelled('b', 'fast', { x: '1' }),
      labelled('a', 'slow', {}),
      labelled('c', 'fast', { x: '', y: '' }),
    ]
    await shell.types('create -f -', { input: manifest(...maps) })
    const mine = '-l tier'
    await shell.types(`get configmaps ${mine}`)
    await shell.types(`get cm -L tier --show-labels ${mine} --no-headers`)
    await shell.types(`get cm ${mine} -o name`)
    await shell.types(`get cm ${mine} -o wide`)
    await shell.types('get cm b -o yaml')
    await shell.types('get cm b -o json')
    await shell.types(`get cm ${mine} -o yaml`)
    await shell.types(`get cm ${mine} --sort-by=.data.x -o custom-columns=NAME:.metadata.name,X:.data.x`)
    await shell.types(`get cm ${mine} --sort-by=.metadata.labels.tier -o name`)
    shell.file('columns', 'NAME          TIER\n.metadata.name .metadata.labels.tier\n')
    await shell.types(`get cm ${mine} -o custom-columns-file=columns`)
    await shell.types(`get cm ${mine} -o jsonpath={range.items[*]}{.metadata.name}={.data.x}{"\\n"}{end}`)
    await shell.types(`get cm ${mine} -o go-template={{range.items}}{{.metadata.name}};{{end}}`)
    await shell.types('get cm -l tier=fast,tier!=slow -o name')
    await shell.types('get cm --selector=tier=fast --field-selector=metadata.name=c -o name')
    await shell.types('get cm --field-selector=metadata.name!=b -l tier -o name')
    await shell.isRejected('get cm --field-selector=data.x=1')
    await shell.isRejected('get cm -l a=b=c')
    await shell.types('get cm -l tier=none')
    await shell.types('get cm b nowhere', { code: 1 })
    await shell.types('get cm b nowhere --ignore-not-found')
    await shell.types('get cm/b secret/nowhere', { code: 1 })
    await shell.isRejected('get nonsense')
    await shell.isRejected('get cm b -o nonsense')
    await shell.types('get cm,secrets -l tier=fast')
    await shell.types('get cm -A -l tier=fast -o custom-columns=NS:.metadata.namespace,N:.metadata.name')
    await shell.types(`get --raw /api/v1/namespaces/${shell.namespace}/configmaps/b`, {
      only: text => `${JSON.parse(text).data.x}${text.endsWith('\n')}`,
    })
    await shell.types('get all')
    await shell.types('get cm --chunk-size=1 -l tier -o name')
    await shell.types('describe cm b')
    await shell.types('describe cm -l tier=fast')
  },

  'get -w prints created, changed and deleted objects': async shell => {
    await shell.types('create configmap first --from-literal=a=1')
    const command =
      'get configmaps -w --output-watch-events -l watched!=no --field-selector=metadata.name!=kube-root-ca.crt'
    const watching = shell.begins(command)
    await watching.shows(/ADDED +first +1/)
    await shell.types('create configmap second')
    await watching.shows(/ADDED +second +0/)
    await shell.types('patch configmap second -p {"data":{"x":"y"}}')
    await watching.shows(/MODIFIED +second +1/)
    await shell.types('label configmap first watched=no')
    await watching.shows(/DELETED +first/)
    await shell.types('delete configmap second')
    await watching.shows(/DELETED +second/)
    await shell.ends(command, watching)
    const only = 'get configmap first --watch-only -o jsonpath={.data.a};'
    const quiet = shell.begins(only)
    // The watch shows only later events, and kubectl does not report when it has started.
    const changing = new AbortController()
    const changes = (async () => {
      for (let value = 2; !changing.signal.aborted; value++)
        await shell.silently(`patch configmap first -p {"data":{"a":"${value}"}}`)
    })()
    await quiet.shows(/\d+;\d+;/)
    changing.abort()
    await changes
    await quiet.end()
  },

  'a server-side dry run is admitted and stores nothing': async shell => {
    await shell.types('create configmap m --dry-run=server --from-literal=a=1 -o yaml')
    await shell.types('create -f - --dry-run=server', { input: manifest(deployment('site')) })
    await shell.isRejected('create -f - --dry-run=server', {
      input: manifest(deployment('site', { replicas: -1 })),
    })
    await shell.types('create -f - --dry-run=client -o name', { input: manifest(deployment('site')) })
    await shell.types('get deployments')
    await shell.types('create configmap m')
    await shell.types('delete configmap m --dry-run=server')
    await shell.types('label configmap m a=b --dry-run=server -o jsonpath={.metadata.labels}')
    await shell.types('get configmap m -o jsonpath={.metadata.labels}')
  },

  'errors have the message of the server': async shell => {
    await shell.isRejected('apply -f -', {
      input: manifest({ ...deployment('bad'), spec: { replicas: 'many' } }),
    })
    await shell.isRejected('apply -f -', { input: manifest(deployment('bad', { nonsense: 1 })) })
    await shell.isRejected('apply -f -', { input: manifest(deployment('Bad_Name')) })
    await shell.isRejected('apply -f -', {
      input: manifest({ apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } }),
    })
    await shell.isRejected('apply -f -', {
      input: manifest({ apiVersion: 'v7', kind: 'Pod', metadata: { name: 'a' } }),
    })
    await shell.isRejected('apply -f -', { input: manifest({ kind: 'Pod', metadata: { name: 'a' } }) })
    await shell.isRejected('apply -f -', { input: 'a: [b' })
    await shell.isRejected('apply -f -', { input: manifest(configMap('a', {}, { namespace: 'elsewhere' })) })
    await shell.isRejected('apply -f nowhere.yaml')
    await shell.isRejected('create -f - -n nowhere', { input: manifest(configMap('a')) })
    await shell.types('apply -f - --validate=ignore', { input: manifest(deployment('odd', { nonsense: 1 })) })
    await shell.types('apply -f - --validate=warn', { input: manifest(deployment('odd', { nonsense: 2 })) })
    await shell.isRejected('scale deployment nowhere --replicas=2')
    await shell.isRejected('scale configmap nowhere --replicas=2')
    await shell.isRejected('delete pod nowhere')
  },
})

/** Returns the changed lines of a diff. The rest contains names of temporary files. */
function changedLines(text: string): string {
  return text
    .split('\n')
    .filter(line => /^[+-] /.test(line) && !/generation:|resourceVersion|uid:/.test(line))
    .join('\n')
}
