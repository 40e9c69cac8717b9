// SPDX-License-Identifier: Apache-2.0

// `grove up` as a process: what it says, what it leaves behind, and what it says when it cannot start.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { call } from '../testing/grove-call.ts'
import { grove, type RunningGrove, startGrove } from '../testing/grove-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'grove-up-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A person's machine: a home without a kubeconfig, and a place for temporary files. */
function machine() {
  const home = mkdtempSync(join(folder, 'home-'))
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  Object.assign(process.env, { HOME: home, TMPDIR: temporary })
  delete process.env.KUBECONFIG
  delete process.env.KUBERNETES_SERVICE_HOST
  return {
    home,
    run: (...words: string[]) => call(words),
    start: (...words: string[]) => startGrove(words),
    left: () => readdirSync(temporary),
  }
}

async function ended(up: RunningGrove, signal: NodeJS.Signals): Promise<number | null> {
  up.child.kill(signal)
  return up.ended
}

describe('grove up', () => {
  it('shows a workload coming to life, and leaves nothing', async () => {
    const { left } = machine()
    const { status, stdout, stderr } = await grove(['up', '--demo', '--exit-when-ready', '--nodes', '20'])
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(
      stdout,
      /^A Kubernetes with 20 simulated nodes and Grove is up at https:\/\/127\.0\.0\.1:\d+\n/,
    )
    assert.match(stdout, /^PodCliqueSet llm {2}0\/1 available$/m)
    assert.match(stdout, /starts after llm-0-prefill-0-pleader \(0\/1 ready\)|pworker {2}4\/4 ready/)
    assert.match(stdout, /\nllm is ready\. The set is \S*disaggregated\/podcliqueset\.yaml\.\n\n$/)
    assert.ok(!stdout.includes('\x1b'))
    assert.deepEqual(left(), [])
  })

  it('says what to do next, and goes on showing the workload on a terminal until Ctrl-C', async () => {
    const { run, left } = machine()
    const seen = new Map<RegExp, () => void>()
    const shows = (pattern: RegExp) => new Promise<void>(resolve => seen.set(pattern, resolve))
    const onOutput = (text: string) => {
      for (const [pattern, resolve] of seen) if (pattern.test(text)) resolve()
    }
    const ready = shows(/llm is ready\./)
    const scaled = shows(/llm-0-decode {2}\S*4\/4 available/)
    const gone = shows(/PodCliqueSet llm is gone/)
    const running = call(['up', '--demo'], { isTTY: true, onOutput })
    await ready
    assert.equal((await run('scale', 'pcsg', 'llm-0-decode', '--replicas=4')).status, 0)
    await scaled
    assert.equal((await run('delete', 'pcs', 'llm')).status, 0)
    await gone
    process.emit('SIGINT')
    const { status, stdout, stderr } = await running
    assert.deepEqual([status, stderr], [0, ''])
    const frames = stdout.split(/\p{Cc}\[\d+A\p{Cc}\[0J/u).map(stripVTControlCharacters)
    const told = frames.findIndex(frame => /^\nllm is ready\./.test(frame))
    assert.match(
      frames[told]!,
      /^\nllm is ready\. In another terminal:\n\n {2}export KUBECONFIG=\S+\n {2}kubectl get pcsg,/,
    )
    assert.match(frames[told]!, /Ctrl-C ends the cluster\.\n\nPodCliqueSet llm {2}1\/1 available/)
    // What was said stays above; only the tree is drawn again, and now it has ages.
    assert.match(frames[told + 1]!, /^PodCliqueSet llm {2}1\/1 available {2}\d+s\n└─ replica 0 /)
    assert.deepEqual(left(), [])
  })

  it('knows the workloads of the playground by name, with what they need beside them', async () => {
    const { left } = machine()
    const words = ['up', '--demo', 'nvlink', '--exit-when-ready', '--nodes', '8']
    const { status, stdout, stderr } = await grove(words)
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /\nbig is ready\./)
    assert.match(stdout, /The set is \S*nvlink\/podcliqueset\.yaml/)
    assert.deepEqual(left(), [])
  })

  it('is found by the other commands, beside a second one; machines die and come; Ctrl-C ends it', async () => {
    const { run, start, left, home } = machine()
    const first = start('up', '--nodes', '1')
    await first.shows(/kubectl get nodes/)
    const own = join(home, 'second.kubeconfig')
    const second = start('up', '--nodes', '2', '--kubeconfig', own)
    await second.shows(/kubectl get nodes/)
    for (const words of [[], ['--local']]) {
      const found = await run('get', 'nodes', '-o', 'name', ...words)
      assert.equal(found.stdout, 'node/node-0\nnode/node-1\n')
      assert.match(found.stderr, /^2 clusters run here; this is the youngest, \S+\n$/)
    }
    assert.equal(
      (await run('get', 'nodes', '-o', 'name', '--kubeconfig', own)).stdout,
      'node/node-0\nnode/node-1\n',
    )
    assert.equal(await ended(second, 'SIGTERM'), 0)
    assert.equal((await run('get', 'nodes', '--local', '-o', 'name')).stdout, 'node/node-0\n')
    assert.match((await run('node', 'kill', 'node-0')).stdout, /^node\/node-0 is dead: /)
    const annotation = '"simulate.grove.io/stopped": "true"'
    assert.ok((await run('get', 'node', 'node-0', '-o', 'json')).stdout.includes(annotation))
    assert.equal((await run('node', 'restore', 'node-0')).stdout, 'node/node-0 is back\n')
    assert.ok(!(await run('get', 'node', 'node-0', '-o', 'json')).stdout.includes(annotation))
    assert.equal(
      (await run('node', 'add', 'more', '--like', 'node-0', '--labels', 'a=b')).stdout,
      'node/more added\n',
    )
    const added = JSON.parse((await run('get', 'node', 'more', '-o', 'json')).stdout)
    assert.equal(added.status.allocatable['nvidia.com/gpu'], '8')
    assert.deepEqual(
      [added.metadata.labels.a, added.metadata.labels['kubernetes.io/hostname']],
      ['b', 'more'],
    )
    const again = await run('node', 'add', 'more')
    assert.deepEqual([again.status, again.stderr], [1, 'grove: node more is there already\n'])
    const missing = await run('node', 'kill', 'nope')
    assert.deepEqual(
      [missing.status, missing.stderr],
      [1, 'grove: Error from server (NotFound): nodes "nope" not found\n'],
    )
    // The terminal and a parent both pass Ctrl-C on.
    first.child.kill('SIGINT')
    assert.equal(await ended(first, 'SIGINT'), 0)
    assert.deepEqual(left(), [])
    const alone = await run('get', 'nodes')
    assert.equal(alone.status, 2)
    assert.match(alone.stderr, /there is no kubeconfig, and no `grove up` runs here/)
  })

  it('with --data has everything back after kill -9, and clears away what that left', async () => {
    const { run, start, left, home } = machine()
    const data = join(home, 'data')
    const first = start('up', '--nodes', '1', '--data', data)
    await first.shows(/kubectl get nodes/)
    const manifest = join(home, 'map.yaml')
    writeFileSync(manifest, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {a: b}\n')
    assert.equal((await run('apply', '-f', manifest)).stdout, 'configmap/kept created\n')
    const busy = await run('up', '--data', data)
    assert.equal(busy.status, 2)
    assert.match(
      busy.stderr,
      /^grove: --data .*: another `grove up` uses it; end that one, or name another folder\n$/,
    )
    await ended(first, 'SIGKILL')
    const second = start('up', '--nodes', '7', '--data', data)
    await second.shows(/^A Kubernetes with 1 simulated nodes/m)
    assert.equal((await run('get', 'cm', 'kept', '-o', 'name')).stdout, 'configmap/kept\n')
    assert.equal(await ended(second, 'SIGINT'), 0)
    assert.deepEqual(left(), [])
  })

  it('says what is wrong before anything starts', async () => {
    const { run, left, home } = machine()
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(done => taken.once('listening', done))
    const { port } = taken.address() as { port: number }
    const file = (name: string, text: string) => {
      writeFileSync(join(home, name), text)
      return join(home, name)
    }
    const data = (name: string, make: (path: string) => void) => {
      mkdirSync(join(home, name))
      make(join(home, name, 'cluster.db'))
      return join(home, name)
    }
    const other = file('other.kubeconfig', 'contexts: [{name: production, context: {cluster: p}}]\n')
    const newer = data('newer', path => {
      const database = new DatabaseSync(path)
      database.exec('PRAGMA user_version = 99')
      database.close()
    })
    const damaged = data('damaged', path => writeFileSync(path, 'this is no database, and never was one'))
    const table: [words: string[], pattern: RegExp][] = [
      [['--port', String(port)], /port \d+ is taken; name another with --port, or leave it out/],
      [['--port', '70000'], /--port must be below 65536/],
      [['--nodes', 'many'], /--nodes must be a whole number, not "many"/],
      [['--nodes', '999999'], /--nodes 999999 is too many/],
      [['--nodes', '3', '--topology', 'x'], /leave --nodes and --gpus out/],
      [['--topology', join(home, 'none.yaml')], /cannot read .*none\.yaml: no such file/],
      [['--exit-when-ready'], /waits for the workload of --demo/],
      [['--demo', home], /cannot read .*: it is a directory/],
      [
        ['--demo', file('pod.yaml', 'kind: Pod\napiVersion: v1\n')],
        /no PodCliqueSet in .*pod\.yaml, only Pod/,
      ],
      [['--config', file('config.yaml', 'kind: Wrong\n')], /config\.yaml: /],
      [['--kubeconfig', join(home, 'no', 'such', 'folder')], /there is no folder/],
      [['--kubeconfig', home], /it is a folder; name a file in it/],
      [['--kubeconfig', other], /the file holds other clusters and would be overwritten/],
      [['--data', other], /it is not a folder/],
      [['--data', newer], /has the format 99, this program reads \d+/],
      [['--data', damaged], /cluster\.db is damaged .*; restore it from a copy, or remove .* to begin anew/],
      [['--nodez', '3'], /unknown option '--nodez'\n\(Did you mean --nodes\?\)/],
      [['extra'], /too many arguments/],
    ]
    for (const [words, pattern] of table) {
      const { status, stdout, stderr } = await run('up', ...words)
      assert.deepEqual([status, stdout], [2, ''], `${words}: ${stdout}${stderr}`)
      assert.match(stderr, pattern)
      assert.doesNotMatch(stderr, /^ +at /m, 'no stack')
    }
    taken.close()
    assert.deepEqual(left(), [])
  })

  it('says so when the kubeconfig may not be written', {
    skip: process.getuid?.() === 0 && 'root may write everywhere',
  }, async () => {
    const { run, home } = machine()
    const locked = join(home, 'locked')
    mkdirSync(locked)
    chmodSync(locked, 0o500)
    const { status, stderr } = await run('up', '--kubeconfig', join(locked, 'kubeconfig'))
    assert.equal(status, 2)
    assert.match(stderr, /it may not be written; name another file/)
    assert.ok(!existsSync(join(locked, 'kubeconfig')))
  })
})
