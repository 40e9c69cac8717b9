// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap } from '../objects.ts'
import { containers, map, workload } from '../patched.ts'
import { chapter } from '../suite.ts'

export const strategicPatches = chapter('strategic merge patches', {
  'a strategic patch merges containers by name': async fixture => {
    const patched = await fixture.http.strategicPatch(
      await workload(fixture),
      containers([{ name: 'two', image: 'i:22' }]),
    )
    assert.equal(patched.status, 200)
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string; image: string }[]).map(
        ({ name, image }) => `${name}=${image}`,
      ),
      ['one=i:1', 'two=i:22'],
    )
  },
  'a strategic patch inserts new list items first': async fixture => {
    const patched = await fixture.http.strategicPatch(
      await workload(fixture),
      containers([{ name: 'three', image: 'i:3' }]),
    )
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['three', 'one', 'two'],
    )
  },
  'a strategic patch deletes a list item by its key': async fixture => {
    const patched = await fixture.http.strategicPatch(
      await workload(fixture),
      containers([{ name: 'one', $patch: 'delete' }]),
    )
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['two'],
    )
  },
  'a strategic patch replaces a list with $patch replace': async fixture => {
    const patched = await fixture.http.strategicPatch(
      await workload(fixture),
      containers([{ $patch: 'replace' }, { name: 'new', image: 'i:9' }]),
    )
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['new'],
    )
  },
  'a strategic patch replaces a map with $patch replace': async fixture => {
    const patched = await fixture.http.strategicPatch(await map(fixture), {
      data: { $patch: 'replace', c: '3' },
    })
    assert.deepEqual(patched.at('data'), { c: '3' })
  },
  'a strategic patch merges nested lists': async fixture => {
    const patched = await fixture.http.strategicPatch(
      await workload(fixture),
      containers([
        {
          name: 'one',
          env: [
            { name: 'B', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ]),
    )
    const env = patched.at('spec.template.spec.containers.0.env') as { name: string; value: string }[]
    assert.deepEqual(Object.fromEntries(env.map(({ name, value }) => [name, value])), {
      A: '1',
      B: '3',
      C: '4',
    })
  },
  'a strategic patch replaces lists without a merge key': async fixture => {
    const path = await workload(fixture)
    const patched = await fixture.http.strategicPatch(path, {
      spec: { template: { spec: { tolerations: [{ key: 'y', operator: 'Exists' }] } } },
    })
    assert.deepEqual(patched.at('spec.template.spec.tolerations'), [{ key: 'y', operator: 'Exists' }])
  },
  'a strategic patch removes a field with null': async fixture => {
    const patched = await fixture.http.strategicPatch(await map(fixture), { data: { a: null } })
    assert.deepEqual(patched.at('data'), { b: '2' })
  },
  'a strategic patch orders a list with $setElementOrder': async fixture => {
    const patched = await fixture.http.strategicPatch(await workload(fixture), {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }],
            containers: [{ name: 'one', image: 'i:11' }],
          },
        },
      },
    })
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['two', 'one'],
    )
  },
  'a strategic patch keeps only the keys of $retainKeys': async fixture => {
    const patched = await fixture.http.strategicPatch(await workload(fixture), {
      spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    })
    assert.equal(patched.status, 200)
    assert.deepEqual(patched.at('spec.strategy'), { type: 'Recreate' })
  },
  'a strategic patch treats finalizers as a set': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('m', {}, { finalizers: ['example.com/a'] }))
    const patched = await http.strategicPatch(core('configmaps/m'), {
      metadata: { finalizers: ['example.com/b', 'example.com/a'] },
    })
    assert.deepEqual([...(patched.at('metadata.finalizers') as string[])].sort(), [
      'example.com/a',
      'example.com/b',
    ])
    const removed = await http.strategicPatch(core('configmaps/m'), {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
    })
    assert.deepEqual(removed.at('metadata.finalizers'), ['example.com/b'])
    await http.mergePatch(core('configmaps/m'), { metadata: { finalizers: null } })
  },
})
