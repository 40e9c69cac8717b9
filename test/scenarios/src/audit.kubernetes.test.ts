// SPDX-License-Identifier: Apache-2.0

// What the operator asks of a real API server under its own account, with every feature in use: nothing that is forbidden,
// and no right that it never needs.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfiguration } from '@grove/api'
import type { Client } from '@grove/kube'
import { operatorClusterRole, operatorRole } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { auditEvents, auditPolicy, rightsOf, rightUsedBy } from './audit.ts'
import { audited } from './audited-lives.ts'
import { type OperatorProcess, operatorUser, startOperatorProcess } from './operator-process.ts'
import { Stage } from './stage.ts'

const configuration = {
  topologyAwareScheduling: { enabled: true },
  network: { autoMNNVLEnabled: true },
  scheduler: {
    profiles: [{ name: 'default-scheduler' }, { name: 'kai-scheduler' }, { name: 'volcano' }],
  },
  revisionHistory: { limit: 1 },
}

/** Rights that no request of these lives needs, and why they are held. */
const heldAnyway: Readonly<Record<string, string>> = {
  'update podcliquesets.grove.io/finalizers':
    'owner references that block deletion are checked by some clusters',
  'update podcliques.grove.io/finalizers':
    'owner references that block deletion are checked by some clusters',
  'update podcliquescalinggroups.grove.io/finalizers':
    'owner references that block deletion are checked by some clusters',
  'update clustertopologybindings.grove.io/finalizers':
    'owner references that block deletion are checked by some clusters',
  'update podgangs.scheduler.grove.io/finalizers':
    'owner references that block deletion are checked by some clusters',
  'get pods/status': 'granted to the role of a set, and nobody grants what they do not have',
  'list pods/status': 'granted to the role of a set, and nobody grants what they do not have',
  'watch pods/status': 'granted to the role of a set, and nobody grants what they do not have',
}

describe('the operator under its own account', () => {
  let folder: string
  let kubernetes: Kubernetes
  let client: Client
  let operator: OperatorProcess

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'grove-audit-'))
    const policy = join(folder, 'policy.yaml')
    writeFileSync(policy, JSON.stringify(auditPolicy(operatorUser)))
    kubernetes = await startKubernetes({
      nodes: 10,
      flags: {
        'kube-apiserver': [
          `--audit-policy-file=${policy}`,
          `--audit-log-path=${join(folder, 'audit.log')}`,
          // Who owns something that blocks its owner's deletion must be allowed to finalize the owner.
          '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
        ],
      },
    })
    client = adminClient(kubernetes)
    await audited.install(client)
    operator = await startOperatorProcess(kubernetes, { configuration })
  })
  after(async () => {
    operator?.kill()
    await client?.close()
    await kubernetes?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('asks for nothing that is forbidden, and has no right that it does not need', async () => {
    const loaded = loadConfiguration({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      ...configuration,
    })
    assert.ok(loaded.outcome === 'loaded')
    const namespace = await kubernetes.newNamespace('audit')
    const stage = new Stage({
      client,
      operatorClient: client,
      namespace,
      writes: [],
      configuration: loaded.configuration,
    })
    const lives = await Promise.allSettled(audited.lives.map(life => life(stage)))
    const broken = lives.flatMap(life => (life.status === 'rejected' ? [String(life.reason)] : []))
    assert.deepEqual(broken, [], operator.output)

    const asked = auditEvents(join(folder, 'audit.log'), operatorUser)
    assert.ok(asked.length > 50, 'the audit log knows the operator')
    const refused = asked
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
    assert.deepEqual(refused, [])
    assert.doesNotMatch(operator.output, /forbidden/i)
    const secrets = asked.filter(({ objectRef }) => objectRef?.resource === 'secrets').map(({ verb }) => verb)
    assert.ok(!secrets.includes('list') && !secrets.includes('watch'), 'Secrets are asked for by name only')

    const used = new Set(asked.map(rightUsedBy))
    const held = [
      ...(operatorClusterRole(loaded.configuration).rules ?? []),
      ...(operatorRole('grove-system', loaded.configuration).rules ?? []),
    ]
    const unused = [...new Set(rightsOf(held))].filter(right => !used.has(right)).sort()
    assert.deepEqual(unused, Object.keys(heldAnyway).sort(), 'rights that are held and never used')
  })
})
