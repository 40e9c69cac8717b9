// SPDX-License-Identifier: Apache-2.0

// The API of the embedded cluster accepts the rendered chart with strict field validation: no field is unknown.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isKubeError } from '@grove/kube'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { embeddedHost, type OperatorHost } from '@grove/test-scenarios'
import { parse } from 'yaml'
import { configurationKeys } from '../../../tools/packaging/configuration-keys.ts'
import { chartFolder, type Rendered, release, renderedObjects, valuesFolder } from './rendered-chart.ts'

/** Kinds of operators that a cluster may not have. */
const foreign = ['ServiceMonitor', 'PrometheusRule', 'Certificate', 'Issuer']

const plurals: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  PriorityClass: 'priorityclasses',
}

describe('the API accepts the chart', () => {
  let helm: Helm
  let host: OperatorHost

  before(async () => {
    helm = await buildHelm()
    host = await embeddedHost()
    await host.apply(
      // Helm creates the first; `leases` is that of the Leases in everything.yaml.
      [release.namespace, 'leases'].map(name => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
    )
  })
  after(() => host?.stop())

  for (const [what, values] of [
    ['the default values', {}],
    ['values written for the Go operator', join(valuesFolder, 'go-operator.yaml')],
    ['every value changed', join(valuesFolder, 'everything.yaml')],
  ] as const)
    test(`with ${what}`, async () => {
      const objects = await renderedObjects(helm, { values })
      const served = objects.filter(({ kind = '' }) => !foreign.includes(kind))
      assert.ok(served.length >= 15)
      for (const object of served) await dryRun(object)
    })

  test('a field that does not exist is rejected, so the tests above can fail', async () => {
    const [object] = (await renderedObjects(helm)).filter(({ kind }) => kind === 'Deployment')
    const spec = { ...(object!.spec as object), replicaCount: 2 }
    await assert.rejects(
      dryRun({ ...object!, spec }),
      error => isKubeError(error) && /replicaCount/.test(error.message),
    )
  })

  async function dryRun(object: Rendered): Promise<void> {
    const { apiVersion = '', kind = '', metadata = {} } = object
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
    await host.client.raw({
      verb: 'create',
      method: 'POST',
      path: `${base}${inside}/${plurals[kind] ?? `${kind.toLowerCase()}s`}?dryRun=All&fieldValidation=Strict`,
      body: object,
    })
  }
})

test('the file with every value changed sets every value of the chart, and every key of the configuration', () => {
  const read = (path: string) => parse(readFileSync(path, 'utf8')) as object
  const set = read(join(valuesFolder, 'everything.yaml'))
  const missing = missingPaths(read(join(chartFolder, 'values.yaml')), set)
  assert.deepEqual(missing, [])
  const keys = configurationKeys.map(({ path }) => `config.${path}`)
  assert.deepEqual(
    keys.filter(path => path !== 'config.leaderElection.resourceLock' && !has(set, path)),
    [],
  )
})

/** Maps whose keys are free: setting one entry sets the value. */
const freeMaps = /(^|\.)(labels|annotations|resources|podSecurityContext|securityContext)$/

function missingPaths(defaults: object, set: unknown, path = ''): string[] {
  return Object.entries(defaults).flatMap(([name, value]) => {
    const at = path ? `${path}.${name}` : name
    // The only supported lock type.
    if (at === 'config.leaderElection.resourceLock') return []
    const member = (set as Record<string, unknown> | undefined)?.[name]
    if (member === undefined) return [at]
    const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isSection && !freeMaps.test(at) ? missingPaths(value, member, at) : []
  })
}

function has(object: unknown, path: string): boolean {
  let value = object
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  return value !== undefined
}
