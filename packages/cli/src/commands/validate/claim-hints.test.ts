// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { call } from '../../testing/grove-call.ts'

const template = (name: string, namespace = 'default') => `---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: ${name}, namespace: ${namespace}}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example}}]}}}
`

/** Line 7 has the claims of the set, line 10 those of the group, line 14 those of the standalone clique. */
const setOf = ({
  ofSet = '[]',
  ofGroup = '[]',
  ofClique = '[]',
  replicas = 1,
}) => `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: llm}
spec:
  replicas: ${replicas}
  template:
    resourceSharing: ${ofSet}
    podCliqueScalingGroups:
      - name: grp
        resourceSharing: ${ofGroup}
        cliqueNames: [work]
        replicas: 3
    cliques:
      - {name: lead, resourceSharing: ${ofClique}, spec: {roleName: lead, replicas: 40, podSpec: {containers: [{name: main, image: a}]}}}
      - {name: work, spec: {roleName: work, replicas: 100, podSpec: {containers: [{name: main, image: a}]}}}
    resourceClaimTemplates:
      - name: own
        templateSpec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example}}]}}}
`

const folder = mkdtempSync(join(tmpdir(), 'grove-claims-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** An operator configuration that allows claim templates of one other namespace. */
function configuration(namespace: string): string {
  const path = join(folder, `${namespace}.yaml`)
  writeFileSync(
    path,
    `apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nresourceSharing: {allowedTemplateNamespaces: [${namespace}]}\n`,
  )
  return path
}
const opened = configuration('shared')

async function hints(command: 'validate' | 'render', input: string): Promise<string[]> {
  const { status, stdout, stderr } = await call([command, '-f', '-', '--config', opened], { input })
  assert.equal(status, 0, stderr)
  const text = command === 'validate' ? stdout : stderr
  return text.split('\n').filter(line => line.trimStart().startsWith('hint: '))
}

const missing = (field: string, wanted: string) =>
  `${field}.name: the set has no claim template of this name, and ResourceClaimTemplate ${wanted} is not in the given files; pods that use it stay pending until it exists`

describe('a missing claim template', () => {
  const lead = 'scope: PerReplica, filter: {childCliqueNames: [lead]}'
  const sharing = {
    ofSet: `[{name: own, ${lead}}, {name: fabrc, ${lead}}]`,
    ofGroup: '[{name: helper, namespace: shared, scope: PerReplica}]',
    ofClique: '[{name: gpu, scope: PerReplica}]',
  }

  it('causes a hint of validate, with its line', async () => {
    assert.deepEqual(await hints('validate', setOf(sharing) + template('gpu') + template('helper')), [
      `    hint: ${missing('spec.template.resourceSharing[1]', 'default/fabrc')}  (line 7)`,
      `    hint: ${missing('spec.template.podCliqueScalingGroups[0].resourceSharing[0]', 'shared/helper')}  (line 10)`,
    ])
  })

  it('causes a hint of render on standard error', async () => {
    const input = setOf(sharing) + template('gpu') + template('helper')
    assert.deepEqual(await hints('render', input), [
      `hint: standard input:7: ${missing('spec.template.resourceSharing[1]', 'default/fabrc')}`,
      `hint: standard input:10: ${missing('spec.template.podCliqueScalingGroups[0].resourceSharing[0]', 'shared/helper')}`,
    ])
  })

  it('causes no hint if the files contain it, in any order', async () => {
    const input = `${template('fabrc') + template('helper', 'shared') + template('gpu')}---\n${setOf(sharing)}`
    assert.deepEqual(await hints('validate', input), [])
    assert.deepEqual(await hints('render', input), [])
  })
})

it('render rejects templates of namespaces that the configuration does not allow, as validate does', async () => {
  const input = setOf({ ofSet: '[{name: helper, namespace: shared, scope: PerReplica}]' })
  for (const command of ['render', 'validate']) {
    const args = [command, '-f', '-', '--config', configuration('another')]
    const { status, stdout, stderr } = await call(args, { input })
    assert.equal(status, 1)
    assert.match(`${stdout}${stderr}`, /resourceSharing\[0\]\.namespace: Forbidden: /)
  }
})

describe('a claim with more consumers than Kubernetes allows', () => {
  const filter = (text: string) => `, filter: {${text}}`
  const table: [sharing: Parameters<typeof setOf>[0], field: string, pods: number | undefined][] = [
    [{ ofSet: '[{name: own, scope: AllReplicas}]' }, 'spec.template.resourceSharing[0]', 340],
    [{ ofSet: '[{name: own, scope: AllReplicas}]', replicas: 2 }, 'spec.template.resourceSharing[0]', 680],
    [{ ofSet: '[{name: own, scope: PerReplica}]', replicas: 2 }, 'spec.template.resourceSharing[0]', 340],
    [
      { ofSet: `[{name: own, scope: AllReplicas${filter('childCliqueNames: [work]')}}]` },
      'spec.template.resourceSharing[0]',
      300,
    ],
    [
      { ofSet: `[{name: own, scope: AllReplicas${filter('childScalingGroupNames: [grp]')}}]` },
      'spec.template.resourceSharing[0]',
      300,
    ],
    [{ ofSet: `[{name: own, scope: AllReplicas${filter('childCliqueNames: [lead]')}}]` }, '', undefined],
    [
      { ofGroup: '[{name: own, scope: AllReplicas}]', replicas: 2 },
      'spec.template.podCliqueScalingGroups[0].resourceSharing[0]',
      300,
    ],
    [{ ofGroup: '[{name: own, scope: PerReplica}]' }, '', undefined],
    [{ ofClique: '[{name: own, scope: AllReplicas}]', replicas: 9 }, '', undefined],
  ]
  for (const [sharing, field, pods] of table)
    it(JSON.stringify(sharing), async () => {
      const found = await hints('validate', setOf(sharing))
      assert.deepEqual(
        found.map(hint => hint.replace(/ {2}\(line \d+\)$/, '')),
        pods === undefined
          ? []
          : [
              `    hint: ${field}: ${pods} pods would share one claim, but Kubernetes allows 256; the others stay pending`,
            ],
      )
      // The rendered pods give the same number.
      const { stdout } = await call(['render', '-o', 'json', '-f', '-'], { input: setOf(sharing) })
      assert.equal(mostUsed(JSON.parse(stdout).items) > 256, pods !== undefined)
      if (pods !== undefined) assert.equal(mostUsed(JSON.parse(stdout).items), pods)
    })
})

interface PodLike {
  readonly kind: string
  readonly spec: { readonly resourceClaims?: readonly { readonly resourceClaimName?: string }[] }
}

/** Maximum number of pods that use the same claim. */
function mostUsed(objects: readonly PodLike[]): number {
  const claims = objects
    .filter(({ kind }) => kind === 'Pod')
    .flatMap(({ spec }) => (spec.resourceClaims ?? []).map(claim => claim.resourceClaimName ?? ''))
  const counts = [...Map.groupBy(claims, claim => claim).values()].map(same => same.length)
  return Math.max(0, ...counts)
}
