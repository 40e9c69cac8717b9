// SPDX-License-Identifier: Apache-2.0

// The token by which the pods of a set see each other start.
import assert from 'node:assert/strict'
import { names, type Pod, type Role, type Secret } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

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

const secretOf = (stage: Stage, name = names.tokenSecret('pair')) =>
  stage.client.find(resources.secrets, { name, namespace: stage.namespace })

async function createSecret(stage: Stage, name: string, more: object = {}): Promise<void> {
  await stage.client.create(resources.secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: stage.namespace, ...more },
    type: 'Opaque',
  } as Secret)
}

const podsOnceThere = (stage: Stage, count: number) =>
  stage.until(
    `${count} pods`,
    () => stage.pods('pair'),
    pods => pods.length === count,
  )

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

/** As strict as the strictest of the Pod Security Standards asks. */
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

export const identityStories: Story[] = [
  {
    name: 'pods that wait for others are let into a namespace that enforces the restricted Pod Security Standard',
    async tell(stage) {
      await stage.client.patch(
        namespaces,
        { name: stage.namespace },
        { merge: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } } },
      )
      await stage.apply(restricted(set('InOrder')))
      const pods = await podsOnceThere(stage, 2)
      assert.deepEqual(pods.map(({ spec }) => spec?.initContainers?.length ?? 0).sort(), [0, 1])
    },
  },
  {
    name: "an account, a binding and a Service of somebody else's are reported, each by its code, and left alone",
    async tell(stage) {
      const { namespace } = stage
      const role = names.podRole('pair')
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role }
      await stage.client.create(resources.serviceAccounts, { metadata: { name: 'pair', namespace } } as never)
      await stage.client.create(resources.roleBindings, {
        metadata: { name: role, namespace },
        roleRef,
      } as never)
      await stage.client.create(resources.services, {
        metadata: { name: 'pair-0', namespace },
        spec: { ports: [{ port: 80 }] },
      } as never)
      await stage.apply(set('AnyOrder'))
      const untilCodes = (...codes: string[]) =>
        stage.until(
          `the errors ${codes.join(', ')}`,
          async () => (await stage.set('pair'))?.status?.lastErrors ?? [],
          errors =>
            errors
              .map(({ code }) => code)
              .sort()
              .join() === codes.join(),
        )
      await untilCodes('ERR_SYNC_PODCLIQUESET_SERVICE', 'ERR_SYNC_SERVICEACCOUNT')
      await stage.client.delete(resources.services, { name: 'pair-0', namespace })
      await stage.client.delete(resources.serviceAccounts, { name: 'pair', namespace })
      // What comes next is met next.
      const [error] = await untilCodes('ERR_SYNC_ROLEBINDING')
      assert.match(error!.description, /exists and is not controlled by this PodCliqueSet/)
      await stage.client.delete(resources.roleBindings, { name: role, namespace })
      await stage.untilReady('pair', 2)
      await untilCodes()
    },
  },
  {
    name: 'a Secret of somebody else in the place of the token is reported and left alone; pods that need it wait',
    async tell(stage) {
      await createSecret(stage, names.tokenSecret('pair'))
      await stage.apply(set('InOrder'))
      await stage.until(
        'the conflict to be told',
        () => stage.set('pair'),
        found => (found?.status?.lastErrors ?? []).some(error => error.code === 'ERR_SECRET_CONFLICT'),
      )
      const [first, ...others] = await podsOnceThere(stage, 1)
      assert.deepEqual([first?.spec?.initContainers, others], [undefined, []])
      await stage.client.delete(resources.secrets, {
        name: names.tokenSecret('pair'),
        namespace: stage.namespace,
      })
      await podsOnceThere(stage, 2)
      assert.ok((await secretOf(stage))?.data?.token)
    },
  },
  {
    name: 'pods that wait for others are made when their token is there, and the token comes back when it is taken',
    async tell(stage) {
      await stage.apply(set('InOrder'))
      await podsOnceThere(stage, 2)
      const first = await secretOf(stage)
      assert.ok(first?.data?.token)
      await stage.client.delete(resources.secrets, {
        name: first.metadata.name,
        namespace: stage.namespace,
      })
      // Asked for when it is needed next: the operator does not watch Secrets.
      await stage.restartOperator()
      const [waiting] = (await stage.pods('pair')).filter(pod => pod.spec?.initContainers?.length)
      await stage.deletePod(waiting!.metadata.name)
      await stage.until(
        'another pod, and a token for it',
        async () => ({ pods: await stage.pods('pair'), secret: await secretOf(stage) }),
        ({ pods, secret }) =>
          pods.length === 2 &&
          !pods.some(pod => pod.metadata.uid === waiting!.metadata.uid) &&
          secret?.data?.token !== undefined,
      )
    },
  },
  {
    name: 'a Role of somebody else under our name is reported and left alone; our own is kept as it should be',
    async tell(stage) {
      const at = { name: names.podRole('pair'), namespace: stage.namespace }
      const foreign = await stage.client.create(resources.roles, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: at,
        rules: [],
      } as Role)
      await stage.apply(set('AnyOrder'))
      await stage.until(
        'the conflict to be told',
        () => stage.set('pair'),
        found => (found?.status?.lastErrors ?? []).some(error => error.code === 'ERR_SYNC_ROLE'),
      )
      assert.equal((await stage.client.get(resources.roles, at)).metadata.uid, foreign.metadata.uid)
      await podsOnceThere(stage, 2)
      await stage.client.delete(resources.roles, at)
      const own = await stage.until(
        'our own',
        () => stage.client.find(resources.roles, at),
        found => found !== undefined,
      )
      const { rules } = own!
      assert.deepEqual(rules, [
        { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'watch'] },
      ])
      await stage.client.patch(resources.roles, at, { merge: { rules: [] } })
      await stage.writesOnAnotherLook('pair')
      assert.deepEqual((await stage.client.get(resources.roles, at)).rules, rules)
    },
  },
  {
    name: 'the token Secret of former releases goes when no pod mounts it any more',
    async tell(stage) {
      await stage.apply(set('AnyOrder'))
      await podsOnceThere(stage, 2)
      const owner = (await stage.set('pair'))!
      const former = names.legacyTokenSecret('pair')
      await createSecret(stage, former, {
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
      const mounting = await stage.client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'of-a-former-release',
          namespace: stage.namespace,
          labels: (await stage.pods('pair'))[0]!.metadata.labels!,
        },
        spec: {
          containers: [{ name: 'main', image: 'registry.example/a:1' }],
          volumes: [{ name: 'token', secret: { secretName: former } }],
          terminationGracePeriodSeconds: 0,
        },
      } as Pod)
      await stage.restartOperator()
      await stage.untilQuiet()
      assert.ok(await secretOf(stage, former), 'a pod mounts it')
      await stage.deletePod(mounting.metadata.name)
      await stage.until(
        'that pod to be gone',
        () => stage.pods('pair'),
        pods => !pods.some(pod => pod.metadata.uid === mounting.metadata.uid),
      )
      await stage.restartOperator()
      await stage.until(
        'the former Secret to be gone',
        () => secretOf(stage, former),
        secret => secret === undefined,
      )
    },
  },
]
