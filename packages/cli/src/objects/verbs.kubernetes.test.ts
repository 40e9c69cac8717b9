// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { testVerbs } from '../testing/object-commands.ts'

describe('kubectl commands on real Kubernetes', () => {
  let kubernetes: Kubernetes

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
  })
  after(() => kubernetes?.stop())

  testVerbs(
    () => kubernetes.kubeconfig,
    () => kubernetes.newNamespace('verbs'),
  )

  it('nodes that grove up does not simulate are not changed', async () => {
    const [node] = (await kubernetes.kubectl('get', 'nodes', '-o', 'name')).stdout
      .replaceAll('node/', '')
      .split('\n')
    for (const args of [`node kill ${node}`, `node restore ${node}`, 'node add another']) {
      const { status, stderr } = await call([...args.split(' '), '--kubeconfig', kubernetes.kubeconfig])
      assert.equal(status, 1)
      assert.match(stderr, /^grove: node \S+ is not a node of `grove up`: only simulated nodes can be/)
    }
  })

  /** Ages change between two calls. */
  const ageless = (text: string) => text.replace(/\b\d+m?\d*s\b/g, 'AGE')

  for (const args of [
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
    it(`grove ${args} prints the same as kubectl`, async () => {
      const list = args.split(' ')
      const [theirs, ours] = [
        await kubernetes.kubectl(...list),
        await call([...list, '--kubeconfig', kubernetes.kubeconfig]),
      ]
      assert.equal(ageless(ours.stdout), ageless(theirs.stdout))
      assert.equal(ours.stderr.trim(), theirs.stderr.trim())
      assert.equal(ours.status, theirs.code)
    })
})
