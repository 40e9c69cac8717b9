// SPDX-License-Identifier: Apache-2.0

// Tests built pods: the complete standalone pod, and for every feature exactly the fields that it adds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation } from '@grove/api'
import {
  type Change,
  env,
  type Given,
  main,
  plain,
  plainBut,
  podIn,
  withPodSpec,
} from '../testing/built-pod.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'

const table: Record<string, Given & { readonly gives: Change }> = {
  'a standalone pod': { set: sampleSet({ cliques: [clique('a')] }), gives: {} },
  'another index': {
    set: sampleSet({ cliques: [clique('a', { replicas: 3 })] }),
    index: 2,
    gives: { labels: { 'grove.io/podclique-pod-index': '2' }, spec: { hostname: 'w-0-a-2' } },
  },
  'another replica of the set': {
    set: sampleSet({ replicas: 3, cliques: [clique('a')] }),
    clique: 'w-2-a',
    gives: {
      metadata: {
        generateName: 'w-2-a-',
        ownerReferences: [{ ...plain.metadata.ownerReferences[0], name: 'w-2-a' }],
      },
      labels: {
        'app.kubernetes.io/name': 'w-2-a',
        'grove.io/podclique': 'w-2-a',
        'grove.io/podcliqueset-replica-index': '2',
        'grove.io/podgang': 'w-2',
      },
      spec: {
        hostname: 'w-2-a-0',
        subdomain: 'w-2',
        containers: [
          {
            ...main,
            env: env.map(one => ({
              ...one,
              ...(one.name === 'GROVE_PCS_INDEX' && { value: '2' }),
              ...(one.name === 'GROVE_PCLQ_NAME' && { value: 'w-2-a' }),
              ...(one.name === 'GROVE_HEADLESS_SERVICE' && { value: 'w-2.serving.svc.cluster.local' }),
            })),
          },
        ],
      },
    },
  },
  'user variables follow those of the operator; those with a reserved name are removed, similar names stay': {
    set: withPodSpec({
      containers: [
        {
          name: 'main',
          image: 'registry.example/main:1',
          env: [
            { name: 'GROVE_PCS_NAME', value: 'mine' },
            { name: 'LEADER', value: '$(GROVE_PCLQ_NAME)-0.$(GROVE_HEADLESS_SERVICE)' },
            { name: 'GROVE_PCSG_NAME', value: 'my own' },
            { name: 'GROVE_ELSE', value: 'kept' },
          ],
        },
      ],
    }),
    gives: {
      spec: {
        containers: [
          {
            ...main,
            env: [
              ...env,
              { name: 'LEADER', value: '$(GROVE_PCLQ_NAME)-0.$(GROVE_HEADLESS_SERVICE)' },
              { name: 'GROVE_PCSG_NAME', value: 'my own' },
              { name: 'GROVE_ELSE', value: 'kept' },
            ],
          },
        ],
      },
    },
  },
  'init containers get the variables, too': {
    set: withPodSpec({
      initContainers: [
        { name: 'download', image: 'registry.example/get:1', env: [{ name: 'A', value: 'b' }] },
      ],
    }),
    gives: {
      spec: {
        initContainers: [
          { name: 'download', image: 'registry.example/get:1', env: [...env, { name: 'A', value: 'b' }] },
        ],
      },
    },
  },
  'another cluster domain': {
    set: sampleSet({ cliques: [clique('a')] }),
    configuration: { network: { autoMNNVLEnabled: false, clusterDomain: 'site.example' } },
    gives: {
      spec: {
        containers: [
          {
            ...main,
            env: env.map(one =>
              one.name === 'GROVE_HEADLESS_SERVICE' ? { ...one, value: 'w-0.serving.svc.site.example' } : one,
            ),
          },
        ],
      },
    },
  },
  'keeps other scheduling gates, and adds the Grove gate once': {
    set: withPodSpec({
      schedulingGates: [{ name: 'example.com/quota' }, { name: 'grove.io/podgang-pending-creation' }],
    }),
    gives: {
      spec: {
        schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }, { name: 'example.com/quota' }],
      },
    },
  },
  'without the Grove gate for a scheduler that waits for complete gangs, with gates of other controllers': {
    set: withPodSpec({
      schedulerName: 'grove-scheduler',
      schedulingGates: [{ name: 'example.com/quota' }, { name: 'grove.io/podgang-pending-creation' }],
    }),
    gives: { spec: { schedulerName: 'grove-scheduler', schedulingGates: [{ name: 'example.com/quota' }] } },
  },
  'native gangs: the name of kube-scheduler, and the PodGroup of the clique': {
    set: withPodSpec({ schedulerName: 'kubernetes' }),
    gives: { spec: { schedulerName: 'default-scheduler', schedulingGroup: { podGroupName: 'w-0-a' } } },
  },
  'labels of the operator override those of the template; annotations are copied, except the topology': {
    set: withPodSpec(
      {},
      {
        labels: { team: 'blue', 'app.kubernetes.io/name': 'mine', 'grove.io/podgang': 'mine' },
        annotations: { note: 'read me', [annotation.topologyName]: 'site' },
      },
    ),
    gives: { labels: { team: 'blue' }, metadata: { annotations: { note: 'read me' } } },
  },
  'fields that the operator does not set are as the user wrote them': {
    set: withPodSpec({
      serviceAccountName: 'engine',
      priorityClassName: 'urgent',
      restartPolicy: 'OnFailure',
      terminationGracePeriodSeconds: 300,
      nodeSelector: { gpu: 'h200' },
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'model', emptyDir: {} }],
      imagePullSecrets: [{ name: 'pull' }],
      resourceClaims: [{ name: 'mine', resourceClaimTemplateName: 'nic' }],
      hostNetwork: true,
    }),
    gives: {
      spec: {
        serviceAccountName: 'engine',
        priorityClassName: 'urgent',
        restartPolicy: 'OnFailure',
        terminationGracePeriodSeconds: 300,
        nodeSelector: { gpu: 'h200' },
        tolerations: [{ operator: 'Exists' }],
        volumes: [{ name: 'model', emptyDir: {} }],
        imagePullSecrets: [{ name: 'pull' }],
        resourceClaims: [{ name: 'mine', resourceClaimTemplateName: 'nic' }],
        hostNetwork: true,
      },
    },
  },
  'the operator sets hostname and subdomain': {
    set: withPodSpec({ hostname: 'mine', subdomain: 'mine' }),
    gives: {},
  },
  'shared claims: added to the pod and to every container, after existing claims': {
    set: sampleSet({
      cliques: [
        {
          ...withPodSpec({
            resourceClaims: [{ name: 'mine', resourceClaimTemplateName: 'nic' }],
            initContainers: [{ name: 'download', image: 'registry.example/get:1' }],
            containers: [
              { ...clique('a').spec.podSpec.containers[0]!, resources: { claims: [{ name: 'mine' }] } },
            ],
          }).spec.template.cliques[0]!,
          resourceSharing: [{ name: 'gpu', scope: 'PerReplica' }],
        },
      ],
      template: {
        resourceSharing: [{ name: `long${'.'.repeat(1)}${'n'.repeat(60)}`, scope: 'AllReplicas' }],
      },
    }),
    gives: {
      spec: {
        resourceClaims: [
          { name: 'mine', resourceClaimTemplateName: 'nic' },
          {
            name: `w-all-long-${'n'.repeat(43)}-SUM`,
            resourceClaimName: `w-all-long.${'n'.repeat(60)}`,
          },
          { name: 'w-0-a-0-gpu', resourceClaimName: 'w-0-a-0-gpu' },
        ],
        initContainers: [
          {
            name: 'download',
            image: 'registry.example/get:1',
            env,
            resources: { claims: [{ name: `w-all-long-${'n'.repeat(43)}-SUM` }, { name: 'w-0-a-0-gpu' }] },
          },
        ],
        containers: [
          {
            ...main,
            resources: {
              claims: [
                { name: 'mine' },
                { name: `w-all-long-${'n'.repeat(43)}-SUM` },
                { name: 'w-0-a-0-gpu' },
              ],
            },
          },
        ],
      },
    },
  },
  'NVLink: containers with GPUs claim the ComputeDomain of the replica': {
    set: (() => {
      const gpus = { limits: { 'nvidia.com/gpu': '8' } }
      const set = withPodSpec(
        {
          containers: [
            { name: 'main', image: 'registry.example/main:1', resources: gpus },
            {
              name: 'side',
              image: 'registry.example/side:1',
              resources: { limits: { 'nvidia.com/gpu': '0' } },
            },
          ],
          initContainers: [{ name: 'check', image: 'registry.example/check:1', resources: gpus }],
        },
        { annotations: { [annotation.mnnvlGroup]: 'fabric' } },
      )
      return set
    })(),
    gives: {
      metadata: { annotations: { [annotation.mnnvlGroup]: 'fabric' } },
      spec: {
        containers: [
          { ...main, resources: { limits: { 'nvidia.com/gpu': '8' }, claims: [{ name: 'mnnvl-claim' }] } },
          {
            name: 'side',
            image: 'registry.example/side:1',
            env,
            resources: { limits: { 'nvidia.com/gpu': '0' } },
          },
        ],
        initContainers: [
          {
            name: 'check',
            image: 'registry.example/check:1',
            env,
            resources: { limits: { 'nvidia.com/gpu': '8' }, claims: [{ name: 'mnnvl-claim' }] },
          },
        ],
        resourceClaims: [{ name: 'mnnvl-claim', resourceClaimTemplateName: 'w-0-fabric' }],
      },
    },
  },
}

/** Replaces the hash in a shortened name, which the tests do not fix. */
const withoutSums = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replaceAll(/(n{43})-[0-9a-f]{8}/g, '$1-SUM')) as unknown

for (const [what, { gives, ...given }] of Object.entries(table))
  test(what, () => assert.deepEqual(withoutSums(podIn(given)), withoutSums(plainBut(gives))))
