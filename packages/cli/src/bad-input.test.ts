// SPDX-License-Identifier: Apache-2.0

// Every command rejects unusable input with one message that the user can act on, exit code 2, no stack trace, and no
// output on standard output.
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
const text = file('text.yaml', 'just args\n')
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
/** No server listens on this port. */
const kubeconfig = file(
  'kubeconfig',
  `current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
`,
)
const brokenKubeconfig = file('broken-kubeconfig', 'clusters: [\n')

async function assertRejected(
  args: readonly string[],
  pattern: RegExp,
  status = 2,
  input = '',
): Promise<void> {
  const result = await call(args, { input })
  const output = `grove ${args.join(' ')}: ${result.stdout}${result.stderr}`
  assert.equal(result.status, status, output)
  assert.match(result.stderr, pattern, output)
  assert.equal(result.stdout, '', output)
  assert.doesNotMatch(result.stderr, /^ +at .*:\d+:\d+\)?$/m, output)
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
    ['a missing file', missing, /^grove: cannot read .*missing\.yaml: no such file\n$/],
    ['broken YAML', broken, /^grove: .*broken\.yaml:4:\d+: [^\n]+\n$/],
    ['a binary file', binary, /^grove: .*binary\.yaml is not UTF-8 text\n$/],
  ]
  for (const [name, args] of Object.entries(readers))
    for (const [what, path, pattern] of files)
      it(`${name}: ${what}`, () => assertRejected(args(path), pattern))

  const takeFolders = new Set(['validate', 'render', 'hash', 'apply'])
  for (const [name, args] of Object.entries(readers)) {
    const pattern = takeFolders.has(name)
      ? /^grove: the folder .*nothing contains no file that ends in \.yaml, \.yml or \.json; files in its subfolders are not read\n$/
      : /^grove: cannot read .*: it is a directory\n$/
    it(`${name}: a folder without manifests`, () => assertRejected(args(emptyFolder), pattern))
  }
})

describe('files without a Kubernetes manifest', () => {
  const table: [args: string[], pattern: RegExp][] = [
    ...[empty, comment].flatMap((path): [string[], RegExp][] => [
      [['validate', '-f', path], /^grove: no documents in /],
      [['render', '-f', path], /^grove: no PodCliqueSet in /],
      [['hash', '-f', path], /^grove: no PodCliqueSet in /],
      [['impact', '--old', path, '-f', set], /^grove: no PodCliqueSet in /],
      [['apply', '--kubeconfig', kubeconfig, '-f', path], /^grove: no objects in /],
      [['up', '--topology', path], /must contain exactly one document, not 0/],
      [['up', '--config', path], /must contain exactly one document, not 0/],
    ]),
    [
      ['up', '--demo', 'nope'],
      /^grove: --demo nope: neither a file nor a workload of the playground \(agentic, /,
    ],
    [['render', '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['hash', '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['impact', '--old', set, '-f', pod], /^grove: no PodCliqueSet in .*pod\.yaml, only Pod\n$/],
    [['apply', '--kubeconfig', kubeconfig, '-f', text], /text\.yaml:1: this is not a Kubernetes object/],
    [['apply', '--kubeconfig', kubeconfig, '-f', nameless], /kindless\.yaml:1: the object has no kind/],
    [['apply', '--kubeconfig', kubeconfig, '-f', versionless], /the ConfigMap has no apiVersion/],
    [
      ['apply', '--kubeconfig', kubeconfig, '-f', emptyFolder],
      /contains no file that ends in \.yaml, \.yml or \.json/,
    ],
    [['validate', '-f', set, '--config', pod], /pod\.yaml: /],
  ]
  for (const [args, pattern] of table)
    it(args.map(arg => arg.replace(`${folder}/`, '')).join(' '), () => assertRejected(args, pattern))
})

it('every error of an operator configuration has its line', async () => {
  const configuration = file(
    'configuration.yaml',
    `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
gangTermination: {onTotalLoss: wait}
limits:
  podCliqueReplicas: -1
`,
  )
  const { status, stdout, stderr } = await call(['validate', '-f', set, '--config', configuration])
  assert.deepEqual([status, stdout], [2, ''])
  assert.deepEqual(stderr.replaceAll(`${folder}/`, '').trimEnd().split('\n'), [
    'configuration.yaml:3: gangTermination.onTotalLoss: Unsupported value: "wait": supported values: "Wait", "Recreate"',
    'configuration.yaml:5: limits.podCliqueReplicas: Invalid value: -1: must be greater than 0',
    'grove: configuration.yaml has 2 errors',
  ])
})

describe('invalid arguments', () => {
  const live = ['--kubeconfig', kubeconfig]
  const table: [args: string[], pattern: RegExp][] = [
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
    [['apply', '-f', set, '--force-conflicts', ...live], /--force-conflicts requires --server-side/],
    [['scale', 'pcs', 'x'], /required option '--replicas <number>' not specified/],
    [['scale', 'pcs', 'x', '--replicas=-1', ...live], /--replicas must be a whole number, not "-1"/],
    [['delete', 'pod', 'x', '--cascade=maybe'], /Allowed choices are background, foreground, orphan/],
    [['delete', 'pod', 'x', '--now', '--grace-period=3', ...live], /use either --now or --grace-period/],
    [
      ['delete', 'pod', 'x', '--timeout=soon', ...live],
      /--timeout must be a number of seconds or a duration/,
    ],
    [['tree', 'pod/x'], /'pod\/x' is invalid for argument 'name'\. Expected NAME or pcs\/NAME\.\n/],
    [['explain', 'pcs/'], /Expected NAME or pcs\/NAME or pg\/NAME\.\n/],
    [['handback', 'a', 'pclq/b'], /Expected NAME or pcs\/NAME\.\n/],
    [['node', 'kil', 'x'], /unknown command 'kil'\n\(Did you mean kill\?\)/],
    [['node', 'add'], /missing required argument 'name'/],
  ]
  for (const [args, pattern] of table)
    it(`grove ${args.filter(arg => !arg.startsWith(folder)).join(' ')}`, () => assertRejected(args, pattern))
})

describe('a cluster that cannot be reached', () => {
  const args = [
    ['get', 'pods'],
    ['apply', '-f', pod],
    ['delete', 'pod', 'x'],
    ['scale', 'pcs', 'x', '--replicas', '1'],
    ['tree', 'x'],
    ['status', 'x'],
    ['node', 'kill', 'x'],
  ]
  for (const each of args) {
    const name = each.filter(arg => !arg.startsWith(folder)).join(' ')
    it(`${name}: no server listens`, () =>
      assertRejected(
        [...each, '--kubeconfig', kubeconfig],
        /^grove: cannot reach the cluster at https:\/\/127\.0\.0\.1:1: connection refused; is it running\?\n$/,
        1,
      ))
    it(`${name}: no kubeconfig`, () =>
      assertRejected(
        [...each, '--kubeconfig', missing],
        /^grove: no cluster found: the kubeconfig .* cannot be read/,
      ))
    it(`${name}: a broken kubeconfig`, () =>
      assertRejected(
        [...each, '--kubeconfig', brokenKubeconfig],
        /^grove: no cluster found: .* is not valid YAML\n$/,
      ))
    it(`${name}: no such context`, () =>
      assertRejected(
        [...each, '--kubeconfig', kubeconfig, '--context', 'x'],
        /the kubeconfig has no context "x"/,
      ))
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
