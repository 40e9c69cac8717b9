// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileText } from '../src/testing/hostile-text.ts'
import { el, type ViewNode } from '../src/view/element.ts'
import { patchChildren } from './patch.ts'

// The part of the DOM that patch.ts uses. It has no way to parse HTML.
class FakeNode {
  nodeValue: string | null = null
  parent: FakeElement | undefined
  readonly nodeType: number
  constructor(nodeType: number) {
    this.nodeType = nodeType
  }
  get nextSibling(): FakeNode | null {
    const siblings = this.parent?.childNodes ?? []
    return siblings[siblings.indexOf(this) + 1] ?? null
  }
}

class FakeElement extends FakeNode {
  readonly localName: string
  readonly childNodes: FakeNode[] = []
  readonly attributes = new Map<string, string>()
  readonly ownerDocument = {
    createElement: (tag: string) => new FakeElement(tag),
    createTextNode: () => new FakeNode(3),
  }
  constructor(localName: string) {
    super(1)
    this.localName = localName
  }
  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null
  }
  get children(): FakeElement[] {
    return this.childNodes.filter(node => node instanceof FakeElement)
  }
  getAttributeNames = () => [...this.attributes.keys()]
  getAttribute = (name: string) => this.attributes.get(name) ?? null
  hasAttribute = (name: string) => this.attributes.has(name)
  setAttribute = (name: string, value: string) => void this.attributes.set(name, value)
  removeAttribute = (name: string) => void this.attributes.delete(name)
  removeChild(node: FakeNode): void {
    this.childNodes.splice(this.childNodes.indexOf(node), 1)
    node.parent = undefined
  }
  insertBefore(node: FakeNode, before: FakeNode | null): FakeNode {
    node.parent?.removeChild(node)
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before)
    this.childNodes.splice(at, 0, node)
    node.parent = this
    return node
  }
}

function draw(root: FakeElement, ...views: ViewNode[]): void {
  patchChildren(root as never, views)
}

/** The elements and texts as nested lists. */
function shapeOf(node: FakeNode): unknown {
  return node instanceof FakeElement ? [node.localName, ...node.childNodes.map(shapeOf)] : node.nodeValue
}

test('hostile text becomes the value of a text node', () => {
  const root = new FakeElement('main')
  draw(root, el('p', { title: hostileText }, hostileText))
  assert.deepEqual(shapeOf(root), ['main', ['p', hostileText]])
  assert.equal(root.children[0]?.getAttribute('title'), hostileText)
})

test('an update reuses elements, and keeps the open state of branches', () => {
  const branch = (text: string) => el('details', { open: '' }, el('summary', {}, text))
  const root = new FakeElement('main')
  draw(root, branch('one'))
  const [details] = root.children
  assert.equal(details?.getAttribute('open'), '')
  details?.removeAttribute('open')
  draw(root, branch('two'))
  assert.equal(root.children[0], details)
  assert.equal(details?.hasAttribute('open'), false)
  assert.deepEqual(shapeOf(root), ['main', ['details', ['summary', 'two']]])
  details?.setAttribute('open', '')
  draw(root, el('details', {}, el('summary', {}, 'three')))
  assert.equal(details?.hasAttribute('open'), true)
})

test('elements with a key move with their state, and others are removed', () => {
  const item = (key: string) => el('li', { 'data-key': key }, key)
  const root = new FakeElement('ul')
  draw(root, item('a'), item('b'), item('c'))
  const [a, b, c] = root.children
  draw(root, item('c'), item('x'), item('a'))
  assert.deepEqual(shapeOf(root), ['ul', ['li', 'c'], ['li', 'x'], ['li', 'a']])
  assert.deepEqual([root.children[0], root.children[2]], [c, a])
  assert.ok(!root.children.includes(b!))
})

test('a different element or text at the same position replaces the one before', () => {
  const root = new FakeElement('main')
  draw(root, 'text', el('p', { class: 'a' }, 'x'), el('p', {}, 'y'))
  draw(root, el('h1', {}, 'title'), 'text', el('p', {}, 'z'))
  assert.deepEqual(shapeOf(root), ['main', ['h1', 'title'], 'text', ['p', 'z']])
  assert.equal(root.children[1]?.hasAttribute('class'), false)
  draw(root)
  assert.deepEqual(shapeOf(root), ['main'])
})
