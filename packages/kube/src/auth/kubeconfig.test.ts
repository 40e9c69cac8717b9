// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { FakeClock } from '../clock/index.ts'
import { ConfigError } from './config-error.ts'
import { configOfContext, kubeconfigPaths, loadKubeconfig } from './kubeconfig.ts'
import { parseKubeconfig } from './kubeconfig-file.ts'
import { loadConfig } from './load-config.ts'

const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
after(() => rmSync(directory, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** One context `c` with this cluster and this user. */
function config(cluster: object, user: object = {}, context: object = {}) {
  const text = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
    clusters: [{ name: 'k', cluster: { server: 'https://host:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  })
  const options = { clock: new FakeClock(), environment: {} }
  return configOfContext(parseKubeconfig(text, join(directory, 'config')), options)
}

describe('kubeconfig files', () => {
  const first = file(
    'first',
    `
contexts:
- name: shared
  context: {cluster: one, user: me}
clusters:
- name: one
  cluster: {server: "https://first", certificate-authority: ca.pem}
`,
  )
  const second = file(
    'second',
    `
current-context: shared
contexts:
- name: shared
  context: {cluster: two, user: me, namespace: lost}
- name: other
  context: {cluster: two, user: me, namespace: there}
clusters:
- name: one
  cluster: {server: "https://lost", tls-server-name: lost}
- name: two
  cluster: {server: "https://second"}
users:
- name: me
  user: {token: t}
`,
  )
  const environment = { KUBECONFIG: [first, join(directory, 'missing'), '', second].join(delimiter) }
  file('ca.pem', 'the CA')

  it('merges files: the first that names an entry wins, entries are never mixed', () => {
    const merged = loadKubeconfig({ environment })
    assert.equal(merged.server, 'https://first')
    assert.equal(merged.namespace, 'default')
    assert.deepEqual(merged.tls(), {
      ca: 'the CA',
      certificate: undefined,
      key: undefined,
      serverName: undefined,
      insecureSkipVerify: false,
    })
    assert.deepEqual(merged.credentials?.headers(), { authorization: 'Bearer t' })
  })

  it('lists every context', () => {
    const other = loadKubeconfig({ environment, context: 'other' })
    assert.deepEqual([other.server, other.namespace], ['https://second', 'there'])
    assert.throws(() => loadKubeconfig({ environment, context: 'nowhere' }), /no context "nowhere"/)
  })

  it('tolerates a missing file in KUBECONFIG, but not one that is named explicitly', () => {
    const missing = [join(directory, 'missing'), join(directory, 'lost')] as const
    assert.throws(
      () => loadKubeconfig({ environment: { KUBECONFIG: missing[0] } }),
      new ConfigError(
        `KUBECONFIG names ${missing[0]}, which does not exist; unset it or set it to an existing file`,
      ),
    )
    assert.throws(
      () => loadKubeconfig({ environment: { KUBECONFIG: missing.join(delimiter) } }),
      new ConfigError(
        `KUBECONFIG names ${missing.join(', ')}, none of which exists; unset it or set it to an existing file`,
      ),
    )
    assert.throws(
      () => loadKubeconfig({ environment: { HOME: join(directory, 'missing') } }),
      new ConfigError('found no kubeconfig with a current context; set KUBECONFIG or pass a file'),
    )
    assert.throws(() => loadKubeconfig({ path: join(directory, 'missing') }), /cannot be read/)
  })

  it('uses the file in the home directory by default', () => {
    assert.deepEqual(kubeconfigPaths({ HOME: '/home/me' }), ['/home/me/.kube/config'])
  })

  it('never shows the text of a file in an error', () => {
    const broken = file('broken', 'token: [s3cret')
    assert.throws(
      () => loadKubeconfig({ path: broken }),
      error => {
        assert.ok(error instanceof ConfigError)
        assert.doesNotMatch(inspect(error), /s3cret/)
        return true
      },
    )
  })
})

describe('loadKubeconfig', () => {
  it('prefers certificate and key data to files', () => {
    const material = config(
      { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'name' },
      {
        'client-certificate-data': base64('cert'),
        'client-key-data': base64('key'),
        'client-key': '/nowhere',
      },
    ).tls()
    assert.deepEqual(material, {
      ca: 'CA',
      certificate: 'cert',
      key: 'key',
      serverName: 'name',
      insecureSkipVerify: false,
    })
  })

  it('uses basic authentication for user and password', () => {
    const { credentials } = config({}, { username: 'ä', password: 'p:w' })
    assert.deepEqual(credentials?.headers(), { authorization: `Basic ${base64('ä:p:w')}` })
  })

  it('prefers the token file to the token', () => {
    const tokenFile = file('token', 'from file\n')
    assert.deepEqual(config({}, { token: 't', tokenFile }).credentials?.headers(), {
      authorization: 'Bearer from file',
    })
    assert.deepEqual(config({}, { token: 't', tokenFile: '/nowhere' }).credentials?.headers(), {
      authorization: 'Bearer t',
    })
  })

  it('sends the impersonation headers', () => {
    const user = {
      token: 't',
      as: 'her',
      'as-uid': '7',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'Example.com/x': ['1'] },
    }
    assert.deepEqual(config({}, user).credentials?.headers(), {
      authorization: 'Bearer t',
      'impersonate-user': 'her',
      'impersonate-uid': '7',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fx': ['1'],
    })
  })

  it('returns the proxy of the cluster', () => {
    assert.equal(config({ 'proxy-url': 'socks5://p:1' }).proxy, 'socks5://p:1')
  })

  const wrong: [what: string, cluster: object, user: object, says: RegExp][] = [
    ['no server', { server: '' }, {}, /has no server/],
    ['a server that is not a URL', { server: 'https://[' }, {}, /is not a URL/],
    [
      'a CA that is not to be used',
      { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64('CA') },
      {},
      /both a certificate authority and insecure/,
    ],
    ['a certificate without its key', {}, { 'client-certificate-data': base64('c') }, /without its key/],
    ['a removed auth provider', {}, { 'auth-provider': { name: 'gcp' } }, /gcp was removed/],
    ['a plugin without a command', {}, { exec: { apiVersion: 'x' } }, /has no command/],
    [
      'a plugin of an unknown version',
      {},
      { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'x' } },
      /v1alpha1/,
    ],
    [
      'an interactive plugin',
      {},
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: 'x',
          interactiveMode: 'Always',
        },
      },
      /is interactive only/,
    ],
  ]
  for (const [what, cluster, user, says] of wrong)
    it(`rejects ${what}`, () => {
      assert.throws(() => config(cluster, user), { name: 'ConfigError', message: says })
    })
})

describe('loadConfig', () => {
  const pod = mkdtempSync(join(directory, 'pod-'))
  writeFileSync(join(pod, 'token'), 'pod token')
  writeFileSync(join(pod, 'ca.crt'), 'pod CA')
  writeFileSync(join(pod, 'namespace'), 'pod-namespace\n')
  const inPod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: '/nowhere' }
  const kubeconfig = file(
    'given',
    'current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: "https://given"}}]',
  )

  it('returns the cluster of the pod by default', () => {
    const found = loadConfig({ environment: inPod, directory: pod })
    assert.deepEqual([found.server, found.namespace], ['https://[fd00::1]:443', 'pod-namespace'])
    assert.deepEqual(found.credentials?.headers(), { authorization: 'Bearer pod token' })
    assert.equal((found.tls() as { ca: string }).ca, 'pod CA')
  })

  it('prefers KUBECONFIG or a named file, even in a pod', () => {
    const environment = { ...inPod, KUBECONFIG: kubeconfig }
    assert.equal(loadConfig({ environment, directory: pod }).server, 'https://given')
    assert.equal(loadConfig({ environment: inPod, directory: pod, path: kubeconfig }).server, 'https://given')
  })
})
