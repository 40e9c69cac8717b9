// SPDX-License-Identifier: Apache-2.0

// The page as plain data, from which page/patch.ts creates DOM nodes. Strings become text nodes and attribute values,
// so that no name or message of the cluster is ever parsed as HTML.

export interface ViewElement {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly ViewNode[]
}

export type ViewNode = ViewElement | string

export type Children = readonly (ViewNode | undefined | Children)[]

const allowedAttributes =
  /^(class|id|title|href|scope|colspan|datetime|open|role|value|max|low|high|optimum|tabindex|data-key|aria-[a-z]+)$/

/** Throws on attributes that could run a script or load from elsewhere: links stay on this page. */
export function el(tag: string, attributes: Record<string, string> = {}, ...children: Children): ViewElement {
  for (const [name, value] of Object.entries(attributes)) {
    if (!allowedAttributes.test(name)) throw new Error(`attribute ${name} is not allowed`)
    if (name === 'href' && !value.startsWith('#/')) throw new Error('links lead to this page only')
  }
  return { tag, attributes, children: flattened(children) }
}

function flattened(children: Children): ViewNode[] {
  return children.flatMap(child =>
    child === undefined ? [] : Array.isArray(child) ? flattened(child as Children) : [child as ViewNode],
  )
}

/** The text of a node and of everything in it. */
export function textOf(node: ViewNode): string {
  return typeof node === 'string' ? node : node.children.map(textOf).join(' ')
}
