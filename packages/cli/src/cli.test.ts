// SPDX-License-Identifier: Apache-2.0

// Runs the command as a user does: as a process, with files, pipes and exit codes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'

const main = resolve(import.meta.dirname, 'main.ts')
const sample = resolve(import.meta.dirname, '../../../playground/disaggregated/podcliqueset.yaml')
let folder = ''

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'grove-cli-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

function grove(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    input,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  return { status, stdout, stderr }
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const set = (edit: (text: string) => string = text => text) =>
  edit(`apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: demo
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 2
          podSpec:
            containers:
              - name: main
                image: registry.example/web:1
`)

test('validate accepts the sample', () => {
  const { status, stdout } = grove(['validate', '-f', sample])
  assert.equal(status, 0)
  assert.match(stdout, /✓ PodCliqueSet llm\n1 accepted\n$/)
})

test('validate rejects a set with the field, the reason and the line, and exits with 1', () => {
  const path = file(
    'bad.yaml',
    set(text => text.replace('replicas: 2', 'replicas: 2\n          minAvailable: 3')),
  )
  const { status, stdout } = grove(['validate', '-f', path])
  assert.equal(status, 1)
  assert.match(stdout, /✗ PodCliqueSet demo {2}\(.*bad\.yaml:1\)/)
  assert.match(
    stdout,
    /spec\.template\.cliques\[0\]\.spec\.minAvailable: Invalid value: 3: minAvailable must not be greater than replicas {2}\(line 13\)/,
  )
  assert.match(stdout, /0 accepted, 1 rejected\n$/)
})

test('validate warns and hints about fields that are accepted but have no effect', () => {
  const mistakes = set(text => text.replace('replicas: 2', 'startsAfter: [web]').replace(/ *image: .*\n/, ''))
  const { status, stdout } = grove(['validate', '-f', '-'], mistakes)
  assert.equal(status, 0)
  assert.equal(
    stdout,
    `✓ PodCliqueSet demo
    warning: spec.template.cliques[0].spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit  (line 12)
    hint: spec.template.cliques[0].spec.podSpec.containers[0].image: Kubernetes rejects the pods: Required value  (line 15)
1 accepted
`,
  )
})

test('validate --old warns about a count in the template that has no effect, as admission does', () => {
  const old = file('old.yaml', set())
  const path = file(
    'more.yaml',
    set(text => text.replace('replicas: 2', 'replicas: 5')),
  )
  const { status, stdout } = grove(['validate', '-f', path, '--old', old])
  assert.equal(status, 0)
  assert.match(
    stdout,
    /warning: spec\.template\.cliques\[0\]\.spec\.replicas: has no effect on existing PodCliques; scale them: kubectl -n default scale pclq\/demo-0-web --replicas=5 {2}\(line \d+\)/,
  )
})

test('validate reads several documents from standard input and prints JSON', () => {
  const stream = `${set()}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n---\n${set(text => text.replace('name: web\n        spec', 'name: "Web!"\n        spec'))}`
  const { status, stdout } = grove(['validate', '-o', 'json', '-f', '-'], stream)
  assert.equal(status, 1)
  const responses = JSON.parse(stdout)
  assert.deepEqual(
    responses.map((response: { allowed: boolean }) => response.allowed),
    [true, true, false],
  )
  assert.equal(responses[0].object.spec.template.terminationDelay, '4h0m0s')
})

test('validate compares an update with the stored object', () => {
  const old = file('old.yaml', set())
  const changed = file(
    'role.yaml',
    set(text => text.replace('roleName: web', 'roleName: other')),
  )
  const rejected = grove(['validate', '-f', changed, '--old', old])
  assert.equal(rejected.status, 1)
  assert.match(rejected.stdout, /roleName: Invalid value: "other": field is immutable/)
  assert.equal(grove(['validate', '-f', changed]).status, 0)
})

test('invalid input causes one message without a stack trace', () => {
  const table: [string, string, RegExp][] = [
    ['malformed YAML', 'a: [1,\n', /^grove: standard input:\d+:\d+: /],
    ['deep nesting', '['.repeat(50_000), /nested more than/],
    ['NUL bytes', 'kind: \0', /NUL byte/],
    ['no such file', '', /cannot read .*missing\.yaml: no such file/],
  ]
  for (const [what, input, pattern] of table) {
    const args =
      what === 'no such file' ? ['validate', '-f', join(folder, 'missing.yaml')] : ['validate', '-f', '-']
    const { status, stderr } = grove(args, input)
    assert.equal(status, 2, what)
    assert.match(stderr, pattern, what)
    assert.equal(stderr.trim().split('\n').length, 1, `${what}: ${stderr}`)
  }
})

test('unknown and misspelt kinds are rejected with a suggestion', () => {
  const table: [string, RegExp][] = [
    [
      'kind: PodCliqueset\napiVersion: grove.io/v1alpha1\n',
      /unknown kind PodCliqueset .*did you mean PodCliqueSet\?/,
    ],
    [
      'kind: PodClickSet\napiVersion: grove.io/v1alpha1\n',
      /unknown kind PodClickSet of grove\.io\/v1alpha1 *$/m,
    ],
    ['kind: PodClqueSets\napiVersion: grove.io/v1alpha1\n', /did you mean PodCliqueSet\?/],
    ['kind: pcs\napiVersion: grove.io/v1alpha1\n', /did you mean PodCliqueSet\?/],
    ['kind: PodCliqueSet\napiVersion: grove.io/v1\n', /served as grove\.io\/v1alpha1/],
    ['kind: PodCliqueSet\napiVersion: grov.io/v1alpha1\n', /served as grove\.io\/v1alpha1, not grov\.io/],
    ['just a text\n', /no kind/],
    ['kind: PodCliqueSet\napiVersion: grove.io/v1alpha1\nspec: {template: {cliques: 7}}\n', /cliques/],
  ]
  for (const [text, pattern] of table) {
    const { status, stdout } = grove(['validate', '-f', '-'], text)
    assert.equal(status, 1, text)
    assert.match(stdout, pattern)
  }
})

test('kinds of other API groups are not checked and do not cause a failure', () => {
  const table: [string, RegExp][] = [
    ['v1', /^- Foo x {2}not checked: v1 is not an API of Grove\n0 accepted, 1 not checked\n$/],
    ['resource.nvidia.com/v1beta1', /not checked: resource\.nvidia\.com\/v1beta1 is not an API of Grove\n/],
    ['leaderworkerset.x-k8s.io/v1', /1 not checked/],
    ['nvidia.com/v1alpha1', /1 not checked/],
  ]
  for (const [version, pattern] of table) {
    const { status, stdout } = grove(
      ['validate', '-f', '-'],
      `kind: Foo\napiVersion: ${version}\nmetadata: {name: x}\n`,
    )
    assert.equal(status, 0, version)
    assert.match(stdout, pattern)
  }
})

test('hash prints every clique and the set, independent of order and replicas', () => {
  const one = JSON.parse(grove(['hash', '-o', 'json', '-f', '-'], set()).stdout)
  const two = JSON.parse(
    grove(
      ['hash', '-o', 'json', '-f', '-'],
      set(text => text.replace('replicas: 2', 'replicas: 5')),
    ).stdout,
  )
  assert.deepEqual(one, two)
  assert.deepEqual(Object.keys(one[0].cliques), ['web'])
  const legacy = JSON.parse(grove(['hash', '--legacy', '-o', 'json', '-f', '-'], set()).stdout)
  assert.match(legacy[0].generationHash, /^[456789bcdf]{1,20}$/)
  assert.equal(legacy[0].generationHash, legacy[0].cliques.web)
})

test('impact prints the restarted cliques with the reasons, or that nothing restarts', () => {
  const old = file('before.yaml', set())
  const image = file(
    'image.yaml',
    set(text => text.replace('web:1', 'web:2')),
  )
  const scaled = file(
    'scaled.yaml',
    set(text => text.replace('replicas: 2', 'replicas: 4')),
  )
  const restarts = grove(['impact', '--old', old, '-f', image, '--exit-code'])
  assert.equal(restarts.status, 1)
  assert.match(restarts.stdout, /demo: pods of web restart/)
  assert.match(
    restarts.stdout,
    /containers\[main\]\.image: registry\.example\/web:1 → registry\.example\/web:2/,
  )
  const harmless = grove(['impact', '--old', old, '-f', scaled, '--exit-code'])
  assert.equal(harmless.status, 0)
  assert.match(harmless.stdout, /demo: no pods restart/)
  assert.equal(harmless.stderr, '')
  const renamed = file(
    'renamed.yaml',
    set(text => text.replace('name: demo', 'name: other')),
  )
  assert.equal(
    grove(['impact', '--old', old, '-f', renamed]).stderr,
    'note: PodCliqueSet other is compared with demo; applying it creates another set\n',
  )
})

test('impact warns about unknown fields and rejects what the API server cannot decode', () => {
  const old = file('current.yaml', set())
  const impactOf = (name: string, from: string, to: string) =>
    grove([
      'impact',
      '--old',
      old,
      '-f',
      file(
        name,
        set(text => text.replace(from, to)),
      ),
    ])
  const misspelt = impactOf('misspelt.yaml', 'roleName', 'rolename')
  assert.match(misspelt.stderr, /misspelt\.yaml:1: .*spec\.template\.cliques\[0\]\.spec\.rolename/)
  const version = impactOf('version.yaml', 'grove.io/v1alpha1', 'grove.io/v1')
  assert.deepEqual([version.status, version.stdout], [2, ''])
  assert.match(version.stderr, /version\.yaml:1: .*apiVersion: .*must be grove\.io\/v1alpha1/)
  // The rules of admission need the configuration of the cluster, so they are not evaluated.
  const topology = 'template:\n    topologyConstraint: {topologyName: t, pack: {required: rack}}'
  assert.deepEqual(impactOf('topology.yaml', 'template:', topology).stderr, '')
})

test('hash admits a set with the given configuration and topology binding', () => {
  const packed = set(text =>
    text.replace(
      'template:',
      'template:\n    topologyConstraint: {topologyName: dc, pack: {required: rack}}',
    ),
  )
  const binding = `---
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata: {name: dc}
spec: {levels: [{domain: rack, key: example.com/rack}]}
`
  const config = file(
    'operator.yaml',
    `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
topologyAwareScheduling: {enabled: true}
scheduler: {profiles: [{name: grove-scheduler}], defaultProfileName: grove-scheduler}
`,
  )
  const hashed = grove(['hash', '--config', config, '-f', '-'], `${packed}${binding}`)
  assert.deepEqual([hashed.status, hashed.stderr], [0, ''])
  assert.match(hashed.stdout, /^demo +z2-/)
})

test('render prints every object of a set', () => {
  const list = JSON.parse(grove(['render', '-o', 'json', '-f', sample]).stdout)
  assert.deepEqual([list.apiVersion, list.kind], ['v1', 'List'])
  const objects = list.items as { kind: string }[]
  const count = (kind: string) => objects.filter(object => object.kind === kind).length
  assert.deepEqual(
    [count('PodClique'), count('PodCliqueScalingGroup'), count('PodGang'), count('Pod')],
    [11, 2, 3, 21],
  )
})

test('crds prints the five definitions as YAML and as JSON', () => {
  const list = JSON.parse(grove(['crds', '-o', 'json']).stdout)
  assert.deepEqual([list.apiVersion, list.kind, list.items.length], ['v1', 'List', 5])
  assert.equal(grove(['crds']).stdout.match(/^kind: CustomResourceDefinition$/gm)?.length, 5)
})

test('an unknown command is rejected with a suggestion', () => {
  assert.equal(grove(['validate']).status, 2)
  assert.match(grove(['nonsense']).stderr, /unknown command 'nonsense'/)
  assert.match(grove(['--help']).stdout, /validate/)
})

test('prints its version, and refers to kubectl for commands that only kubectl has', () => {
  assert.match(grove(['--version']).stdout, /^\d+\.\d+\.\d+\n$/)
  const { status, stderr } = grove(['describe', 'pcs', 'llm'])
  assert.equal(status, 2)
  assert.match(
    stderr,
    /unknown command 'describe'\n.*\n`kubectl describe` provides this command; `grove up` prints/,
  )
})
