// SPDX-License-Identifier: Apache-2.0

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const replacements: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/**
 * Returns the name of a property in CEL: `namespace` is `__namespace__`, `a.b` is `a__dot__b`. Undefined for
 * names that CEL cannot express. Rules cannot access such properties.
 */
export function celName(property: string): string | undefined {
  if (reserved.has(property)) return `__${property}__`
  if (!/^[A-Za-z_./-][\w./-]*$/.test(property)) return undefined
  return property.replace(/__|[./-]/g, match => replacements[match]!)
}
