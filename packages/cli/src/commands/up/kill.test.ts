// SPDX-License-Identifier: Apache-2.0

// Kills the process with kill -9 during ten thousand writes: no acknowledged write is lost.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  type Client,
  createClient,
  defineResource,
  isKubeError,
  type KubeObject,
  loadKubeconfig,
} from '@grove/kube'
import { type RunningGrove, startGrove } from '../../testing/grove-process.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
})

const writes = 10_000
const writers = 32
const seed = Number(process.env.SEED ?? 1)
/** Between 30 and 70 percent of the writes; SEED changes the position. */
const killAfter = Math.round(writes * (0.3 + 0.4 * ((seed * 0.618) % 1)))

const folder = mkdtempSync(join(tmpdir(), 'grove-kill-'))
const kubeconfig = join(folder, 'kubeconfig')
after(() => rmSync(folder, { recursive: true, force: true }))

async function startUp(): Promise<{ up: RunningGrove; client: Client }> {
  const up = startGrove(['up', '--nodes', '2', '--data', join(folder, 'data'), '--kubeconfig', kubeconfig], {
    environment: { TMPDIR: folder },
  })
  await up.shows(/kubectl get nodes/)
  // The client does not retry, because the result of an unacknowledged write is unknown.
  const client = createClient(loadKubeconfig({ path: kubeconfig }), { retry: { failedAttempts: 1 } })
  return { up, client }
}

/** Valid states of an object after the kill: the acknowledged one, or the result of the pending request. */
interface Expected {
  acknowledged: string | undefined
  underWay: string | undefined
}

test(`kill -9 after ${killAfter} of ${writes} writes (SEED=${seed})`, async () => {
  const { up, client } = await startUp()
  const expected = new Map<string, Expected>()
  let begun = 0
  let acknowledged = 0
  let lastVersion = 0
  let killed = false
  const step = async (
    name: string,
    value: string | undefined,
    send: () => Promise<KubeObject | undefined>,
  ) => {
    const entry = expected.get(name) ?? { acknowledged: undefined, underWay: undefined }
    expected.set(name, entry)
    entry.underWay = value
    const stored = await send()
    entry.acknowledged = value
    lastVersion = Math.max(lastVersion, Number(stored?.metadata?.resourceVersion ?? 0))
    if (++acknowledged >= killAfter && !killed) {
      killed = true
      up.child.kill('SIGKILL')
    }
  }
  const writer = async () => {
    // Objects are created, patched twice, and deleted or kept, so that the kill interrupts every kind of write.
    while (begun < writes) {
      const index = begun
      begun += 4
      const name = `map-${index}`
      const ref = { name, namespace: 'default' }
      const object = { metadata: ref, data: { value: 'created' } }
      const change = (value: string) => client.patch(configMaps, ref, { merge: { data: { value } } })
      await step(name, 'created', () => client.create(configMaps, object))
      await step(name, 'once', () => change('once'))
      await step(name, 'twice', () => change('twice'))
      if (index % 8 === 0)
        await step(name, undefined, async () => (await client.delete(configMaps, ref)).object)
      else await step(name, 'thrice', () => change('thrice'))
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: writers }, writer))
  for (const end of ends)
    if (end.status === 'rejected') assert.ok(killed && isKubeError(end.reason), String(end.reason))
  await up.ended
  await client.close()
  assert.ok(acknowledged < writes, 'the process was killed during the writes')

  const again = await startUp()
  try {
    const { items, resourceVersion } = await again.client.list(configMaps, { namespace: 'default' })
    const found = new Map(items.map(({ metadata, data }) => [metadata.name, data?.value]))
    for (const [name, { acknowledged: sure, underWay }] of expected)
      assert.ok(
        [sure, underWay].includes(found.get(name)),
        `${name}: ${found.get(name)} is neither ${sure} nor ${underWay}`,
      )
    assert.ok(Number(resourceVersion) >= lastVersion, 'versions never decrease')
    const fresh = await again.client.create(configMaps, { metadata: { name: 'fresh', namespace: 'default' } })
    assert.ok(Number(fresh.metadata.resourceVersion) > lastVersion)
  } finally {
    again.up.child.kill('SIGTERM')
    await again.client.close()
  }
  assert.equal(await again.up.ended, 0)
  assert.equal(again.up.stderr(), '')
})
