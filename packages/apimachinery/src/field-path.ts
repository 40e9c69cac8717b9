// SPDX-License-Identifier: Apache-2.0

/** A path in an object, built during traversal and formatted only for errors. `undefined` is the root. */
export interface FieldPath {
  readonly parent: FieldPath | undefined
  readonly segment: string | number
  /** The segment is a map key, not a declared property. */
  readonly mapKey: boolean
}

export function childPath(parent: FieldPath | undefined, segment: string | number): FieldPath {
  return { parent, segment, mapKey: false }
}

export function mapKeyPath(parent: FieldPath | undefined, key: string): FieldPath {
  return { parent, segment: key, mapKey: true }
}

/**
 * `spec.cliques[2].labels.app`: the format of schema errors, with map keys after a dot. Empty for the root.
 */
export function dottedPath(path: FieldPath | undefined): string {
  return render(path, false)
}

/** `spec.cliques[2].labels[app]`: the format of errors about lists and rules. `<nil>` for the root. */
export function bracketedPath(path: FieldPath | undefined): string {
  return path === undefined ? '<nil>' : render(path, true)
}

function render(path: FieldPath | undefined, bracketKeys: boolean): string {
  const segments: FieldPath[] = []
  for (let at = path; at !== undefined; at = at.parent) segments.push(at)
  let text = ''
  for (const { segment, mapKey } of segments.reverse()) {
    if (typeof segment === 'number' || (mapKey && bracketKeys)) text += `[${segment}]`
    else text += text === '' ? segment : `.${segment}`
  }
  return text
}
