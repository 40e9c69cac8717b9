// SPDX-License-Identifier: Apache-2.0

// Tests `grove tree` and `grove status` on any cluster with the operator.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util'
import { call } from './grove-call.ts'
import { startGrove } from './grove-process.ts'

const clique = (name: string, replicas: number, requests: object = {}) => ({
  name,
  spec: {
    roleName: name,
    replicas,
    minAvailable: 1,
    podSpec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources: { requests } }] },
  },
})

/** A clique that is scheduled, and a scaling group that never fits. */
const halfSet = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodCliqueSet',
  metadata: { name: 'half' },
  spec: {
    replicas: 1,
    template: {
      cliques: [clique('web', 2), clique('big', 1, { cpu: '100000' })],
      podCliqueScalingGroups: [{ name: 'heavy', cliqueNames: ['big'], replicas: 2, minAvailable: 1 }],
    },
  },
}

const patienceMs = 60_000

export function testSetCommands(kubeconfig: () => string, namespaces: () => Promise<string>): void {
  async function prepare() {
    const namespace = await namespaces()
    const where = ['-n', namespace, '--kubeconfig', kubeconfig()]
    const run = (args: string, isTTY = false) => call([...args.split(' '), ...where], { isTTY })
    const validated = await call(['validate', '-o', 'json', '-f', '-'], {
      input: JSON.stringify({ ...halfSet, metadata: { name: 'half', namespace } }),
    })
    const [{ object }] = JSON.parse(validated.stdout)
    const applied = await call(['apply', '-f', '-', ...where], { input: JSON.stringify(object) })
    assert.equal(applied.status, 0, applied.stderr)
    const until = async (args: string, pattern: RegExp, status?: number) => {
      for (const end = Date.now() + patienceMs; ; await new Promise(done => setTimeout(done, 100))) {
        const result = await run(args)
        if (pattern.test(result.stdout) && (status ?? result.status) === result.status) return result
        assert.ok(Date.now() < end, `grove ${args} never showed ${pattern}: ${result.stdout}${result.stderr}`)
      }
    }
    await until('tree half', /web {2}2\/2 ready.*unschedulable.*gated/s)
    return { where, run, until }
  }

  it('tree and status show objects and waiting reasons, as text, as JSON, in colour, and while they change', async () => {
    const { where, run, until } = await prepare()
    const { status, stdout } = await run('tree half')
    assert.equal(status, 0)
    const age = String.raw`\d+s`
    const line = (text: string) => assert.match(stdout, new RegExp(`^${text}$`, 'm'))
    line(`PodCliqueSet half {2}0/1 available {2}${age}`)
    line('└─ replica 0 {2}PodGang half-0.*')
    line(` {3}├─ PodClique half-0-web {2}2/2 ready {2}${age}`)
    line(` {3}└─ PodCliqueScalingGroup half-0-heavy {2}0/2 available {2}${age}`)
    line(' {6}├─ group replica 0 {2}in the base gang')
    line(` {6}│ {2}└─ PodClique half-0-heavy-0-big {2}0/1 ready {2}1 unschedulable \\[\\d\\] {2}${age}`)
    line(` {6}└─ group replica 1 {2}PodGang half-0-heavy-0.*`)
    line(
      ` {9}└─ PodClique half-0-heavy-1-big {2}0/1 ready {2}1 gated until base gang half-0 is ready {2}${age}`,
    )
    line('\\[1\\] .*Insufficient cpu.*')
    assert.ok(!stdout.includes('\x1b'))

    assert.ok((await run('tree half', true)).stdout.includes('\x1b[32m2/2 ready\x1b[39m'))
    const data = JSON.parse((await run('tree half -o json')).stdout)
    assert.deepEqual([data.apiVersion, data.kind], ['cli.grove.io/v1alpha1', 'Tree'])
    const { root } = data
    assert.deepEqual([root.kind, root.replicas, root.availableReplicas], ['PodCliqueSet', 1, 0])
    const [replica] = root.children
    assert.equal(replica.podGang.name, 'half-0')
    assert.equal(replica.children[0].readyReplicas, 2)
    const [wait] = replica.children[1].children[0].children[0].waitingPods
    assert.deepEqual([wait.pods, wait.reason], [1, 'Unschedulable'])
    assert.match(wait.message, /^unschedulable: .*Insufficient cpu/)

    // The operator writes statuses with a delay.
    const result = await until(
      'status half',
      /^ {2}PodGang half-0: Unschedulable since \S+, 1 pod waits: PodClique half-0-heavy-0-big: /m,
    )
    assert.equal(result.status, 1)
    assert.match(result.stdout, /^half: 0\/1 replicas available, [01]\/1 on revision /)
    assert.match(
      result.stdout,
      /^ {2}PodGang half-0-heavy-0: BaseGangNotScheduled since \S+, 1 pod waits: waits until base gang half-0 is scheduled$/m,
    )
    assert.equal(result.stdout.match(/Insufficient cpu/g)?.length, 1, 'each cause is printed once')
    const summary = JSON.parse((await run('status half -o json')).stdout)
    assert.deepEqual([summary.apiVersion, summary.kind], ['cli.grove.io/v1alpha1', 'Status'])
    assert.deepEqual([summary.converged, summary.replicas, summary.availableReplicas], [false, 1, 0])
    assert.deepEqual(summary.podGangs.map(({ name }: { name: string }) => name).sort(), [
      'half-0',
      'half-0-heavy-0',
    ])
    assert.deepEqual(summary.waitingPods.map(({ podClique }: { podClique: string }) => podClique).sort(), [
      'half-0-heavy-0-big',
      'half-0-heavy-1-big',
    ])
    // The set is reported as stalled after some seconds, with the same cause and not once more.
    const stalled = await until(
      'status half',
      /^half: .*, stalled since \S+\n {2}PodGang half-0: Unschedulable /,
    )
    assert.equal(stalled.stdout.match(/Insufficient cpu/g)?.length, 1, 'each cause is printed once')
    const { stdout: document } = await run('status half -o json')
    const { stalled: condition, causes } = JSON.parse(document)
    assert.equal(condition.reason, 'GangUnschedulable')
    assert.deepEqual(causes[0].objects, [{ kind: 'PodGang', name: 'half-0' }])
    assert.equal(causes[0].since < condition.lastTransitionTime, true)
    const overview = await run('status -A')
    assert.equal(overview.status, 1)
    assert.match(
      overview.stdout,
      /^NAMESPACE {3,}NAME {3,}AVAILABLE {3}UPDATED {3}PODS READY {3}AGE {3,}CAUSE\n/,
    )
    const row = new RegExp(
      `^${where[1]} {3,}half {3,}0/1 {3,}\\d/1 {3,}2/4 {3,}\\d+s {3,}Unschedulable$`,
      'm',
    )
    assert.match(overview.stdout, row)
    assert.match(
      overview.stdout,
      new RegExp(`^${where[1]}/half: PodGang half-0: Unschedulable since \\S+, 1 pod waits: `, 'm'),
    )
    const list = JSON.parse((await run('status -A -o json')).stdout)
    assert.deepEqual([list.apiVersion, list.kind], ['cli.grove.io/v1alpha1', 'StatusList'])
    assert.ok(
      list.items.some(({ metadata }: { metadata: object }) => isDeepStrictEqual(metadata, summary.metadata)),
    )

    assert.match((await run('tree')).stdout, /^PodCliqueSet half /)
    const typo = await run('tree hlf')
    assert.equal(typo.status, 1)
    assert.match(typo.stderr, /^grove: there is no PodCliqueSet hlf in namespace \S+; there is half\n$/)
    const frames = call(['tree', 'half', '--watch', ...where], { isTTY: true })
    const watching = startGrove(['tree', 'half', '--watch', ...where])
    try {
      await watching.shows(/half-0-web {2}2\/2 ready/)
      assert.equal((await run('scale pclq half-0-web --replicas=3')).status, 0)
      await watching.shows(/half-0-web {2}3\/3 ready/)
    } finally {
      watching.child.kill()
      await watching.ended
    }
    await run('scale pcs half --replicas=0')
    await until('status half', /^half: 0\/0/, 0)
    const statusWatch = startGrove(['status', 'half', '--watch', ...where])
    await statusWatch.shows(/^half: 0\/0 replicas available/m)
    assert.equal((await run('delete pcs half')).status, 0)
    const drawn = await frames
    assert.deepEqual([drawn.status, drawn.stderr], [0, ''])
    const pictures = stripVTControlCharacters(drawn.stdout.replaceAll(/\p{Cc}\[\d+A/gu, '\f')).split('\f')
    assert.match(pictures[0]!, /^PodCliqueSet half {2}0\/1 available {2}\d+s\n└─ replica 0 /)
    assert.ok(pictures.some(picture => /half-0-web {2}3\/3 ready/.test(picture)))
    assert.equal(pictures.at(-1), 'PodCliqueSet half was deleted\n')
    assert.equal(await statusWatch.ended, 1)
    assert.match(statusWatch.stdout(), /\nPodCliqueSet half was deleted\n$/)
  })

  it('a missing set, and a missing namespace', async () => {
    const namespace = await namespaces()
    for (const args of [
      ['tree', 'no'],
      ['tree', 'PodCliqueSet/no'],
      ['status', 'pcs/no'],
      ['status', 'no'],
      ['tree', 'no', '-n', 'nowhere'],
    ]) {
      const at = args.includes('-n') ? [] : ['-n', namespace]
      const { status, stdout, stderr } = await call([...args, ...at, '--kubeconfig', kubeconfig()])
      assert.deepEqual([status, stdout], [1, ''])
      assert.equal(stderr, `grove: there is no PodCliqueSet no in namespace ${args[3] ?? namespace}\n`)
    }
    const none = await call(['status', '-n', namespace, '--kubeconfig', kubeconfig()])
    assert.deepEqual(
      [none.status, none.stderr],
      [
        1,
        `grove: there is no PodCliqueSet in namespace ${namespace}; \`grove status -A\` shows those of all namespaces\n`,
      ],
    )
  })
}
