// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import type { SetObjects } from '@grove/inspect'
import { projectPod } from '../caches/projections.ts'
import { nodesDocument } from '../documents/nodes.ts'
import { overviewDocument } from '../documents/overview.ts'
import { setDocument } from '../documents/set.ts'
import { hostileText } from '../testing/hostile-text.ts'
import { setManifests } from '../testing/objects.ts'
import { el, textOf, type ViewNode } from './element.ts'
import { errorView, pageView } from './page.ts'
import { documentPath, routeOf, setLink } from './route.ts'

const now = Date.parse('2030-01-01T01:00:00Z')
const notes = { isStale: false, problems: [] }

/** Every text of the cluster that a page shows is hostile, also those that an API server would reject. */
function hostileObjects(): SetObjects {
  const { set, clique, gang, pods } = setManifests({
    namespace: 'team',
    name: 'llm',
    pods: 2,
    readyPods: 0,
    gangMessage: hostileText,
  })
  const named = (object: object) =>
    JSON.parse(JSON.stringify(object), (key, value) => (key === 'name' ? hostileText : value))
  return {
    set: named(set) as PodCliqueSet,
    groups: [],
    cliques: [clique as never],
    gangs: [named(gang)],
    pods: pods.map(pod => projectPod(pod as never)),
  }
}

const hostileEvent = {
  metadata: {},
  type: 'Warning',
  reason: hostileText,
  message: hostileText,
  involvedObject: { kind: 'PodClique', namespace: 'team', name: 'llm-0-web' },
  lastTimestamp: hostileText,
} as never

const pages: readonly [string, ViewNode[]][] = [
  [
    'overview',
    pageView(
      { page: 'overview' },
      overviewDocument([hostileObjects()], [hostileEvent], {
        namespace: hostileText,
        isStale: true,
        problems: [{ resource: hostileText, message: hostileText }],
      }),
      now,
    ),
  ],
  [
    'set',
    pageView(
      { page: 'set', namespace: 'team', name: hostileText },
      setDocument(hostileObjects(), [hostileEvent], notes),
      now,
    ),
  ],
  [
    'nodes',
    pageView(
      { page: 'nodes' },
      nodesDocument(
        {
          nodes: [
            {
              metadata: { name: hostileText, labels: { rack: hostileText } },
              devices: { [`example.com/${hostileText}`]: 1 },
            } as never,
          ],
          pods: [],
          topologyBindings: [
            { metadata: { name: 'a' }, spec: { levels: [{ domain: hostileText, key: 'rack' }] } } as never,
          ],
        },
        notes,
      ),
      now,
    ),
  ],
  ['error', errorView(hostileText)],
]

const tags = new Set(
  'a caption details div h1 h2 li meter ol p section span strong summary table tbody td th thead time tr ul'.split(
    ' ',
  ),
)

for (const [name, views] of pages)
  test(`hostile texts of the cluster stay text on the page ${name}`, () => {
    assert.ok(views.map(textOf).join('').includes(hostileText))
    const check = (node: ViewNode): void => {
      if (typeof node === 'string') return
      assert.ok(tags.has(node.tag), `unexpected element ${node.tag}`)
      for (const attribute of Object.keys(node.attributes)) assert.doesNotMatch(attribute, /^(on|style|src)/)
      const { href } = node.attributes
      if (href !== undefined) assert.match(href, /^#\/[\w%.~!*'()/-]*$/)
      node.children.forEach(check)
    }
    views.forEach(check)
  })

test('rejects attributes that run scripts and links that leave the page', () => {
  assert.throws(() => el('p', { onclick: 'alert(1)' }), /onclick is not allowed/)
  assert.throws(() => el('p', { style: 'color: red' }), /style is not allowed/)
  assert.throws(() => el('img', { src: 'x' }), /src is not allowed/)
  assert.throws(() => el('a', { href: 'javascript:alert(1)' }), /this page only/)
  assert.throws(() => el('a', { href: '//example.com' }), /this page only/)
})

test('a link to a set leads to its document, with any characters in its name', () => {
  for (const [namespace, name] of [
    ['team', 'llm'],
    ['a/b', '../overview?x#y'],
  ] as const) {
    const route = routeOf(setLink(namespace, name))
    assert.deepEqual(route, { page: 'set', namespace, name })
    assert.doesNotMatch(documentPath(route).slice('api/sets/'.length), /\.\.\/|[?#]/)
  }
})

test('an unknown or broken fragment shows the overview', () => {
  for (const fragment of ['', '#', '#/sets/a', '#/sets/%E0%A4%A/x', '#/else', '#/sets/a/b/c'])
    assert.deepEqual(routeOf(fragment), { page: 'overview' })
  assert.deepEqual(routeOf('#/nodes'), { page: 'nodes' })
})
