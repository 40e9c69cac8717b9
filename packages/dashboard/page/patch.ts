// SPDX-License-Identifier: Apache-2.0

// Makes the children of a DOM element equal to a view. Elements that stay are reused, so that focus, selection, scroll
// position and the open state of branches survive an update. Text is only ever set as text.
import type { ViewElement, ViewNode } from '../src/view/element.ts'

/** Attributes that the user changes in the page, which an update keeps. */
const keptOnUpdate: ReadonlySet<string> = new Set(['open'])

export function patchChildren(parent: Element, views: readonly ViewNode[]): void {
  const byKey = new Map<string, Element>()
  for (const child of parent.children) {
    const key = child.getAttribute('data-key')
    if (key !== null) byKey.set(key, child)
  }
  let at: ChildNode | null = parent.firstChild
  for (const view of views) {
    const reused = reusable(at, view, byKey)
    if (reused && reused !== at) parent.insertBefore(reused, at)
    const node = reused ?? parent.insertBefore(created(parent, view), at)
    patch(node, view, reused !== undefined)
    at = node.nextSibling
  }
  while (at) {
    const next: ChildNode | null = at.nextSibling
    parent.removeChild(at)
    at = next
  }
}

/** An element with a key is found anywhere among its siblings, others only at their position. */
function reusable(
  at: ChildNode | null,
  view: ViewNode,
  byKey: ReadonlyMap<string, Element>,
): ChildNode | undefined {
  if (typeof view === 'string') return at?.nodeType === 3 ? at : undefined
  const key = view.attributes['data-key']
  if (key !== undefined) return byKey.get(key)
  if (at?.nodeType !== 1) return undefined
  const element = at as unknown as Element
  const isSame = element.localName === view.tag && !element.hasAttribute('data-key')
  return isSame ? (at as ChildNode) : undefined
}

function created(parent: Element, view: ViewNode): ChildNode {
  const document = parent.ownerDocument
  return typeof view === 'string' ? document.createTextNode('') : document.createElement(view.tag)
}

function patch(node: ChildNode, view: ViewNode, isUpdate: boolean): void {
  if (typeof view === 'string') {
    if (node.nodeValue !== view) node.nodeValue = view
    return
  }
  const element = node as unknown as Element
  patchAttributes(element, view, isUpdate)
  patchChildren(element, view.children)
}

function patchAttributes(element: Element, { attributes }: ViewElement, isUpdate: boolean): void {
  for (const name of element.getAttributeNames())
    if (!(name in attributes) && !(isUpdate && keptOnUpdate.has(name))) element.removeAttribute(name)
  for (const [name, value] of Object.entries(attributes)) {
    if (isUpdate && keptOnUpdate.has(name)) continue
    if (element.getAttribute(name) !== value) element.setAttribute(name, value)
  }
}
