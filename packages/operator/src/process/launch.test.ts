// SPDX-License-Identifier: Apache-2.0

// Tests the command line, and the messages and exit codes of a failed start.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { loadConfiguration } from '@grove/api'
import { parseLaunch } from './arguments.ts'
import { readConfigurationFile } from './configuration-file.ts'
import { LaunchError } from './exit-code.ts'
import { ownNamespace } from './own-namespace.ts'
import { configurationWarnings } from './warnings.ts'

const missing = 'missing required launch option:'
const folder = mkdtempSync(join(tmpdir(), 'grove-launch-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('command line arguments', () => {
  const rows: [string[], object][] = [
    [['--config', 'a.yaml'], { task: 'run', config: 'a.yaml' }],
    [['--config=a.yaml', '--config=b.yaml'], { task: 'run', config: 'b.yaml' }],
    [['--version'], { task: 'version' }],
    [['-v'], { task: 'version' }],
    [['-h', '--config=a.yaml'], { task: 'help' }],
    [
      [],
      { task: 'rejected', message: `${missing} one of version or operator config file must be specified` },
    ],
    [
      ['-v', '--config=a.yaml'],
      { task: 'rejected', message: `${missing} both version and operator config file cannot be specified` },
    ],
  ]
  for (const [args, launch] of rows) assert.deepEqual(parseLaunch(args), launch, args.join(' '))
  const unknown = parseLaunch(['--leader-elect'])
  assert.match(
    unknown.task === 'rejected' ? unknown.message : '',
    /^error parsing cli arguments: .*leader-elect/,
  )
})

describe('a configuration file', () => {
  const head = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n'
  const read = (text: string) => {
    const path = join(folder, 'config.yaml')
    writeFileSync(path, text)
    return readConfigurationFile(path)
  }
  const rejection = (act: () => unknown): LaunchError => {
    try {
      act()
    } catch (error) {
      if (error instanceof LaunchError) return error
    }
    return assert.fail('it was read')
  }

  test('is accepted with unknown fields, which are reported', () => {
    const { configuration, warnings } = read(`${head}logLevel: debug\nloglevel: info\n`)
    assert.equal(configuration.logLevel, 'debug')
    assert.match(warnings.join(), /loglevel/)
  })

  const rows: [string, string, number, RegExp][] = [
    ['is no YAML', 'a: [', 2, /^cannot load "grove-operator" operator config: decoding operator config: /],
    ['has another kind', 'kind: Pod', 2, /^cannot load "grove-operator" operator config: decoding/],
    [
      'is invalid',
      `${head}scheduler: {profiles: [{name: unknown}]}`,
      2,
      /^invalid "grove-operator" operator config: .*scheduler\.profiles\[0\]\.name: Unsupported value: "unknown"/,
    ],
    [
      'has an unknown certificate mode',
      `${head}server: {webhooks: {certProvisionMode: magic}}`,
      4,
      /^unsupported cert provision mode/,
    ],
  ]
  for (const [what, text, code, message] of rows)
    test(`that ${what}`, () => {
      const error = rejection(() => read(text))
      assert.equal(error.exitCode, code)
      assert.match(error.message, message)
    })

  test('that does not exist', () => {
    const error = rejection(() => readConfigurationFile(join(folder, 'none.yaml')))
    assert.equal(error.exitCode, 2)
    assert.match(error.message, /^cannot load "grove-operator" operator config: error reading file: /)
  })
})

const main = resolve(import.meta.dirname, '../main.ts')

test('an uncaught failure ends the process with its origin and the exit code for runtime failures', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
  const config = join(folder, 'running.yaml')
  writeFileSync(config, 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n')
  // After the first request to the cluster, a promise that no code awaits is rejected.
  const defect = `import net from 'node:net'
    const connect = net.Socket.prototype.connect
    net.Socket.prototype.connect = function (...args) {
      void Promise.reject(new Error('a defect'))
      return connect.apply(this, args)
    }`
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(defect)}`, main, '--config', config],
    { env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig } },
  )
  let said = ''
  child.stderr.on('data', chunk => (said += chunk))
  const [code] = await once(child, 'close')
  silent.close()
  assert.equal(code, 6, said)
  assert.match(said, /^Err: unhandledRejection: Error: a defect\n\s+at /m)
})

describe('the namespace of the operator', () => {
  const configurationOf = (content: object) => {
    const loaded = loadConfiguration({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      ...content,
    })
    assert.ok(loaded.outcome === 'loaded')
    return loaded.configuration
  }
  const account = join(folder, 'service-account')
  const namespaceOf = (content: object, variable?: string) => {
    const before = process.env.GROVE_OPERATOR_NAMESPACE
    if (variable === undefined) delete process.env.GROVE_OPERATOR_NAMESPACE
    else process.env.GROVE_OPERATOR_NAMESPACE = variable
    try {
      return ownNamespace(configurationOf(content), account)
    } finally {
      if (before === undefined) delete process.env.GROVE_OPERATOR_NAMESPACE
      else process.env.GROVE_OPERATOR_NAMESPACE = before
    }
  }
  const elected = { leaderElection: { enabled: true } }
  const manual = { server: { webhooks: { certProvisionMode: 'manual' } } }

  test('is taken from the environment, otherwise from the lease', () => {
    assert.equal(namespaceOf(elected, 'a'), 'a')
    assert.equal(namespaceOf({ leaderElection: { enabled: true, resourceNamespace: 'b' } }), 'b')
    assert.equal(namespaceOf({ leaderElection: { enabled: true, resourceNamespace: 'b' } }, 'a'), 'a')
  })

  test('is that of its service account inside a cluster', () => {
    mkdirSync(account)
    writeFileSync(join(account, 'namespace'), 'c\n')
    assert.equal(namespaceOf(elected, 'a'), 'c')
    writeFileSync(join(account, 'namespace'), '\n')
    assert.throws(() => namespaceOf(elected, 'a'), { exitCode: 4, message: 'operator namespace is empty' })
    rmSync(account, { recursive: true })
  })

  test('is not replaced by another one if its file exists and cannot be read', () => {
    mkdirSync(join(account, 'namespace'), { recursive: true })
    assert.throws(() => namespaceOf(elected, 'a'), {
      exitCode: 4,
      message: /^operator namespace cannot be read: EISDIR/,
    })
    rmSync(account, { recursive: true })
  })

  const rows: [string, object, string][] = [
    ['a lease and a Secret', elected, 'its Lease and its certificate Secret'],
    ['a lease', { ...elected, ...manual }, 'its Lease'],
    ['a Secret', {}, 'its certificate Secret'],
    [
      'a Secret for metrics',
      { server: { webhooks: { enabled: false }, metrics: { secure: true } } },
      'its certificate Secret',
    ],
    ['a user name', { ...manual, authorizer: { enabled: true } }, 'its user name'],
  ]
  for (const [what, content, needs] of rows)
    test(`is not guessed outside of a cluster if it is needed for ${what}`, () => {
      assert.throws(() => namespaceOf(content), {
        exitCode: 4,
        message:
          `the operator runs outside of a cluster and has no namespace for ${needs}: set the environment variable ` +
          'GROVE_OPERATOR_NAMESPACE, or leaderElection.resourceNamespace in its configuration',
      })
    })

  test('is not needed without lease, Secret and authorizer', () => {
    assert.equal(namespaceOf(manual), '')
    assert.equal(namespaceOf({ server: { webhooks: { enabled: false } } }), '')
  })
})

describe('logs a warning for a risky configuration:', () => {
  const safe = {
    leaderElection: { enabled: true },
    server: { metrics: { secure: true } },
    debugging: { enableProfiling: true },
    startupWaiter: { image: 'registry.example/grove-initc:v1' },
  }
  const profiling = (pprofBindHost: string) => ({
    ...safe,
    debugging: { enableProfiling: true, pprofBindHost },
  })
  const rows: [string, object, RegExp | undefined, NodeJS.ProcessEnv?][] = [
    ['nothing for a safe configuration', safe, undefined],
    [
      'no leader election',
      { ...safe, leaderElection: {} },
      /^leaderElection\.enabled is false: .* one replica/,
    ],
    [
      'open metrics',
      { ...safe, server: {} },
      /^metrics are served over plain HTTP .* 2752; set server\.metrics\.secure/,
    ],
    ['open metrics on loopback', { ...safe, server: { metrics: { bindAddress: '127.0.0.1' } } }, undefined],
    [
      'no webhooks',
      { ...safe, server: { metrics: { secure: true }, webhooks: { enabled: false } } },
      /neither defaulted/,
    ],
    [
      'profiles on all addresses',
      profiling('0.0.0.0'),
      /^debugging\.pprofBindHost 0\.0\.0\.0 is not a loopback/,
    ],
    ['profiles on an IPv6 loopback', profiling('[::1]'), undefined],
    ['no image of the startup waiter', { ...safe, startupWaiter: {} }, /^the startup waiter has no image/],
    [
      'an image of the startup waiter in the environment',
      { ...safe, startupWaiter: {} },
      undefined,
      { GROVE_INIT_CONTAINER_IMAGE: 'registry.example/grove-initc' },
    ],
    ['profiles on a name', profiling('node-1'), /^debugging\.pprofBindHost node-1/],
  ]
  for (const [what, content, expected, environment = {}] of rows)
    test(what, () => {
      const loaded = loadConfiguration({
        apiVersion: 'operator.config.grove.io/v1alpha1',
        kind: 'OperatorConfiguration',
        ...content,
      })
      assert.ok(loaded.outcome === 'loaded')
      const warnings = configurationWarnings(loaded.configuration, environment)
      assert.equal(warnings.length, expected ? 1 : 0, warnings.join())
      if (expected) assert.match(warnings[0]!, expected)
    })
})

test('the process ends with an exit code and a message', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: join(folder, 'no-kubeconfig') },
    })
  const version = run('--version')
  assert.equal(version.status, 0)
  assert.match(
    version.stdout,
    /^grove-operator \{\S+ \S+ (clean|dirty) \S+ node-v\S+ typescript \w+\/\w+\}\n$/,
  )
  const nothing = run()
  assert.equal(nothing.status, 1)
  assert.equal(nothing.stderr, `Err: ${missing} one of version or operator config file must be specified\n`)
  assert.equal(run('--config', join(folder, 'none.yaml')).status, 2)
  const path = join(folder, 'good.yaml')
  writeFileSync(path, 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n')
  const withoutNamespace = run('--config', path)
  assert.equal(withoutNamespace.status, 1, withoutNamespace.stderr)
  assert.match(withoutNamespace.stderr, /^Err: /m)
})
