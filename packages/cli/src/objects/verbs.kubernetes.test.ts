// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { tellVerbs } from './verbs.fixture.ts'

describe('the verbs of kubectl on real Kubernetes', () => {
  let kubernetes: Kubernetes

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
  })
  after(() => kubernetes?.stop())

  tellVerbs(
    () => kubernetes.kubeconfig,
    () => kubernetes.newNamespace('verbs'),
  )

  it('nodes that are not simulated by grove up are left alone', async () => {
    const [node] = (await kubernetes.kubectl('get', 'nodes', '-o', 'name')).stdout
      .replaceAll('node/', '')
      .split('\n')
    for (const words of [`node kill ${node}`, `node restore ${node}`, 'node add another']) {
      const { status, stderr } = await call([...words.split(' '), '--kubeconfig', kubernetes.kubeconfig])
      assert.equal(status, 1)
      assert.match(stderr, /^grove: node \S+ is not one of `grove up`: only simulated nodes can be/)
    }
  })

  /** Ages pass between two looks. */
  const ageless = (text: string) => text.replace(/\b\d+m?\d*s\b/g, 'AGE')

  for (const words of [
    'get nodes',
    'get nodes -o wide --show-labels',
    'get namespaces/kube-system',
    'get serviceaccounts -A',
    'get namespaces,priorityclasses',
    'get clusterroles -l kubernetes.io/bootstrapping=rbac-defaults --no-headers',
    'get nodes -o name',
    'get nodes nope',
    'get pods -n kube-system',
  ])
    it(`grove ${words} prints what kubectl prints`, async () => {
      const list = words.split(' ')
      const [theirs, ours] = [
        await kubernetes.kubectl(...list),
        await call([...list, '--kubeconfig', kubernetes.kubeconfig]),
      ]
      assert.equal(ageless(ours.stdout), ageless(theirs.stdout))
      assert.equal(ours.stderr.trim(), theirs.stderr.trim())
      assert.equal(ours.status, theirs.code)
    })
})
