// SPDX-License-Identifier: Apache-2.0

// What every command says to input that it cannot use: one sentence that a person can act on, exit code 2, no stack,
// nothing on standard output.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { call } from './testing/grove-call.ts'

const folder = mkdtempSync(join(tmpdir(), 'grove-bad-input-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const missing = join(folder, 'missing.yaml')
const empty = file('empty.yaml', '')
const comment = file('comment.yaml', '# nothing\n---\n')
const broken = file('broken.yaml', 'kind: PodCliqueSet\nspec:\n  - a\n b: [\n')
const text = file('text.yaml', 'just words\n')
const binary = file('binary.yaml', new Uint8Array([0xff, 0xfe, 0x00, 0x80]))
const nameless = file('kindless.yaml', 'metadata: {name: a}\n')
const versionless = file('versionless.yaml', 'kind: ConfigMap\nmetadata: {name: a}\n')
const pod = file('pod.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n')
const set = file(
  'set.yaml',
  `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec: {roleName: web, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/web:1}]}}
`,
)
const emptyFolder = join(folder, 'nothing')
mkdirSync(emptyFolder)
/** Nobody listens there. */
const kubeconfig = file(
  'kubeconfig',
  `current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
`,
)
const brokenKubeconfig = file('broken-kubeconfig', 'clusters: [\n')

async function refused(words: readonly string[], pattern: RegExp, status = 2, input = ''): Promise<void> {
  const result = await call(words, { input })
  const told = `grove ${words.join(' ')}: ${result.stdout}${result.stderr}`
  assert.equal(result.status, status, told)
  assert.match(result.stderr, pattern, told)
  assert.equal(result.stdout, '', told)
  assert.doesNotMatch(result.stderr, /^ +at .*:\d+:\d+\)?$/m, told)
}

describe('files that cannot be read', () => {
  const readers: Record<string, (path: string) => string[]> = {
    validate: path => ['validate', '-f', path],
    'validate --old': path => ['validate', '-f', set, '--old', path],
    render: path => ['render', '-f', path],
    hash: path => ['hash', '-f', path],
    'impact --old': path => ['impact', '--old', path, '-f', set],
    'impact -f': path => ['impact', '--old', set, '-f', path],
    'up --demo': path => ['up', '--demo', path],
    'up --topology': path => ['up', '--topology', path],
    'up --config': path => ['up', '--config', path],
    'render --config': path => ['render', '-f', set, '--config', path],
    apply: path => ['apply', '--kubeconfig', kubeconfig, '-f', path],
  }
  const files: [what: string, path: string, pattern: RegExp][] = [
    ['a file that is not there', missing, /^grove: cannot read .*missing\.yaml: no such file\n$/],
    ['broken YAML', broken, /^grove: .*broken\.yaml:4:\d+: [^\n]+\n$/],
    ['something else than text', binary, /^grove: .*binary\.yaml is not UTF-8 text\n$/],
  ]
  for (const [name, words] of Object.entries(readers))
    for (const [what, path, pattern] of files) it(`${name}: ${what}`, () => refused(words(path), pattern))

  const takeFolders = new Set(['validate', 'render', 'hash', 'apply'])
  for (const [name, words] of Object.entries(readers)) {
    const pattern = takeFolders.has(name)
      ? /^grove: the folder .*nothing holds no file that ends in \.yaml, \.yml or \.json\n$/
      : /^grove: cannot read .*: it is a directory\n$/
    it(`${name}: a folder without manifests`, () => refused(words(emptyFolder), pattern))
  }
})

describe('files that hold something else', () => {
  const table: [words: string[], pattern: RegExp][] = [
    ...[empty, comment].flatMap((path): [string[], RegExp][] => [
      [['validate', '-f', path], /^grove: nothing to check in /],
      [['render', '-f', path], /^grove: no PodCliqueSet in /],
      [['hash', '-f', path], /^grove: no PodCliqueSet in /],
      [['impact', '--old', path, '-f', set], /^grove: no PodCliqueSet in /],
      [['apply', '--kubeconfig', kubeconfig, '-f', path], /^grove: no objects in /],
      [['up', '--topology', path], /must hold exactly one document, not 0/],
      [['up', '--config', path], /must hold exactly one document, not 0/],
    ]),
    [
      ['up', '--demo', 'nope'],
      /^grove: --demo nope: neither a file nor a workload of the playground \(agentic, /,
    ],
    [['render', '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['hash', '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['impact', '--old', set, '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['apply', '--kubeconfig', kubeconfig, '-f', text], /text\.yaml:1: this is no Kubernetes object/],
    [['apply', '--kubeconfig', kubeconfig, '-f', nameless], /kindless\.yaml:1: the object has no kind/],
    [['apply', '--kubeconfig', kubeconfig, '-f', versionless], /the ConfigMap has no apiVersion/],
    [
      ['apply', '--kubeconfig', kubeconfig, '-f', emptyFolder],
      /holds no file that ends in \.yaml, \.yml or \.json/,
    ],
    [['validate', '-f', set, '--config', pod], /pod\.yaml: /],
  ]
  for (const [words, pattern] of table)
    it(words.map(word => word.replace(`${folder}/`, '')).join(' '), () => refused(words, pattern))
})

describe('words that mean nothing', () => {
  const live = ['--kubeconfig', kubeconfig]
  const table: [words: string[], pattern: RegExp][] = [
    [[], /Usage: grove/],
    [['vaildate'], /unknown command 'vaildate'\n\(Did you mean validate\?\)/],
    [['validate'], /required option '-f, --filename <file\.\.\.>' not specified/],
    [['validate', '-f'], /argument missing/],
    [['validate', '-f', set, '-o', 'xml'], /Allowed choices are text, json/],
    [['render', '-f', set, '--outptu', 'json'], /unknown option '--outptu'\n\(Did you mean --output\?\)/],
    [['crds', 'extra'], /too many arguments/],
    [['impact', '-f', set], /required option '--old <file>' not specified/],
    [['tree', 'a', 'b'], /too many arguments/],
    [['status', 'a', 'b'], /too many arguments/],
    [['apply'], /required option '-f, --filename <file\.\.\.>' not specified/],
    [['apply', '-f', set, '--dry-run=maybe'], /Allowed choices are none, client, server/],
    [['apply', '-f', set, '--force-conflicts', ...live], /--force-conflicts belongs to --server-side/],
    [['scale', 'pcs', 'x'], /required option '--replicas <number>' not specified/],
    [['scale', 'pcs', 'x', '--replicas=-1', ...live], /--replicas must be a whole number, not "-1"/],
    [['delete', 'pod', 'x', '--cascade=maybe'], /Allowed choices are background, foreground, orphan/],
    [['delete', 'pod', 'x', '--now', '--grace-period=3', ...live], /say either --now or --grace-period/],
    [['node', 'kil', 'x'], /unknown command 'kil'\n\(Did you mean kill\?\)/],
    [['node', 'add'], /missing required argument 'name'/],
  ]
  for (const [words, pattern] of table)
    it(`grove ${words.filter(word => !word.startsWith(folder)).join(' ')}`, () => refused(words, pattern))
})

describe('a cluster that cannot be reached', () => {
  const words = [
    ['get', 'pods'],
    ['apply', '-f', pod],
    ['delete', 'pod', 'x'],
    ['scale', 'pcs', 'x', '--replicas', '1'],
    ['tree', 'x'],
    ['status', 'x'],
    ['node', 'kill', 'x'],
  ]
  for (const each of words) {
    const name = each.filter(word => !word.startsWith(folder)).join(' ')
    it(`${name}: nobody listens`, () =>
      refused(
        [...each, '--kubeconfig', kubeconfig],
        /^grove: cannot reach the cluster at https:\/\/127\.0\.0\.1:1: nothing listens there; is it running\?\n$/,
        1,
      ))
    it(`${name}: no kubeconfig`, () =>
      refused(
        [...each, '--kubeconfig', missing],
        /^grove: no cluster to talk to: the kubeconfig .* cannot be read/,
      ))
    it(`${name}: a broken kubeconfig`, () =>
      refused(
        [...each, '--kubeconfig', brokenKubeconfig],
        /^grove: no cluster to talk to: .* is not valid YAML\n$/,
      ))
    it(`${name}: no such context`, () =>
      refused([...each, '--kubeconfig', kubeconfig, '--context', 'x'], /the kubeconfig has no context "x"/))
  }
})

describe('help', () => {
  const commands = [
    ...[
      'validate',
      'render',
      'hash',
      'impact',
      'crds',
      'up',
      'tree',
      'status',
      'apply',
      'get',
      'delete',
      'scale',
    ],
    ...['node', 'node kill', 'node restore', 'node add'],
  ]
  for (const command of commands)
    for (const flag of ['-h', '--help'])
      it(`grove ${command} ${flag}`, async () => {
        const { status, stdout, stderr } = await call([...command.split(' '), flag])
        assert.deepEqual([status, stderr], [0, ''])
        assert.ok(stdout.startsWith(`Usage: grove ${command} `), stdout)
      })
})
