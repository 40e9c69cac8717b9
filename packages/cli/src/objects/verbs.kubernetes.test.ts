// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { rejectedTemplates, templates, thing } from '../testing/json-path-table.ts'
import { testVerbs } from '../testing/object-commands.ts'

/** Reports whether a template has a range without its end. */
const isOpen = (template: string) => template.split('{range').length > template.split('{end}').length

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
    'get nodes -o jsonpath={.items[*].metadata.name}',
    'get nodes -o jsonpath={range.items[*]}{.metadata.name}{"\\n"}{end}',
    'get nodes -o jsonpath-as-json={.items[*].status.capacity}',
    'get nodes -o jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}',
    'get nodes -o custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu,TAINTS:.spec.taints,ALL:.status.capacity',
    'get nodes -o custom-columns=NAME:metadata.name --no-headers --sort-by={.metadata.uid}',
    'get clusterroles --sort-by=.metadata.uid',
    'get clusterroles --sort-by=.metadata.uid -o name',
    'get namespaces,priorityclasses --sort-by=.value',
    'get priorityclasses --sort-by=value',
    'get pods -n kube-system -o custom-columns=NAME:.metadata.name',
    'get pods -n kube-system -o jsonpath={.items}{.kind}{.metadata}',
  ])
    it(`grove ${args} prints the same as kubectl`, async () => {
      const list = args.split(' ')
      const [theirs, ours] = [
        await kubernetes.kubectl(...list),
        await call([...list, '--kubeconfig', kubernetes.kubeconfig]),
      ]
      assert.equal(ageless(ours.stdout), ageless(theirs.stdout))
      assert.equal(ours.stderr.trim().replace(/^grove:/, 'error:'), theirs.stderr.trim())
      assert.equal(ours.status, theirs.code)
    })

  describe('JSONPath templates print the same as in kubectl', () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.jsonpath.example.com' },
      spec: {
        group: 'jsonpath.example.com',
        scope: 'Cluster',
        names: { plural: 'things', singular: 'thing', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    }
    const both = async (template: string) => {
      const args = ['get', 'thing', 'one', '-o', `jsonpath=${template}`]
      const theirs = await kubernetes.kubectl(...args)
      return { theirs, ours: await call([...args, '--kubeconfig', kubernetes.kubeconfig]) }
    }

    before(async () => {
      const object = { apiVersion: 'jsonpath.example.com/v1', kind: 'Thing', ...thing }
      const { status, stderr } = await call(['apply', '-f', '-', '--kubeconfig', kubernetes.kubeconfig], {
        input: [definition, object].map(each => JSON.stringify(each)).join('\n---\n'),
      })
      assert.equal(status, 0, stderr)
    })

    it('all templates of the table', async () => {
      // One call of kubectl for all of them. Recursive descent reaches metadata that the table does not have, and
      // visits fields in a random order.
      const table = templates.filter(([template]) => !template.includes('{..') && !isOpen(template))
      const separator = '\n--------\n'
      const { theirs, ours } = await both(table.map(([template]) => template).join(separator))
      assert.equal(theirs.stderr, '')
      assert.deepEqual(
        theirs.stdout.split(separator),
        table.map(([, output]) => output),
      )
      assert.equal(ours.stdout, theirs.stdout)
    })

    it('a range without end', async () => {
      for (const [template, output] of templates.filter(([each]) => isOpen(each))) {
        const { theirs, ours } = await both(template)
        assert.deepEqual([theirs.stdout, ours.stdout], [output, output])
      }
    })

    it('kubectl rejects the same templates', async () => {
      for (const [template, message] of rejectedTemplates) {
        const { theirs, ours } = await both(template)
        assert.equal(theirs.code, 1, template)
        assert.notEqual(ours.status, 0, template)
        assert.match(ours.stderr, message)
      }
    })
  })
})
