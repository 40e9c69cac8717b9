// SPDX-License-Identifier: Apache-2.0

// Compares the requests that the operator sends to a real API server under its own service account with its RBAC rules.
// Every feature is in use. No request is forbidden, and no rule is unused.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { loadConfiguration } from '@grove/api'
import type { Client } from '@grove/kube'
import { operatorClusterRole, operatorRole } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { AuditLog } from './audit.ts'
import { audited } from './audited-runs.ts'
import { Harness } from './harness.ts'
import { scrapeMetrics, serviceAccountToken } from './metrics-access.ts'
import { type OperatorProcess, operatorUser, startOperatorProcess } from './operator-process.ts'
import { takenNames } from './scenarios/strange-states.ts'

const configuration = {
  server: { metrics: { secure: true } },
  topologyAwareScheduling: { enabled: true },
  network: { autoMNNVLEnabled: true },
  scheduler: {
    profiles: [{ name: 'default-scheduler' }, { name: 'kai-scheduler' }, { name: 'volcano' }],
  },
  revisionHistory: { limit: 1 },
}

const owners = [
  'podcliquesets.grove.io',
  'podcliques.grove.io',
  'podcliquescalinggroups.grove.io',
  'clustertopologybindings.grove.io',
  'podgangs.scheduler.grove.io',
]
const cached = [
  ...owners,
  'horizontalpodautoscalers.autoscaling',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'computedomains.resource.nvidia.com',
  'podgroups.scheduling.run.ai',
  'podgroups.scheduling.volcano.sh',
  'topologies.kai.scheduler',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'serviceaccounts',
  'services',
  'secrets',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
]
const createdByName = [
  'computedomains.resource.nvidia.com',
  'controllerrevisions.apps',
  'podgangs.scheduler.grove.io',
  'podgroups.scheduling.run.ai',
  'podgroups.scheduling.volcano.sh',
  'resourceclaims.resource.k8s.io',
  'roles.rbac.authorization.k8s.io',
]

/** Permissions that a run does not always use, by the reason for which the operator has them. */
const heldAnyway: Readonly<Record<string, readonly string[]>> = {
  'admission can check the permission to set owner references that block deletion': owners.map(
    owner => `update ${owner}/finalizers`,
  ),
  'lists of API servers without streaming lists are paginated': cached.map(resource => `list ${resource}`),
  'an object is read only when its name is already taken': createdByName.map(resource => `get ${resource}`),
  'granted to the role of a set; RBAC lets a client grant only permissions that it has': [
    'get pods',
    'get pods/status',
    'list pods/status',
    'watch pods/status',
  ],
  'admission of sets with topology constraints': ['get clustertopologybindings.grove.io'],
  'protection of managed objects, if enabled': ['get podcliquesets.grove.io'],
  'objects of former releases are deleted': [
    'delete secrets',
    'delete podcliques.grove.io',
    'delete podcliquescalinggroups.grove.io',
  ],
  'repeated events are counted': ['patch events'],
  'a template that is reverted before it is recorded needs no new revision number': [
    'patch controllerrevisions.apps',
  ],
  'autoscalers are deleted together with their set': ['delete horizontalpodautoscalers.autoscaling'],
}

describe('the operator under its own account', () => {
  const log = new AuditLog(operatorUser)
  let kubernetes: Kubernetes
  let client: Client
  let operator: OperatorProcess

  before(async () => {
    kubernetes = await startKubernetes({
      nodes: 10,
      flags: {
        'kube-apiserver': [
          ...log.flags,
          // The creator of an object with blockOwnerDeletion needs permission to update the finalizers of the owner.
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
    log.remove()
  })

  test('sends no forbidden request and has no unused permission', async () => {
    const loaded = loadConfiguration({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      ...configuration,
    })
    assert.ok(loaded.outcome === 'loaded')
    const newHarness = async () =>
      new Harness({
        client,
        operatorClient: client,
        namespace: await kubernetes.newNamespace('audit'),
        writes: [],
        configuration: loaded.configuration,
      })
    const harness = await newHarness()
    const obstructed = await newHarness()
    const results = await Promise.allSettled([
      ...audited.runs.map(run => run(harness)),
      takenNames.run(obstructed),
    ])
    const broken = results.flatMap(result => (result.status === 'rejected' ? [String(result.reason)] : []))
    assert.deepEqual(broken, [], operator.output)

    const anyone = await serviceAccountToken(client, { namespace: 'default', name: 'default' })
    assert.equal((await scrapeMetrics(client, operator, anyone)).status, 403)

    const asked = log.requestsOf(operatorUser)
    assert.ok(asked.length > 50, 'the audit log contains requests of the operator')
    assert.deepEqual(log.deniedTo(operatorUser), [])
    assert.doesNotMatch(operator.output, /forbidden/i)
    const secrets = asked.filter(({ objectRef }) => objectRef?.resource === 'secrets')
    const certificate =
      '/api/v1/namespaces/grove-system/secrets?fieldSelector=metadata.name%3Dgrove-webhook-server-cert'
    for (const { verb, requestURI } of secrets)
      if (verb === 'list' || verb === 'watch')
        assert.ok(requestURI.replace(/\?.*(?=fieldSelector)/, '?').startsWith(certificate), requestURI)

    const held = [
      ...(operatorClusterRole(loaded.configuration).rules ?? []),
      ...(operatorRole('grove-system', loaded.configuration).rules ?? []),
    ]
    const justified = new Set(Object.values(heldAnyway).flat())
    assert.deepEqual(
      log.unusedBy(operatorUser, held).filter(right => !justified.has(right)),
      [],
      'permissions that are granted and never used',
    )
  })
})
