// SPDX-License-Identifier: Apache-2.0

// Runs `grove up` as a process: its output, the files that it leaves behind, and its errors.
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

/** A user's machine: a home directory without a kubeconfig, and a temporary directory. */
function machine() {
  const home = mkdtempSync(join(folder, 'home-'))
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  Object.assign(process.env, { HOME: home, TMPDIR: temporary })
  delete process.env.KUBECONFIG
  delete process.env.KUBERNETES_SERVICE_HOST
  return {
    home,
    run: (...args: string[]) => call(args),
    start: (...args: string[]) => startGrove(args),
    left: () => readdirSync(temporary),
  }
}

async function ended(up: RunningGrove, signal: NodeJS.Signals): Promise<number | null> {
  up.child.kill(signal)
  return up.ended
}

describe('grove up', () => {
  it('shows a workload until it is ready, and leaves no files', async () => {
    const { left } = machine()
    const { status, stdout, stderr } = await grove(['up', '--demo', '--exit-when-ready', '--nodes', '20'])
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(
      stdout,
      /^A Kubernetes cluster with 20 simulated nodes and Grove is running at https:\/\/127\.0\.0\.1:\d+\n/,
    )
    assert.match(stdout, /^PodCliqueSet llm {2}0\/1 available$/m)
    assert.match(stdout, /waits for llm-0-prefill-0-pleader \(0\/1 ready\) to be ready|pworker {2}4\/4 ready/)
    assert.match(stdout, /\nllm is ready\. Its manifest is \S*disaggregated\/podcliqueset\.yaml\.\n\n$/)
    assert.ok(!stdout.includes('\x1b'))
    assert.deepEqual(left(), [])
  })

  it('prints the next commands, and shows the workload on a terminal until Ctrl-C', async () => {
    const { run, left } = machine()
    const seen = new Map<RegExp, () => void>()
    const shows = (pattern: RegExp) => new Promise<void>(resolve => seen.set(pattern, resolve))
    const onOutput = (text: string) => {
      for (const [pattern, resolve] of seen) if (pattern.test(text)) resolve()
    }
    const ready = shows(/llm is ready\./)
    const scaled = shows(/llm-0-decode {2}\S*4\/4 available/)
    const gone = shows(/PodCliqueSet llm was deleted\. To create it again: /)
    const running = call(['up', '--demo'], { isTTY: true, onOutput })
    await ready
    assert.equal((await run('scale', 'pcsg', 'llm-0-decode', '--replicas=4')).status, 0)
    await scaled
    const doctor = await run('doctor')
    assert.equal(doctor.status, 0, doctor.stdout)
    assert.match(doctor.stdout, /^✓ Shared nodes: grove-scheduler shares no extended resource of a node/m)
    assert.equal((await run('delete', 'pcs', 'llm')).status, 0)
    await gone
    process.emit('SIGINT')
    const { status, stdout, stderr } = await running
    assert.deepEqual([status, stderr], [0, ''])
    const frames = stdout.split(/\p{Cc}\[\d+A/u).map(stripVTControlCharacters)
    const readyFrame = frames.findIndex(frame => /^\nllm is ready\./.test(frame))
    assert.match(
      frames[readyFrame]!,
      /^\nllm is ready\. In another terminal:\n\n {2}export KUBECONFIG=\S+\n {2}# list its objects\n {2}kubectl get pcsg,/,
    )
    assert.match(
      frames[readyFrame]!,
      /Press Ctrl-C to stop the cluster\.\n\nPodCliqueSet llm {2}1\/1 available/,
    )
    // Earlier output stays above. Only the tree is redrawn, now with ages.
    assert.match(frames[readyFrame + 1]!, /^PodCliqueSet llm {2}1\/1 available {2}\d+s\n└─ replica 0 /)
    assert.deepEqual(left(), [])
  })

  it('finds the workloads of the playground by name, with the objects that they need', async () => {
    const { left } = machine()
    const args = ['up', '--demo', 'nvlink', '--exit-when-ready', '--nodes', '8']
    const { status, stdout, stderr } = await grove(args)
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /\nbig is ready\./)
    assert.match(stdout, /Its manifest is \S*nvlink\/podcliqueset\.yaml/)
    assert.deepEqual(left(), [])
  })

  it('is found by other commands, also while a second cluster runs; nodes can be killed and added; Ctrl-C stops it', async () => {
    const { run, start, left, home } = machine()
    const first = start('up', '--nodes', '1')
    await first.shows(/kubectl get nodes/)
    const own = join(home, 'second.kubeconfig')
    const second = start('up', '--nodes', '2', '--kubeconfig', own)
    await second.shows(/kubectl get nodes/)
    for (const args of [[], ['--local']]) {
      const found = await run('get', 'nodes', '-o', 'name', ...args)
      assert.equal(found.stdout, 'node/node-0\nnode/node-1\n')
      assert.match(found.stderr, /^2 local clusters are running; using the newest, \S+\n$/)
    }
    assert.equal(
      (await run('get', 'nodes', '-o', 'name', '--kubeconfig', own)).stdout,
      'node/node-0\nnode/node-1\n',
    )
    assert.equal(await ended(second, 'SIGTERM'), 0)
    assert.equal((await run('get', 'nodes', '--local', '-o', 'name')).stdout, 'node/node-0\n')
    assert.match((await run('node', 'kill', 'node-0')).stdout, /^node\/node-0 stopped\. /)
    const annotation = '"simulate.grove.io/stopped": "true"'
    assert.ok((await run('get', 'node', 'node-0', '-o', 'json')).stdout.includes(annotation))
    assert.equal(
      (await run('node', 'kill', 'node-0', '--now')).stdout,
      'node/node-0 stopped and NotReady; 0 pods deleted\n',
    )
    assert.match((await run('get', 'nodes')).stdout, /^node-0 +NotReady/m)
    assert.equal((await run('node', 'restore', 'node-0')).stdout, 'node/node-0 started again\n')
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
    assert.deepEqual([again.status, again.stderr], [1, 'grove: node more exists already\n'])
    const unreadable = await run('node', 'add', 'other', '--memory', 'lots')
    assert.deepEqual(
      [unreadable.status, unreadable.stderr],
      [2, 'grove: --memory must be a quantity such as 64 or 512Gi, not "lots"\n'],
    )
    const missing = await run('node', 'kill', 'nope')
    assert.deepEqual(
      [missing.status, missing.stderr],
      [1, 'grove: Error from server (NotFound): nodes "nope" not found\n'],
    )
    // The terminal and a parent process both forward Ctrl-C.
    first.child.kill('SIGINT')
    assert.equal(await ended(first, 'SIGINT'), 0)
    assert.deepEqual(left(), [])
    const alone = await run('get', 'nodes')
    assert.equal(alone.status, 2)
    assert.match(alone.stderr, /there is no kubeconfig and no running `grove up`/)
  })

  it('with --data restores all objects after kill -9, and removes files of the killed process', async () => {
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
      /^grove: --data .*: another `grove up` uses it; stop that one, or use another folder\n$/,
    )
    await ended(first, 'SIGKILL')
    const second = start('up', '--nodes', '7', '--data', data)
    await second.shows(/^A Kubernetes cluster with 1 simulated node /m)
    assert.equal((await run('get', 'cm', 'kept', '-o', 'name')).stdout, 'configmap/kept\n')
    assert.equal(await ended(second, 'SIGINT'), 0)
    assert.deepEqual(left(), [])
  })

  it('reports wrong options before anything starts', async () => {
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
    const damaged = data('damaged', path => writeFileSync(path, 'this is not a database'))
    const table: [args: string[], pattern: RegExp][] = [
      [['--port', String(port)], /port \d+ is in use; set another --port, or omit it/],
      [['--port', '70000'], /--port must be at most 65535/],
      [['--nodes', 'many'], /--nodes must be a whole number, not "many"/],
      [['--nodes', '999999'], /--nodes 999999 is too many/],
      [['--nodes', '3', '--topology', 'x'], /cannot be combined with --nodes or --gpus/],
      [['--topology', join(home, 'none.yaml')], /cannot read .*none\.yaml: no such file/],
      [['--exit-when-ready'], /--exit-when-ready requires --demo/],
      [['--demo', home], /cannot read .*: it is a directory/],
      [
        ['--demo', file('pod.yaml', 'kind: Pod\napiVersion: v1\n')],
        /no PodCliqueSet in .*pod\.yaml, only Pod/,
      ],
      [['--config', file('config.yaml', 'kind: Wrong\n')], /config\.yaml: /],
      [['--kubeconfig', join(home, 'no', 'such', 'folder')], /no such folder/],
      [['--kubeconfig', home], /it is a folder; use a file in it/],
      [['--kubeconfig', other], /the file contains other clusters and would be overwritten/],
      [['--data', other], /it is not a folder/],
      [['--data', newer], /has the format 99, this program reads \d+/],
      [
        ['--data', damaged],
        /cluster\.db is damaged .*; restore it from a backup, or remove .* to start with an empty cluster/,
      ],
      [['--nodez', '3'], /unknown option '--nodez'\n\(Did you mean --nodes\?\)/],
      [['extra'], /too many arguments/],
    ]
    for (const [args, pattern] of table) {
      const { status, stdout, stderr } = await run('up', ...args)
      assert.deepEqual([status, stdout], [2, ''], `${args}: ${stdout}${stderr}`)
      assert.match(stderr, pattern)
      assert.doesNotMatch(stderr, /^ +at /m, 'no stack')
    }
    taken.close()
    assert.deepEqual(left(), [])
  })

  it('reports that the kubeconfig cannot be written', {
    skip: process.getuid?.() === 0 && 'root may write everywhere',
  }, async () => {
    const { run, home } = machine()
    const locked = join(home, 'locked')
    mkdirSync(locked)
    chmodSync(locked, 0o500)
    const { status, stderr } = await run('up', '--kubeconfig', join(locked, 'kubeconfig'))
    assert.equal(status, 2)
    assert.match(stderr, /it is not writable; use another file/)
    assert.ok(!existsSync(join(locked, 'kubeconfig')))
  })
})
