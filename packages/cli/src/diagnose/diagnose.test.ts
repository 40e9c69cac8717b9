// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { waitFor } from '@grove/test-kubernetes'
import { unpackTar } from 'modern-tar'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { call } from '../testing/grove-call.ts'

/** Secrets, each in a different place. */
const planted = ['env', 'argument', 'flag', 'header', 'annotation', 'url'].map(where => `planted${where}4711`)
const [inEnv, inArgument, afterFlag, inHeader, inAnnotation, inUrl] = planted

const set = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodCliqueSet',
  metadata: {
    name: 'leaky',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"env":"${inAnnotation}"}` },
  },
  spec: {
    replicas: 1,
    template: {
      cliques: [
        {
          name: 'web',
          spec: {
            roleName: 'web',
            replicas: 1,
            podSpec: {
              containers: [
                {
                  name: 'main',
                  image: 'registry.example/web:1',
                  env: [{ name: 'MODEL', value: inEnv }],
                  args: [
                    `--hub-token=${inArgument}`,
                    '--password',
                    afterFlag,
                    `--url=https://a:${inUrl}@host/`,
                  ],
                  readinessProbe: {
                    httpGet: { port: 80, httpHeaders: [{ name: 'X-Key', value: inHeader }] },
                  },
                },
              ],
            },
          },
        },
      ],
    },
  },
}

describe('grove diagnose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-diagnose-'))
  const file = join(folder, 'report.tar.gz')
  let cluster: EmbeddedCluster
  let namespace: string

  before(async () => {
    cluster = await startEmbedded()
    namespace = await cluster.newNamespace()
  })
  after(async () => {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const grove = (...args: string[]) => call([...args, '-n', namespace, '--kubeconfig', cluster.kubeconfig])

  test('writes an archive with the objects of a set and without its secrets', async () => {
    const manifest = join(folder, 'set.json')
    writeFileSync(manifest, JSON.stringify(set))
    assert.equal((await grove('apply', '-f', manifest)).status, 0)
    await waitFor('the pod', async () => (await grove('get', 'pods')).stdout.includes('leaky-0-web'))
    const { status, stdout, stderr } = await grove('diagnose', '--file', file)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /report\.tar\.gz contains \d+ files/)
    assert.equal(statSync(file).mode & 0o077, 0, 'only its user may read it')
    const entries = await unpackTar(gunzipSync(readFileSync(file)))
    const texts = new Map(
      entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]),
    )
    for (const [name, text] of texts)
      for (const secret of planted) assert.ok(!text.includes(secret), `${name} contains ${secret}`)
    for (const kind of ['podcliquesets', 'podcliques', 'podgangs', 'pods', 'controllerrevisions', 'events'])
      assert.match(texts.get(`grove-diagnose/workloads/${kind}.json`) ?? '', /leaky/, kind)
    assert.match(texts.get('grove-diagnose/doctor.json') ?? '', /"check": "Admission"/)
    assert.equal(texts.get('grove-diagnose/failures.txt'), '')
    assert.ok(![...texts.keys()].some(name => /secrets|configmaps/.test(name)))
  })

  test('reports a file that cannot be written', async () => {
    const { status, stderr } = await grove('diagnose', '--file', join(folder, 'none', 'report.tar.gz'))
    assert.equal(status, 2)
    assert.match(stderr, /^grove: cannot write the archive: ENOENT: .*; name another --file\n$/)
  })

  test('does not overwrite a file', async () => {
    const { status, stderr } = await grove('diagnose', '--file', file)
    assert.equal(status, 2)
    assert.match(stderr, /report\.tar\.gz exists already; name another file/)
  })
})
