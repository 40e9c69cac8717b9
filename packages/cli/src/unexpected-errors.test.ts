// SPDX-License-Identifier: Apache-2.0

// A command prints its result or one error line for every input. No input causes a stack trace.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { run } from './main.ts'
import { onTerminal } from './terminal/terminal.ts'
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

/** As a cluster returns it: commands use its spec unchanged. */
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

async function endsWell(args: readonly string[], input = ''): Promise<void> {
  const { status, stderr } = await call(args, { input })
  const output = `grove ${args.join(' ')}: exit code ${status}: ${stderr}`
  assert.doesNotMatch(stderr, /unexpected error|^ +at /m, output)
  if (status !== 0 && stderr !== '')
    assert.match(stderr, /^(?:(?:warning|hint): .*\n)*grove: [^\n]+\n$/, output)
}

describe('every input is handled', () => {
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
      for (const args of calls) await endsWell(args)
    })
  })

  for (const companion of companions)
    it(`together with a set: ${JSON.stringify(companion)}`, async () => {
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

const planned = file(
  'planned.yaml',
  `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: x}
spec:
  replicas: 1
  template:
    cliques: [{name: a, spec: {roleName: a, replicas: 1, podSpec: {containers: [{name: main, image: x}]}}}]
`,
)

const dumped = [
  'kind: Node\napiVersion: v1\nmetadata: {name: b, labels: {x: 7}}',
  'kind: Node\napiVersion: v1\nmetadata: {name: b}\nspec: {taints: 7}',
  'kind: Node\napiVersion: v1\nmetadata: {name: b}\nspec: {taints: [null]}',
  'kind: Node\napiVersion: v1\nmetadata: {name: b}\nspec: {unschedulable: "no"}',
  'kind: Node\napiVersion: v1\nmetadata: {name: b}\nstatus: {allocatable: {cpu: [4]}}',
  'kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: [{}], tolerations: x}',
  'kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: [{}], initContainers: x}',
  'kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: [{ports: x}]}',
  'kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: [{}], topologySpreadConstraints: {}}',
  'kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: [{}], affinity: {podAffinity: 7}}',
  'kind: PodGang\napiVersion: scheduler.grove.io/v1alpha1\nmetadata: {name: b}\nspec: {podgroups: [], topologyConstraintGroupConfigs: x}',
  'kind: PriorityClass\napiVersion: scheduling.k8s.io/v1\nmetadata: {name: b}\nvalue: x',
]

describe('wrong types in the dump of a cluster', () => {
  for (const object of dumped)
    it(object.replaceAll('\n', ' '), async () => {
      const node = 'kind: Node\napiVersion: v1\nmetadata: {name: ok}\nstatus: {allocatable: {pods: 9}}'
      for (const command of ['plan', 'capacity']) {
        const args = [command, '-f', planned, '--nodes', '-']
        const { status, stderr } = await call(args, { input: `${node}\n---\n${object}\n` })
        assert.match(stderr, /^grove: [^:]+:\d+: the \w+ has no valid \S+; fix it or remove the object\n$/)
        assert.equal(status, 2, command)
      }
    })

  it('fields that are null count as absent', async () => {
    const node =
      'kind: Node\napiVersion: v1\nmetadata: {name: ok, labels: null}\nspec: null\nstatus: {allocatable: {pods: 9}}'
    const { status, stderr } = await call(['plan', '-f', planned, '--nodes', '-'], { input: node })
    assert.equal(status, 0, stderr)
  })
})

describe('an unexpected error', () => {
  /** A standard output that fails, as on a full disk. */
  async function onFailingOutput(args: readonly string[]): Promise<{ status: number; stderr: string }> {
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
    const status = await onTerminal({ stdin: process.stdin, stdout, stderr }, () => run(args))
    return { status, stderr: text }
  }

  for (const args of [['crds'], ['hash', '-f', good], ['validate', '-f', good], ['render', '-f', good]])
    it(`ends grove ${args[0]} with one line and exit code 1`, async () => {
      const { status, stderr } = await onFailingOutput(args)
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^(?:hint: .*\n)?grove: unexpected error: no space left \(set GROVE_DEBUG=1 to print the stack trace\)\n$/,
      )
    })

  it('has its stack trace printed on request', async () => {
    process.env.GROVE_DEBUG = '1'
    try {
      assert.match((await onFailingOutput(['crds'])).stderr, /no space left\non device\n(?:.*\n)* +at /)
    } finally {
      delete process.env.GROVE_DEBUG
    }
  })
})
