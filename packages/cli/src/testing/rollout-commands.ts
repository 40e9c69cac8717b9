// SPDX-License-Identifier: Apache-2.0

// Tests `grove rollout` on any cluster with the operator: the embedded one and a real one.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import { call } from './grove-call.ts'

const manifest = (image: string, cause: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: web, annotations: {kubernetes.io/change-cause: ${cause}}}
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec:
          roleName: front
          replicas: 2
          minAvailable: 1
          podSpec: {containers: [{name: main, image: ${image}}]}
`

export function testRollout(kubeconfig: () => string, namespaces: () => Promise<string>): void {
  async function prepare() {
    const namespace = await namespaces()
    const run = (args: string, input = '') =>
      call([...args.split(' '), '-n', namespace, '--kubeconfig', kubeconfig()], { input })
    const ok = async (args: string, input?: string) => {
      const { status, stdout, stderr } = await run(args, input)
      assert.equal(status, 0, `grove ${args}: ${stdout}${stderr}`)
      return stdout
    }
    const set = async () => JSON.parse(await ok('get podcliqueset web -o json')) as PodCliqueSet
    return { run, ok, set }
  }

  const imageOf = ({ spec }: PodCliqueSet) => spec.template.cliques[0]!.spec.podSpec.containers[0]!.image
  const watch = 'rollout status web --watch --timeout 60'

  it('status --watch prints the pending steps and exits when the rollout is complete', async () => {
    const { ok, run, set } = await prepare()
    await ok('apply -f -', manifest('registry.example/app:1', 'first'))
    assert.match(await ok(watch), /podcliqueset "web" successfully rolled out\n$/)
    assert.equal((await run('rollout status web')).status, 0)
    // The pods keep a foreign scheduling gate, so the rollout cannot complete until the next edit removes it.
    const gated = manifest('registry.example/app:2', 'second').replace(
      'podSpec: {',
      'podSpec: {schedulingGates: [{name: example.com/hold}], ',
    )
    await ok('apply -f -', gated)
    const stuck = await run('rollout status web')
    assert.equal(stuck.status, 1)
    assert.match(stuck.stdout, /^Waiting for rollout to finish: /)
    const impatient = await run('rollout status web --watch --timeout 1')
    assert.equal(impatient.status, 1)
    assert.match(impatient.stdout, /0 of 1 replicas are updated: /)
    assert.match(impatient.stderr, /timed out waiting for web/)
    await ok('apply -f -', manifest('registry.example/app:3', 'third'))
    assert.match(await ok(watch), /podcliqueset "web" successfully rolled out\n$/)
    assert.equal(imageOf(await set()), 'registry.example/app:3')
  })

  it('a set may be named TYPE/NAME, and --timeout may be a duration', async () => {
    const { ok } = await prepare()
    await ok('apply -f -', manifest('registry.example/app:1', 'first'))
    await ok('rollout status pcs/web --watch --timeout 5m')
    const all = await ok('rollout history podcliqueset/web')
    assert.equal(await ok('rollout history podcliquesets.grove.io/web --revision 0'), all)
  })

  it('history, diff and undo use revision numbers', async () => {
    const { ok, run, set } = await prepare()
    await ok('apply -f -', manifest('registry.example/app:1', 'first'))
    await ok(watch)
    await ok('apply -f -', manifest('registry.example/app:2', 'second'))
    await ok(watch)
    const lines = (await ok('rollout history web')).trimEnd().split('\n')
    assert.equal(lines[0], 'podcliqueset.grove.io/web')
    assert.match(lines[1]!, /^REVISION +HASH +CREATED +CHANGE-CAUSE$/)
    assert.match(lines[2]!, /^1 +z2-[0-9a-f]{24} .* first$/)
    assert.match(lines[3]!, /^2 \* +z2-[0-9a-f]{24} .* second$/)
    assert.equal(lines.length, 4)
    assert.match(await ok('rollout history web --revision 1'), /revision #1\ntemplate:\n.*app:1\n/s)

    const difference = await run('rollout diff web')
    assert.equal(difference.status, 1)
    assert.match(
      difference.stdout,
      /containers\[main\]\.image: registry\.example\/app:1 → registry\.example\/app:2/,
    )
    assert.equal(
      (await run('rollout diff web --revision 2')).stdout,
      'revision 2 → current web: no pods restart\n',
    )

    // A rollback does not change replicas, which are scaled independently.
    await ok('apply -f -', manifest('registry.example/app:2', 'second').replace('replicas: 2', 'replicas: 3'))
    const dry = await ok('rollout undo web --dry-run')
    assert.match(
      dry,
      /^podcliqueset\.grove\.io\/web rolled back to revision 1 \(dry run\)\n.*front restarts/s,
    )
    assert.equal(imageOf(await set()), 'registry.example/app:2')
    assert.equal(await ok('rollout undo web'), 'podcliqueset.grove.io/web rolled back to revision 1\n')
    await ok(watch)
    const after = await set()
    assert.equal(imageOf(after), 'registry.example/app:1')
    assert.equal(after.spec.template.cliques[0]!.spec.replicas, 3)
    assert.equal(after.metadata.annotations?.['kubernetes.io/change-cause'], 'second')
    const numbers = JSON.parse(await ok('rollout history web -o json')) as {
      number: number
      current: boolean
    }[]
    assert.deepEqual(
      numbers.map(({ number, current }) => [number, current]),
      [
        [2, false],
        [3, true],
      ],
    )
    assert.match(await ok('rollout undo web --to-revision 3'), /skipped rollback/)
  })

  it('restart replaces all pods, pause holds an update, and resume continues it', async () => {
    const { ok, run, set } = await prepare()
    await ok('apply -f -', manifest('registry.example/app:1', 'first'))
    await ok(watch)
    const pods = async () =>
      (await ok('get pods -o name -l app.kubernetes.io/part-of=web')).trimEnd().split('\n')
    const before = await pods()
    assert.equal(
      await ok('rollout restart web --dry-run=server'),
      'podcliqueset.grove.io/web restarted (server dry run)\n',
    )
    assert.equal((await set()).spec.template.cliques[0]!.annotations, undefined)
    assert.equal(await ok('rollout restart web'), 'podcliqueset.grove.io/web restarted\n')
    const { annotations } = (await set()).spec.template.cliques[0]!
    assert.match(annotations?.['kubectl.kubernetes.io/restartedAt'] ?? '', /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/)
    await ok(watch)
    const after = await pods()
    assert.equal(after.length, 2)
    assert.deepEqual(
      after.filter(pod => before.includes(pod)),
      [],
    )

    assert.equal(await ok('rollout pause web'), 'podcliqueset.grove.io/web paused\n')
    await ok('apply -f -', manifest('registry.example/app:2', 'second'))
    // The field belongs to the field manager of the apply if the manifest contains it. It does not.
    assert.equal((await set()).spec.updateStrategy?.paused, true)
    const paused = await run('rollout status web')
    assert.equal(paused.status, 1)
    const again = await run('rollout pause web')
    assert.deepEqual([again.status, again.stderr], [1, 'grove: podcliqueset "web" is already paused\n'])
    const restarted = await run('rollout restart web')
    assert.equal(restarted.status, 1)
    assert.match(
      restarted.stderr,
      /cannot restart web while its updates are paused; run `grove rollout resume web`/,
    )
    assert.equal(await ok('rollout resume web'), 'podcliqueset.grove.io/web resumed\n')
    assert.match(await ok(watch), /successfully rolled out/)
    const resumed = await run('rollout resume web')
    assert.deepEqual([resumed.status, resumed.stderr], [1, 'grove: podcliqueset "web" is not paused\n'])
  })

  it('missing objects cause one message', async () => {
    const { ok, run } = await prepare()
    const table: [string, RegExp][] = [
      ['rollout history none', /there is no PodCliqueSet none in namespace \S+; there is web/],
      ['rollout history pod/web', /Expected NAME or pcs\/NAME/],
      ['rollout status web --timeout soon', /--timeout must be a number of seconds or a duration such as 5m/],
      ['rollout restart none', /there is no PodCliqueSet none in namespace \S+; there is web/],
      ['rollout pause none', /there is no PodCliqueSet none/],
      ['rollout undo web', /web has no earlier revision in its history/],
      ['rollout undo web --to-revision 7', /web has no revision 7, only 1/],
      ['rollout diff web --revision x', /--revision must be a whole number/],
    ]
    await ok('apply -f -', manifest('registry.example/app:1', 'first'))
    await ok(watch)
    for (const [args, pattern] of table) {
      const { status, stderr } = await run(args)
      assert.notEqual(status, 0, args)
      assert.match(stderr, pattern)
    }
  })

  it('control characters of an object are printed as text by every command', async () => {
    const { ok, run } = await prepare()
    const evil = '"\\e]0;owned\\a\\e[2J"'
    const withMessage = (image: string) =>
      manifest(image, evil).replace('name: main,', `name: main, terminationMessagePath: ${evil},`)
    await ok('apply -f -', withMessage('registry.example/app:1'))
    await ok(watch)
    await ok('apply -f -', withMessage('registry.example/app:2'))
    await ok(watch)
    const texts = [
      await ok('rollout history web'),
      await ok('rollout history web --revision 1'),
      (await run('rollout diff web --revision 1')).stdout,
      await ok('get podcliqueset web -o yaml'),
      await ok('get podcliqueset web -o json'),
      await ok('tree web'),
      (await run(`get podcliqueset ${JSON.parse(evil.replaceAll(/\\[ea]/g, '\\u001b'))}`)).stderr,
    ]
    for (const text of texts) assert.doesNotMatch(text, /(?!\n)\p{Cc}/u)
    assert.match(texts[0]!, /\\x1b\]0;owned\\x07\\x1b\[2J/)
  })
}
