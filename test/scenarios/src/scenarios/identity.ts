// SPDX-License-Identifier: Apache-2.0

// The service account and token with which the pods of a set observe each other's start.
import assert from 'node:assert/strict'
import { names, type Pod, type Role, type Secret } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

const set = (startup: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: pair}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupType${startup}
    cliques:
      - name: first
        spec: {roleName: first, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/a:1}]}}
      - name: second
        spec: {roleName: second, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/b:1}]}}
`

const secretOf = (harness: Harness, name = names.tokenSecret('pair')) =>
  harness.client.find(resources.secrets, { name, namespace: harness.namespace })

async function createSecret(harness: Harness, name: string, more: object = {}): Promise<void> {
  await harness.client.create(resources.secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: harness.namespace, ...more },
    type: 'Opaque',
  } as Secret)
}

const podsOnceThere = (harness: Harness, count: number) =>
  harness.until(
    `${count} pods`,
    () => harness.pods('pair'),
    pods => pods.length === count,
  )

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

/** Meets the restricted Pod Security Standard. */
const restricted = (manifest: string) =>
  manifest
    .replaceAll(
      'podSpec: {',
      'podSpec: {securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}, ',
    )
    .replaceAll(
      '{name: main,',
      '{name: main, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}},',
    )

export const identityScenarios: Scenario[] = [
  {
    name: 'pods with startup dependencies are admitted to a namespace that enforces the restricted Pod Security Standard',
    async run(harness) {
      await harness.client.patch(
        namespaces,
        { name: harness.namespace },
        { merge: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } } },
      )
      await harness.apply(restricted(set('InOrder')))
      const pods = await podsOnceThere(harness, 2)
      assert.deepEqual(pods.map(({ spec }) => spec?.initContainers?.length ?? 0).sort(), [0, 1])
    },
  },
  {
    name: 'reports a ServiceAccount, a RoleBinding and a Service not controlled by the set, each with its code, and leaves them alone',
    async run(harness) {
      const { namespace } = harness
      const role = names.podRole('pair')
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role }
      await harness.client.create(resources.serviceAccounts, {
        metadata: { name: 'pair', namespace },
      } as never)
      await harness.client.create(resources.roleBindings, {
        metadata: { name: role, namespace },
        roleRef,
      } as never)
      await harness.client.create(resources.services, {
        metadata: { name: 'pair-0', namespace },
        spec: { ports: [{ port: 80 }] },
      } as never)
      await harness.apply(set('AnyOrder'))
      const untilCodes = (...codes: string[]) =>
        harness.until(
          `the errors ${codes.join(', ')}`,
          async () => (await harness.set('pair'))?.status?.lastErrors ?? [],
          errors =>
            errors
              .map(({ code }) => code)
              .sort()
              .join() === codes.join(),
        )
      await untilCodes('ERR_SYNC_PODCLIQUESET_SERVICE', 'ERR_SYNC_SERVICEACCOUNT')
      await harness.client.delete(resources.services, { name: 'pair-0', namespace })
      await harness.client.delete(resources.serviceAccounts, { name: 'pair', namespace })
      // The next obstacle is reported after the first one is removed.
      const [error] = await untilCodes('ERR_SYNC_ROLEBINDING')
      assert.match(error!.description, /exists and is not controlled by this PodCliqueSet/)
      await harness.client.delete(resources.roleBindings, { name: role, namespace })
      await harness.untilReady('pair', 2)
      await untilCodes()
    },
  },
  {
    name: 'reports a Secret not controlled by the set in place of the token Secret and leaves it alone; pods that need it wait',
    async run(harness) {
      await createSecret(harness, names.tokenSecret('pair'))
      await harness.apply(set('InOrder'))
      await harness.until(
        'the conflict in the status',
        () => harness.set('pair'),
        found => (found?.status?.lastErrors ?? []).some(error => error.code === 'ERR_SECRET_CONFLICT'),
      )
      const [first, ...others] = await podsOnceThere(harness, 1)
      assert.deepEqual([first?.spec?.initContainers, others], [undefined, []])
      await harness.client.delete(resources.secrets, {
        name: names.tokenSecret('pair'),
        namespace: harness.namespace,
      })
      await podsOnceThere(harness, 2)
      assert.ok((await secretOf(harness))?.data?.token)
    },
  },
  {
    name: 'pods with startup dependencies are created when the token exists, and a deleted token is recreated',
    async run(harness) {
      await harness.apply(set('InOrder'))
      await podsOnceThere(harness, 2)
      const first = await secretOf(harness)
      assert.ok(first?.data?.token)
      await harness.client.delete(resources.secrets, {
        name: first.metadata.name,
        namespace: harness.namespace,
      })
      // The operator does not watch Secrets. It reads the token when it needs it next.
      await harness.restartOperator()
      const [waiting] = (await harness.pods('pair')).filter(pod => pod.spec?.initContainers?.length)
      await harness.deletePod(waiting!.metadata.name)
      await harness.until(
        'another pod, and a token for it',
        async () => ({ pods: await harness.pods('pair'), secret: await secretOf(harness) }),
        ({ pods, secret }) =>
          pods.length === 2 &&
          !pods.some(pod => pod.metadata.uid === waiting!.metadata.uid) &&
          secret?.data?.token !== undefined,
      )
    },
  },
  {
    name: 'reports a Role not controlled by the set and leaves it alone, and reverts edits of its own Role',
    async run(harness) {
      const at = { name: names.podRole('pair'), namespace: harness.namespace }
      const foreign = await harness.client.create(resources.roles, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: at,
        rules: [],
      } as Role)
      await harness.apply(set('AnyOrder'))
      await harness.until(
        'the conflict in the status',
        () => harness.set('pair'),
        found => (found?.status?.lastErrors ?? []).some(error => error.code === 'ERR_SYNC_ROLE'),
      )
      assert.equal((await harness.client.get(resources.roles, at)).metadata.uid, foreign.metadata.uid)
      await podsOnceThere(harness, 2)
      await harness.client.delete(resources.roles, at)
      const own = await harness.until(
        'our own',
        () => harness.client.find(resources.roles, at),
        found => found !== undefined,
      )
      const { rules } = own!
      assert.deepEqual(rules, [
        { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'watch'] },
      ])
      await harness.client.patch(resources.roles, at, { merge: { rules: [] } })
      await harness.writesOfAnotherReconcile('pair')
      assert.deepEqual((await harness.client.get(resources.roles, at)).rules, rules)
    },
  },
  {
    name: 'the token Secret of former releases is deleted when no pod mounts it',
    async run(harness) {
      await harness.apply(set('AnyOrder'))
      await podsOnceThere(harness, 2)
      const owner = (await harness.set('pair'))!
      const former = names.legacyTokenSecret('pair')
      await createSecret(harness, former, {
        ownerReferences: [
          {
            apiVersion: owner.apiVersion,
            kind: owner.kind,
            name: 'pair',
            uid: owner.metadata.uid,
            controller: true,
          },
        ],
      })
      const mounting = await harness.client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'of-a-former-release',
          namespace: harness.namespace,
          labels: (await harness.pods('pair'))[0]!.metadata.labels!,
        },
        spec: {
          containers: [{ name: 'main', image: 'registry.example/a:1' }],
          volumes: [{ name: 'token', secret: { secretName: former } }],
          terminationGracePeriodSeconds: 0,
        },
      } as Pod)
      await harness.restartOperator()
      await harness.untilQuiet()
      assert.ok(await secretOf(harness, former), 'a pod mounts it')
      await harness.deletePod(mounting.metadata.name)
      await harness.until(
        'that pod to be deleted',
        () => harness.pods('pair'),
        pods => !pods.some(pod => pod.metadata.uid === mounting.metadata.uid),
      )
      await harness.restartOperator()
      await harness.until(
        'the former Secret to be deleted',
        () => secretOf(harness, former),
        secret => secret === undefined,
      )
    },
  },
]
