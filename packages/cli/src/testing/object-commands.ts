// SPDX-License-Identifier: Apache-2.0

// Tests `grove apply|get|delete|scale` on any cluster: the embedded one and a real one.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { call } from './grove-call.ts'
import { startGrove } from './grove-process.ts'

const configMap = (name: string, data: Record<string, string>, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    },
  },
})

const documents = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')

export function testVerbs(kubeconfig: () => string, namespaces: () => Promise<string>): void {
  async function prepare() {
    const namespace = await namespaces()
    const run = (args: string, input = '') =>
      call([...args.split(' '), '-n', namespace, '--kubeconfig', kubeconfig()], { input })
    const ok = async (args: string, input?: string) => {
      const { status, stdout, stderr } = await run(args, input)
      assert.equal(status, 0, `grove ${args}: ${stderr}`)
      return stdout
    }
    const value = async (name: string, key: string) =>
      JSON.parse(await ok(`get configmap ${name} -o json`)).data[key]
    return { namespace, run, ok, value }
  }

  it('apply creates and updates, prints unchanged, and removes fields that the manifest no longer has', async () => {
    const { ok, value } = await prepare()
    assert.equal(
      await ok('apply -f -', documents(configMap('a', { x: '1', y: '2' }))),
      'configmap/a created\n',
    )
    assert.equal(
      await ok('apply -f -', documents(configMap('a', { x: '1', y: '2' }))),
      'configmap/a unchanged\n',
    )
    assert.equal(await ok('apply -f -', documents(configMap('a', { x: '3' }))), 'configmap/a configured\n')
    assert.equal(await value('a', 'x'), '3')
    assert.equal(await value('a', 'y'), undefined)
  })

  it('apply reads several documents, lists and folders, and continues after a rejection', async () => {
    const { ok, run } = await prepare()
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap('b', {}), configMap('c', {})] }
    assert.equal(
      await ok('apply -f -', documents(configMap('a', {}), list)),
      'configmap/a created\nconfigmap/b created\nconfigmap/c created\n',
    )
    const folder = mkdtempSync(join(tmpdir(), 'grove-verbs-'))
    try {
      writeFileSync(join(folder, '1.yaml'), documents(configMap('d', {})))
      writeFileSync(join(folder, '2.json'), JSON.stringify(configMap('e', {})))
      writeFileSync(join(folder, 'README.md'), 'not a manifest')
      assert.equal(await ok(`apply -f ${folder}`), 'configmap/d created\nconfigmap/e created\n')
    } finally {
      rmSync(folder, { recursive: true })
    }
    const some = await run('apply -f -', documents(configMap('Bad_Name', {}), configMap('f', {})))
    assert.equal(some.status, 1)
    assert.equal(some.stdout, 'configmap/f created\n')
    assert.match(
      some.stderr,
      /^standard input:1: Error from server \(Invalid\): ConfigMap "Bad_Name" is invalid: metadata\.name/,
    )
  })

  it('apply rejects unknown fields, unknown kinds and another namespace', async () => {
    const { run, namespace } = await prepare()
    const table: [object, RegExp][] = [
      [{ ...configMap('a', {}), dta: {} }, /Error from server: .*\.dta: field not declared in schema/],
      [
        { apiVersion: 'v1', kind: 'ConfigMapp', metadata: { name: 'a' } },
        /serves no ConfigMapp of v1; did you mean ConfigMap\?/,
      ],
      ...['configmap', 'ConfigMaps', 'ConfgMaps', 'cm'].map((kind): [object, RegExp] => [
        { apiVersion: 'v1', kind, metadata: { name: 'a' } },
        new RegExp(`serves no ${kind} of v1; did you mean ConfigMap\\?`),
      ]),
      [
        { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } },
        /serves no Nothing of v1; are its custom resource definitions installed\?/,
      ],
      [{ apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } }, /it is served as v1/],
      [
        configMap('a', {}, { namespace: 'elsewhere' }),
        new RegExp(`has namespace elsewhere, not ${namespace}`),
      ],
      [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a' } },
        /generateName cannot be applied/,
      ],
    ]
    for (const [object, pattern] of table) {
      const { status, stderr } = await run('apply -f -', documents(object))
      assert.equal(status, 1, stderr)
      assert.match(stderr, pattern)
    }
  })

  it('apply overrides other managers, but with --server-side only by force', async () => {
    const { ok, run, value } = await prepare()
    await ok('apply -f -', documents(configMap('a', { x: '1' })))
    const other = 'apply --server-side --field-manager=other -f -'
    const rejected = await run(other, documents(configMap('a', { x: '2' })))
    assert.equal(rejected.status, 1)
    assert.match(rejected.stderr, /Error from server \(Conflict\): .*conflict with "grove-cli".*\.data\.x/)
    assert.match(rejected.stderr, /--force-conflicts/)
    assert.equal(
      await ok(`${other} --force-conflicts`, documents(configMap('a', { x: '2' }))),
      'configmap/a serverside-applied\n',
    )
    await ok('apply -f -', documents(configMap('a', { x: '3' })))
    assert.equal(await value('a', 'x'), '3')
  })

  it('a dry run changes nothing, on client and server', async () => {
    const { ok, run } = await prepare()
    const manifest = documents(configMap('a', {}))
    assert.equal(await ok('apply --dry-run=server -f -', manifest), 'configmap/a created (server dry run)\n')
    assert.equal(await ok('apply --dry-run=client -f -', manifest), 'configmap/a created (dry run)\n')
    assert.equal((await run('get configmap a')).status, 1)
    await ok('apply -f -', manifest)
    assert.match(await ok('delete configmap a --dry-run=server'), /"a" deleted from .* \(server dry run\)\n$/)
    assert.match(await ok('delete configmap a --dry-run=client'), /\(dry run\)\n$/)
    await ok('get configmap a')
  })

  it('a definition and an object of it may be in one file', async () => {
    const { ok, namespace } = await prepare()
    const group = `${namespace}.example.com`
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    }
    const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } }
    assert.match(
      await ok('apply -f -', documents(definition, thing)),
      new RegExp(`thing.${group}/one created\n$`),
    )
    assert.equal(await ok('get things -o name'), `thing.${group}/one\n`)
    assert.match(await ok('delete -f -', documents(thing, definition)), /"one" deleted from/)
  })

  it('get prints the tables of the server: names, labels, wide, several types, by name', async () => {
    const { ok, run, namespace } = await prepare()
    await ok(
      'apply -f -',
      documents(configMap('a', { x: '1' }, { labels: { tier: 'fast' } }), configMap('b', {})),
    )
    assert.match(await ok('get cm a b'), /^NAME +DATA +AGE\na +1 +\d+s\nb +0 +\d+s\n$/)
    assert.equal(await ok('get configmaps -l tier=fast -o name'), 'configmap/a\n')
    assert.match(await ok('get cm -l tier=fast --show-labels --no-headers'), /^a +1 +\d+s +tier=fast\n$/)
    assert.match(await ok('get cm/a secrets/nope --ignore-not-found'), /^NAME .*\nconfigmap\/a /)
    const everywhere = await call(['get', 'cm', '-A', '--kubeconfig', kubeconfig(), '-l', 'tier=fast'])
    assert.match(everywhere.stdout, new RegExp(`^NAMESPACE +NAME +DATA +AGE\n(.*\n)*${namespace} +a +1 `))
    const yaml = await ok('get cm a -o yaml')
    assert.match(yaml, /^kind: ConfigMap$/m)
    assert.doesNotMatch(yaml, /managedFields/)
    assert.match(await ok('get cm a -o yaml --show-managed-fields'), /manager: grove-cli/)
    const list = JSON.parse(await ok('get cm -l tier=fast -o json'))
    assert.deepEqual([list.kind, list.items.length, list.items[0].kind], ['List', 1, 'ConfigMap'])
    const none = await run('get secrets -l no=such')
    assert.deepEqual(
      [none.status, none.stdout, none.stderr],
      [0, '', `No resources found in ${namespace} namespace.\n`],
    )
  })

  it('get prints templates and sorts', async () => {
    const { ok, run } = await prepare()
    await ok(
      'apply -f -',
      documents(
        configMap('a', { size: '1Gi' }, { labels: { tier: 'fast' } }),
        configMap('b', { size: '500Mi' }, { labels: { tier: 'fast' } }),
        configMap('c', {}, { labels: { tier: 'fast' } }),
      ),
    )
    const get = 'get cm -l tier=fast'
    assert.equal(await ok(`${get} -o jsonpath={.items[*].metadata.name}`), 'a b c')
    assert.equal(await ok('get cm a -o jsonpath={.data.size}'), '1Gi')
    assert.equal(await ok('get cm a -o jsonpath-as-json={.data.size}'), '[\n    "1Gi"\n]\n')
    assert.equal(await ok(`${get} --sort-by=.data.size -o name`), 'configmap/c\nconfigmap/b\nconfigmap/a\n')
    assert.match(await ok(`${get} --sort-by=data.size --no-headers`), /^c .*\nb .*\na .*\n$/)
    assert.equal(
      await ok(`${get} -o custom-columns=NAME:.metadata.name,SIZE:.data.size --sort-by={.metadata.name}`),
      'NAME   SIZE\na      1Gi\nb      500Mi\nc      <none>\n',
    )
    assert.equal(
      await ok('apply -o jsonpath={.metadata.name} -f -', documents(configMap('d', {}), configMap('e', {}))),
      'de',
    )
    const table: [args: string, status: number, message: RegExp][] = [
      [`${get} --sort-by=.nope`, 1, /^grove: couldn't find any field with path "\{\.nope\}" in the list/],
      [`${get} -o jsonpath={.items[7]}`, 1, /array index out of bounds: index 7, length 3/],
      [`${get} -o jsonpath`, 2, /^grove: -o jsonpath requires a template: -o jsonpath=\{\.metadata\.name\}/],
      [`${get} -o jsonpath={.items`, 2, /an opening brace is not closed/],
      [`${get} -o custom-columns=NAME`, 2, /expected <header>:<json-path-expr>/],
      [`${get} -o custom-columns-file=/nope`, 2, /cannot read \/nope/],
      [`${get} -o go-template={{.}}`, 2, /Allowed choices are wide, yaml, json, name, jsonpath=TEMPLATE,/],
    ]
    for (const [args, status, message] of table) {
      const result = await run(args)
      assert.match(result.stderr, message)
      assert.deepEqual([result.status, result.stdout], [status, ''], args)
    }
  })

  it('get prints the error of the server for missing objects, and prints the others', async () => {
    const { ok, run } = await prepare()
    await ok('apply -f -', documents(configMap('a', {})))
    const { status, stdout, stderr } = await run('get cm a nope')
    assert.equal(status, 1)
    assert.match(stdout, /^a /m)
    assert.equal(stderr, 'Error from server (NotFound): configmaps "nope" not found\n')
    const typo = await run('get podz')
    assert.equal(typo.status, 1)
    assert.equal(typo.stderr, 'grove: the server doesn\'t have a resource type "podz"; did you mean pods?\n')
  })

  it('get --watch prints every change', async () => {
    const { ok, run, namespace } = await prepare()
    await ok('apply -f -', documents(configMap('a', {})))
    const args = ['get', 'cm', '-w', '-l', 'seen!=no', '-n', namespace, '--kubeconfig', kubeconfig()]
    const watching = startGrove(args)
    try {
      await watching.shows(/^a +0 /m)
      await ok('apply -f -', documents(configMap('later', { x: '1' })))
      await watching.shows(/^later +1 /m)
      await ok('apply -f -', documents(configMap('a', { x: '1', y: '2' })))
      await watching.shows(/^a +2 /m)
      assert.equal(watching.stdout().match(/^NAME /gm)?.length, 1)
      const several = await run('get cm,secrets -w')
      assert.deepEqual([several.status, several.stdout], [2, ''])
    } finally {
      watching.child.kill()
      await watching.ended
    }
  })

  it('delete deletes by name, by selector, all, and by manifest', async () => {
    const { ok, run } = await prepare()
    const manifest = documents(
      configMap('a', {}),
      configMap('b', {}, { labels: { go: 'yes' } }),
      configMap('c', {}, { labels: { go: 'yes' } }),
    )
    await ok('apply -f -', manifest)
    assert.match(await ok('delete cm/a'), /^configmap "a" deleted from .* namespace\n$/)
    assert.equal(await ok('delete cm -l go=yes -o name'), 'configmap/b\nconfigmap/c\n')
    const again = await run('delete -f -', manifest)
    assert.equal(again.status, 1)
    assert.equal(again.stderr.match(/Error from server \(NotFound\)/g)?.length, 3)
    assert.equal((await run('delete --ignore-not-found -f -', manifest)).status, 0)
    const unclear = await run('delete cm')
    assert.deepEqual(
      [unclear.status, unclear.stderr],
      [2, 'grove: name the configmaps, or use -l SELECTOR or --all\n'],
    )
  })

  it('delete waits for finalizers, with --wait and --timeout', async () => {
    const { ok, run, namespace } = await prepare()
    await ok('apply -f -', documents(configMap('held', {}, { finalizers: ['example.com/hold'] })))
    const late = await run('delete cm held --timeout=1')
    assert.equal(late.status, 1)
    assert.match(late.stderr, /configmap\/held was not deleted within 1 s; check its finalizers/)
    await ok('delete cm held --wait=false')
    const waiting = startGrove(['delete', 'cm', 'held', '-n', namespace, '--kubeconfig', kubeconfig()])
    await waiting.shows(/"held" deleted/)
    await ok('apply -f -', documents(configMap('held', {}, { finalizers: [] })))
    assert.equal(await waiting.ended, 0)
    assert.equal((await run('get cm held')).status, 1)
  })

  it('delete --cascade=orphan keeps dependents, foreground waits for them', async () => {
    const { ok } = await prepare()
    await ok('apply -f -', documents(deployment('kept', 1)))
    const sets = async () => (await ok('get replicasets -o name')).trim()
    while ((await sets()) === '') await new Promise(done => setTimeout(done, 100))
    await ok('delete deployment kept --cascade=orphan')
    assert.match(await sets(), /^replicaset\.apps\/kept-/)
    await ok('delete replicasets --all --cascade=foreground')
    assert.equal(await sets(), '')
  })

  it('scale sets replicas, if the precondition is true', async () => {
    const { ok, run } = await prepare()
    await ok('apply -f -', documents(deployment('web', 1)))
    assert.equal(await ok('scale deployment/web --replicas=3'), 'deployment.apps/web scaled\n')
    const replicas = async () => JSON.parse(await ok('get deploy web -o json')).spec.replicas
    assert.equal(await replicas(), 3)
    const other = await run('scale deploy web --replicas=5 --current-replicas=1')
    assert.deepEqual([other.status, other.stderr], [1, 'grove: deployment.apps/web has 3 replicas, not 1\n'])
    assert.equal(
      await ok('scale deploy web --replicas=5 --dry-run=server'),
      'deployment.apps/web scaled (server dry run)\n',
    )
    assert.equal(await replicas(), 3)
    assert.equal(
      (await run('scale deploy nope --replicas=5')).stderr,
      'Error from server (NotFound): deployments.apps "nope" not found\n',
    )
    assert.equal((await run('scale configmap x --replicas=5')).status, 1)
  })
}
