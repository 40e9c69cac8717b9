// SPDX-License-Identifier: Apache-2.0

// Whatever a file holds, a command prints its result or one line that says what is wrong. No input leads to a stack.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { run } from './main.ts'
import { onTerminal } from './terminal.ts'
import { call } from './testing/grove-call.ts'

const folder = mkdtempSync(join(tmpdir(), 'grove-unexpected-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const configurationOf = (profiles: string) =>
  `apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nscheduler: ${profiles}\n`
const kai = file(
  'kai.yaml',
  configurationOf('{defaultProfileName: kai-scheduler, profiles: [{name: kai-scheduler}]}'),
)
const several = file(
  'several.yaml',
  configurationOf(
    '{defaultProfileName: default-scheduler, profiles: [{name: default-scheduler}, {name: elsewhere}, {name: kubernetes}]}',
  ),
)

const sound = (podSpec = '') => `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: x}
spec:
  replicas: 1
  template:
    resourceSharing: [{name: gpu, scope: AllReplicas}]
    cliques:
      - {name: a, spec: {roleName: a, replicas: 1, podSpec: {${podSpec}containers: [{name: main, image: x}]}}}
`
const good = file('good.yaml', sound())

/** As a cluster returns it: commands take its spec as it is. */
const stored = (body: string) =>
  `apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: x, uid: u}\n${body}\n`

const bodies = [
  '',
  'spec: 7',
  'spec: {template: x}',
  'spec: {template: {cliques: 7}}',
  'spec: {template: {cliques: [null, 5, {}]}}',
  'spec: {template: {cliques: [{name: a, spec: 7}]}}',
  'spec: {template: {cliques: [{name: a, spec: {podSpec: {containers: 7, volumes: [7]}}}]}}',
  'spec: {template: {cliques: [{name: [a], spec: {podSpec: {containers: [null]}}}], podCliqueScalingGroups: 7}}',
  'spec: {template: {cliqueStartupType: 7, cliques: [{name: a, labels: 7, spec: {startsAfter: 7, podSpec: {containers: [{env: 7}]}}}]}}',
]

const companions = [
  'kind: ClusterTopologyBinding\napiVersion: grove.io/v1alpha1',
  'kind: ClusterTopologyBinding\napiVersion: grove.io/v1alpha1\nmetadata: {name: b}\nspec: {levels: [7]}',
  'kind: ResourceClaimTemplate\napiVersion: resource.k8s.io/v1',
  'kind: ResourceClaimTemplate\napiVersion: resource.k8s.io/v1\nmetadata: {name: gpu}',
  'kind: ResourceClaimTemplate\nmetadata: 5',
  'kind: Queue\napiVersion: scheduling.volcano.sh/v1\nmetadata: {name: 7}',
  '[a, b]',
  'kind: [7]',
]

async function endsWell(words: readonly string[], input = ''): Promise<void> {
  const { status, stderr } = await call(words, { input })
  const told = `grove ${words.join(' ')}: exit code ${status}: ${stderr}`
  assert.doesNotMatch(stderr, /unexpected error|^ +at /m, told)
  if (status !== 0 && stderr !== '')
    assert.match(stderr, /^(?:(?:warning|hint): .*\n)*grove: [^\n]+\n$/, told)
}

describe('no input is unexpected', () => {
  bodies.forEach((body, at) => {
    const path = file(`stored-${at}.yaml`, stored(body))
    const calls = [
      ['hash', '-f', path],
      ['hash', '--legacy', '-f', path],
      ['render', '-f', path],
      ['validate', '-f', path],
      ['validate', '-f', path, '--old', good],
      ['validate', '-f', good, '--old', path],
      ['impact', '--old', path, '-f', good],
      ['impact', '--old', good, '-f', path],
    ]
    it(body || 'a set without a spec', async () => {
      for (const words of calls) await endsWell(words)
    })
  })

  for (const companion of companions)
    it(`beside a set: ${JSON.stringify(companion)}`, async () => {
      for (const command of ['render', 'validate', 'hash'])
        await endsWell([command, '-f', '-'], `${sound()}---\n${companion}\n`)
      await endsWell(['render', '-f', '-', '--config', kai], `${sound()}---\n${companion}\n`)
    })

  for (const name of ['elsewhere', 'kubernetes', 'nothing-like-it'])
    it(`the scheduler ${name}`, async () => {
      await endsWell(['render', '-f', '-', '--config', several], sound(`schedulerName: ${name}, `))
      await endsWell(['render', '-f', '-'], sound(`schedulerName: ${name}, `))
    })
})

describe('an error that no command expects', () => {
  /** A standard output that fails, as a full disk would make it. */
  async function onFailingOutput(words: readonly string[]): Promise<{ status: number; stderr: string }> {
    let text = ''
    const stdout = new Writable()
    stdout.write = () => {
      throw new Error('no space left\non device')
    }
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        text += chunk
        done()
      },
    })
    const status = await onTerminal({ stdin: process.stdin, stdout, stderr }, () => run(words))
    return { status, stderr: text }
  }

  for (const words of [['crds'], ['hash', '-f', good], ['validate', '-f', good], ['render', '-f', good]])
    it(`ends grove ${words[0]} with one line and exit code 1`, async () => {
      const { status, stderr } = await onFailingOutput(words)
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^(?:hint: .*\n)?grove: unexpected error: no space left \(GROVE_DEBUG=1 shows where\)\n$/,
      )
    })

  it('shows its stack where the user asks for it', async () => {
    process.env.GROVE_DEBUG = '1'
    try {
      assert.match((await onFailingOutput(['crds'])).stderr, /no space left\non device\n(?:.*\n)* +at /)
    } finally {
      delete process.env.GROVE_DEBUG
    }
  })
})
