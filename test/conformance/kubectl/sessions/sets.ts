// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defaultPodCliqueSet, type PodCliqueSet } from '@grove/api'
import { sessions } from '../session.ts'
import type { Shell } from '../shell.ts'

const clique = (name: string, replicas: number, more: object = {}) => ({
  name,
  spec: {
    roleName: name,
    replicas,
    minAvailable: 1,
    podSpec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    ...more,
  },
})

const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}

/** Fields that admission would set: these clusters have no webhooks. */
export const setManifest = (image = 'registry.example/app:1') =>
  JSON.stringify(
    defaultPodCliqueSet({
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      metadata: { name: 'llm' },
      spec: {
        replicas: 1,
        template: {
          cliques: [
            clique('router', 1, { autoScalingConfig: { minReplicas: 1, maxReplicas: 3, metrics: [cpu] } }),
            clique('leader', 1),
            clique('worker', 1),
          ],
          podCliqueScalingGroups: [
            { name: 'decode', cliqueNames: ['leader', 'worker'], replicas: 2, minAvailable: 1 },
          ],
        },
      },
    } as unknown as PodCliqueSet),
  )
    .replaceAll('registry.example/app:1', image)
    .replace(/"namespace":"default",?/, '')
    .replace(',}', '}')

async function stands(shell: Shell, groups = 2): Promise<void> {
  await shell.silently('wait --for=jsonpath={.status.availableReplicas}=1 pcs/llm --timeout=120s')
  const group = 'pcsg/llm-0-decode'
  await shell.silently(`wait --for=jsonpath={.status.availableReplicas}=${groups} ${group} --timeout=120s`)
  await shell.silently(`wait --for=jsonpath={.status.updatedReplicas}=${groups} ${group} --timeout=120s`)
  await shell.silently('wait --for=jsonpath={.status.readyReplicas}=1 pclq --all --timeout=120s')
}

export const setSessions = sessions({
  'sets: apply, get, describe, scale, edit, patch, delete': async shell => {
    const input = setManifest()
    await shell.types('apply -f -', { input })
    await shell.types('apply -f -', { input })
    await shell.types('diff -f -', { input })
    await stands(shell)
    for (const kind of ['pcs', 'pcsg', 'pclq', 'podgangs']) {
      await shell.types(`get ${kind}`)
      await shell.types(`get ${kind} -o wide`)
      await shell.types(`describe ${kind}`, { only: withoutTimes })
    }
    await shell.types('get pcs,pcsg,pclq,pg -o name -l app.kubernetes.io/part-of=llm')
    await shell.types(
      'get pods -l app.kubernetes.io/part-of=llm -o custom-columns=CLIQUE:.metadata.labels.grove\\.io/podclique',
      { sorted: true },
    )
    await shell.types(
      'get services,serviceaccounts,roles,rolebindings,hpa -o name -l app.kubernetes.io/part-of=llm',
    )
    await shell.types('describe hpa llm-0-router', {
      only: linesWith(/^(Name|Reference|Min replicas|Max replicas):/),
    })
    await shell.types('describe service llm-0', { only: withoutAddresses })
    await shell.types('rollout status pcs/llm', { code: 1 })
    await shell.types('scale pcsg llm-0-decode --replicas=3')
    await stands(shell, 3)
    await shell.types('get podgangs')
    await shell.types(
      'get pcsg llm-0-decode --subresource=scale -o jsonpath={.spec.replicas}/{.status.selector}',
    )
    await shell.types('scale pclq llm-0-router --replicas=2')
    await shell.types('wait --for=jsonpath={.status.readyReplicas}=2 pclq/llm-0-router --timeout=120s')
    await shell.isRejected('patch pcs llm -p {"spec":{"replicas":2}} --type=strategic')
    await shell.types('patch pcs llm --type=json -p [{"op":"replace","path":"/spec/replicas","value":2}]')
    await shell.types('wait --for=jsonpath={.status.availableReplicas}=2 pcs/llm --timeout=120s')
    await shell.types('patch pcs llm --type=merge -p {"spec":{"replicas":1}}')
    await shell.isRejected('patch pcs llm --type=merge -p {"spec":{"replicas":"two"}}')
    await shell.types('patch pcs llm --type=merge -p {"spec":{"template":{"nonsense":1}}} --dry-run=server')
    await shell.types('edit pcs llm', { environment: { EDITOR: 'sed -i s/app:1/app:2/' } })
    await shell.types('get pcs llm -o jsonpath={.spec.template.cliques[*].spec.podSpec.containers[0].image}')
    await shell.types('label pcs llm team=a')
    await shell.types('annotate pcs llm note=b')
    await shell.types(
      'get pcs -l team=a -o custom-columns=NAME:.metadata.name,NOTE:.metadata.annotations.note',
    )
    await shell.types('delete pcs llm')
    await shell.sees('get pods,pclq,pcsg,pg -o name', /^$/)
    await shell.types('apply --server-side -f -', { input: setManifest('registry.example/app:3') })
    await stands(shell)
    await shell.types('delete pcs llm --cascade=foreground')
    const left = await shell.types('get pcs,pclq,pcsg,podgangs')
    assert.equal(left, '')
  },

  'sets: a Service created by expose survives scale-in and deletion': async shell => {
    const input = setManifest().replace('"replicas":1', '"replicas":2')
    await shell.types('apply -f -', { input })
    await shell.silently('wait --for=jsonpath={.status.availableReplicas}=2 pcs/llm --timeout=120s')
    for (const replica of [0, 1]) {
      const pods = await shell.silently(`get pods -l grove.io/podclique=llm-${replica}-router -o name`)
      // The name of the pod is random, and so is that of the Service unless it is given.
      await shell.silently(`expose ${pods.trim()} --port=80 --name=public-${replica}`)
    }
    await shell.types('get services -l app.kubernetes.io/part-of=llm -o name')
    await shell.types('scale pcs llm --replicas=1')
    await shell.sees('get pclq,pods -l grove.io/podcliqueset-replica-index=1 -o name', /^$/)
    await shell.sees('get service llm-1 --ignore-not-found -o name', /^$/)
    await shell.types('get services -l app.kubernetes.io/part-of=llm -o name')
    await shell.types('delete pcs llm')
    await shell.sees('get pods,pclq,pcsg,pg -o name', /^$/)
    const left = await shell.types('get services -l app.kubernetes.io/part-of=llm -o name')
    assert.equal(left, 'service/public-0\nservice/public-1\n')
  },

  'describe of claims, nodes and the placement of sets': async shell => {
    const claim = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name: 'gpu' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } },
    }
    const template = { ...claim, kind: 'ResourceClaimTemplate', spec: { spec: claim.spec } }
    const binding = {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'ClusterTopologyBinding',
      metadata: { name: shell.namespace },
      spec: { levels: [{ domain: 'rack', key: 'example.com/rack' }] },
    }
    const input = [claim, template, binding].map(object => JSON.stringify(object)).join('\n---\n')
    await shell.types('create -f -', { input })
    await shell.types('get resourceclaims,resourceclaimtemplates')
    await shell.types('describe resourceclaim gpu')
    await shell.types('describe resourceclaimtemplate gpu')
    await shell.types(`get ct ${shell.namespace} -o jsonpath={.spec.levels}`)
    await shell.types(`describe ct ${shell.namespace}`, { only: linesWith(/Domain|Key:|^ *Levels|^Kind/) })
    await shell.types('describe node node-a', { only: placing })
    await shell.types(`delete ct ${shell.namespace}`)
  },
})

function linesWith(pattern: RegExp): (text: string) => string {
  return text =>
    text
      .split('\n')
      .filter(line => pattern.test(line))
      .join('\n')
}

/** Times and names of converged objects are random. */
function withoutTimes(text: string): string {
  return text
    .replace(/^ *Resource Version:.*\n/gm, '')
    .replace(/^Events:[\s\S]*?(?=^\S|(?![\s\S]))/gm, '')
    .replace(/^( *Name: +llm-\S+)-[bcdfghjklmnpqrstvwxz2456789]{5}$/gm, '$1-<random>')
}

function withoutAddresses(text: string): string {
  return text.replace(/^Endpoints:.*\n/gm, '')
}

/** The resources of a node and its pods; the rest depends on the simulation of the kubelet. */
function placing(text: string): string {
  const kept = /^(Name|Roles|Taints|Unschedulable|Addresses|Capacity|Allocatable|Allocated resources):/
  let isKept = false
  return text
    .split('\n')
    .filter(line => {
      if (/^\S/.test(line)) isKept = kept.test(line)
      return isKept
    })
    .join('\n')
}
