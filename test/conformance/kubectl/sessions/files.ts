// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, service } from '../../objects.ts'
import { sessions } from '../session.ts'

const manifest = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')
const many = 60

export const fileSessions = sessions({
  'apply -k: bases, overlays, generated names': async shell => {
    shell.file('base/site.yaml', manifest(deployment('site'), service('site')))
    shell.file('base/kustomization.yaml', 'resources: [site.yaml]\n')
    shell.file(
      'overlay/kustomization.yaml',
      [
        'resources: [../base]',
        'namePrefix: test-',
        'labels: [{ pairs: { tier: test }, includeSelectors: false }]',
        'configMapGenerator: [{ name: settings, literals: [a=1] }]',
        'images: [{ name: registry.example/app, newTag: "9" }]',
        '',
      ].join('\n'),
    )
    await shell.types('kustomize overlay')
    await shell.types('apply -k overlay')
    await shell.types('apply -k overlay')
    await shell.types('diff -k overlay')
    await shell.types('get deployment test-site -o jsonpath={.spec.template.spec.containers[0].image}')
    await shell.types('get -k overlay -o name')
    await shell.types('delete -k overlay')
  },

  'files with several documents, folders, lists, duplicates': async shell => {
    const file = shell.file(
      'several/all.yaml',
      `# a comment\n---\n${manifest(configMap('a'), configMap('b'))}\n---\n---\n${manifest(service('c'))}\n`,
    )
    shell.file(
      'several/more/list.json',
      manifest({ apiVersion: 'v1', kind: 'List', items: [configMap('d')] }),
    )
    await shell.types(`create -f ${file}`)
    const twice = await shell.isRejected(`create -f ${file}`)
    assert.equal(twice.match(/AlreadyExists/g)?.length, 3)
    await shell.types('apply -f several', { only: text => text })
    await shell.types('apply -f several -R')
    await shell.types('get -f several -R -o name')
    const mixed = manifest(configMap('e'), configMap('Bad_Name'), configMap('f'))
    await shell.types('apply -f -', { input: mixed, code: 1 })
    await shell.types('get configmaps e f -o name')
    await shell.types('delete -f several -R')
    await shell.isRejected(`delete -f ${file}`)
    await shell.types(`delete -f ${file} --ignore-not-found`)
  },

  'a large file, a large object, one that is too large': async shell => {
    const names = Array.from({ length: many }, (_, index) => `m-${String(index).padStart(3, '0')}`)
    const large = manifest(...names.map(name => configMap(name, { text: 'x'.repeat(2_000) })))
    await shell.types('apply --server-side -f -', { input: large })
    await shell.types('get configmaps -o name', { only: text => String(text.split('\n').length) })
    const tooLong = manifest(configMap('long', { text: 'x'.repeat(300_000) }))
    await shell.isRejected('apply -f -', { input: tooLong })
    await shell.types('apply --server-side -f -', { input: tooLong })
    await shell.isRejected('create -f -', {
      input: manifest(configMap('longer', { text: 'x'.repeat(1_100_000) })),
    })
  },

  'apply --prune deletes objects that the files no longer contain': async shell => {
    const set = '--prune -l app=pruned --prune-allowlist=core/v1/ConfigMap'
    const map = (name: string) => configMap(name, {}, { labels: { app: 'pruned' } })
    await shell.types(`apply -f - ${set}`, { input: manifest(map('a'), map('b')) })
    await shell.types(`apply -f - ${set}`, { input: manifest(map('a')) })
    await shell.types('get configmaps -l app=pruned -o name')
  },
})
