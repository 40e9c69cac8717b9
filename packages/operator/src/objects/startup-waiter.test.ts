// SPDX-License-Identifier: Apache-2.0

// The fields that a pod with startup dependencies has in addition to a standalone pod.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { type Change, env, type Given, main, plainBut, podIn, withPodSpec } from '../testing/built-pod.ts'
import { clique, type SetShape, sampleSet } from '../testing/sample-set.ts'
import { WaiterImageMissingError } from './pod.ts'

const ordered = (podSpec: Partial<PodSpec> = {}, shape: Partial<SetShape> = {}): StoredSet => {
  const set = withPodSpec(podSpec)
  return sampleSet({
    startup: 'CliqueStartupTypeInOrder',
    cliques: [clique('first', { replicas: 3, minAvailable: 2 }), ...set.spec.template.cliques],
    ...shape,
  })
}

const waiterContainer = {
  name: 'grove-initc',
  image: 'grove-initc:v1',
  args: ['--podcliques=w-0-first:2'],
  securityContext: {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  volumeMounts: [
    { name: 'pod-info-vol', mountPath: '/var/grove/pod-info', readOnly: true },
    {
      name: 'sa-token-secret-vol',
      mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      readOnly: true,
    },
  ],
}
const waiterVolumes = [
  { name: 'sa-token-secret-vol', secret: { secretName: 'w-ic-sat', defaultMode: 420 } },
  {
    name: 'pod-info-vol',
    downwardAPI: {
      items: [
        { path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } },
        { path: 'podgangname', fieldRef: { fieldPath: "metadata.labels['grove.io/podgang']" } },
      ],
    },
  },
]
const both = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }
const ownBoth = { requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '200m', memory: '128Mi' } }

const table: Record<string, Given & { readonly gives: Change }> = {
  'a clique with parents: a waiter as last init container, without variables and claims': {
    set: ordered(
      {
        initContainers: [{ name: 'download', image: 'registry.example/get:1' }],
        volumes: [{ name: 'model', emptyDir: {} }],
      },
      { template: { resourceSharing: [{ name: 'gpu', scope: 'AllReplicas' }] } },
    ),
    gives: {
      spec: {
        initContainers: [
          {
            name: 'download',
            image: 'registry.example/get:1',
            env,
            resources: { claims: [{ name: 'w-all-gpu' }] },
          },
          waiterContainer,
        ],
        containers: [{ ...main, resources: { claims: [{ name: 'w-all-gpu' }] } }],
        volumes: [{ name: 'model', emptyDir: {} }, ...waiterVolumes],
        resourceClaims: [{ name: 'w-all-gpu', resourceClaimName: 'w-all-gpu' }],
      },
    },
  },
  'a Guaranteed pod stays Guaranteed, and the waiter of a pod that runs as root does not run as root': {
    set: ordered({
      containers: [{ name: 'main', image: 'registry.example/main:1', resources: both }],
      securityContext: { runAsUser: 0 },
    }),
    gives: {
      spec: {
        containers: [{ ...main, resources: both }],
        securityContext: { runAsUser: 0 },
        initContainers: [
          {
            ...waiterContainer,
            resources: ownBoth,
            securityContext: { ...waiterContainer.securityContext, runAsUser: 65_532 },
          },
        ],
        volumes: waiterVolumes,
      },
    },
  },
  'the waiter limits only the resources that every container of the pod limits': {
    set: ordered({
      containers: [
        { name: 'main', image: 'registry.example/main:1', resources: both },
        { name: 'side', image: 'registry.example/side:1', resources: { limits: { memory: '1Gi' } } },
      ],
    }),
    gives: {
      spec: {
        containers: [
          { ...main, resources: both },
          {
            name: 'side',
            image: 'registry.example/side:1',
            env,
            resources: { limits: { memory: '1Gi' } },
          },
        ],
        initContainers: [
          {
            ...waiterContainer,
            resources: { requests: { memory: '128Mi' }, limits: { memory: '128Mi' } },
          },
        ],
        volumes: waiterVolumes,
      },
    },
  },
  'the waiter requests what the container with the smallest request does, so that quotas and minima accept the pod':
    {
      set: ordered({
        containers: [
          {
            name: 'main',
            image: 'registry.example/main:1',
            resources: { requests: { cpu: '1', memory: '1Gi' } },
          },
          {
            name: 'side',
            image: 'registry.example/side:1',
            resources: { requests: { cpu: '500m' }, limits: { memory: '2Gi' } },
          },
        ],
      }),
      gives: {
        spec: {
          containers: [
            { ...main, resources: { requests: { cpu: '1', memory: '1Gi' } } },
            {
              name: 'side',
              image: 'registry.example/side:1',
              env,
              resources: { requests: { cpu: '500m' }, limits: { memory: '2Gi' } },
            },
          ],
          initContainers: [{ ...waiterContainer, resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
          volumes: waiterVolumes,
        },
      },
    },
  'a waiter with settings of the operator configuration': {
    set: ordered({ imagePullSecrets: [{ name: 'mine' }] }),
    configuration: {
      startupWaiter: {
        image: 'registry.example/waiter@sha256:12',
        imagePullPolicy: 'Always',
        imagePullSecrets: ['mine', 'pull'],
        resources: { limits: { cpu: '1' } },
      },
    },
    gives: {
      spec: {
        imagePullSecrets: [{ name: 'mine' }, { name: 'pull' }],
        initContainers: [
          {
            ...waiterContainer,
            image: 'registry.example/waiter@sha256:12',
            imagePullPolicy: 'Always',
            resources: { limits: { cpu: '1' } },
          },
        ],
        volumes: waiterVolumes,
      },
    },
  },
}

for (const [what, { gives, ...given }] of Object.entries(table))
  test(what, () => assert.deepEqual(podIn(given), plainBut(gives)))

test('a pod with parents is not built without an image for its waiter, and the error states why', () => {
  const { set } = table['a waiter with settings of the operator configuration']!
  assert.throws(
    () => podIn({ set, waiterImage: '' }),
    (error: unknown) =>
      error instanceof WaiterImageMissingError &&
      error.message.startsWith('ERR_INITCONTAINER_ENVIRONMENT_VARIABLE_MISSING'),
  )
})
