// SPDX-License-Identifier: Apache-2.0

// Checks whether a value can be merged as its type, with the error messages of the API server.
import { isJsonObject } from '../json-value.ts'
import { type FieldType, type ListType, type MapType, type ScalarKind, shapeOf } from './field-type.ts'
import { compareGoText, goSyntax, goTypeOf, goValue } from './go-text.ts'
import { elementOf, itemProblem } from './list-items.ts'
import { describeElement, indexElement, type PathElement } from './path-element.ts'

export interface ConformanceOptions {
  /** Stored objects may have duplicate items, applied configurations may not. */
  readonly allowDuplicates: boolean
}

/** Returns undefined if the value conforms. */
export function conformanceError(
  value: unknown,
  type: FieldType,
  options: ConformanceOptions,
): string | undefined {
  const problems: Problem[] = []
  new Check(options.allowDuplicates, problems).value(value, type)
  const lines = problems.map(({ path, text }) =>
    path.length ? `${path.map(describeStep).join('')}: ${text}` : text,
  )
  return lines.length > 1 ? ['errors:', ...lines.map(line => `  ${line}`)].join('\n') : lines[0]
}

/** A field name or a list position. Formatted only for errors. */
type Step = string | readonly [type: ListType, list: readonly unknown[], index: number]

interface Problem {
  readonly path: readonly Step[]
  readonly text: string
}

function describeStep(step: Step): string {
  if (typeof step === 'string') return `.${step}`
  const [type, list, index] = step
  return describeElement(type.relation === 'atomic' ? indexElement(index) : elementOf(type, list[index])!)
}

class Check {
  readonly allowDuplicates: boolean
  readonly problems: Problem[]
  readonly path: Step[] = []

  constructor(allowDuplicates: boolean, problems: Problem[]) {
    this.allowDuplicates = allowDuplicates
    this.problems = problems
  }

  value(value: unknown, type: FieldType): void {
    const shape = shapeOf(type, value)
    if (shape === 'map') this.map(value, type.map!)
    else if (shape === 'list') this.list(value, type.list!)
    else this.report(type.scalar && scalarProblem(value, type.scalar))
  }

  map(value: unknown, type: MapType): void {
    if (!isJsonObject(value)) {
      if (value !== null) this.report(`expected map, got &{${goValue(value)}}`)
      return
    }
    // Free-form data cannot have errors.
    if (type.fields.size === 0 && type.element?.map === type) return
    for (const key of Object.keys(value)) {
      const member = type.fields.get(key)?.type ?? type.element
      if (!member) {
        this.undeclared(value, type)
        return
      }
      this.path.push(key)
      this.value(value[key], member)
      this.path.pop()
    }
  }

  /** Reports only the first undeclared field in sorted order, because the API server reports any of them. */
  undeclared(value: Record<string, unknown>, type: MapType): void {
    const names = Object.keys(value).filter(key => !type.fields.has(key))
    this.path.push(names.sort(compareGoText)[0]!)
    this.report('field not declared in schema')
    this.path.pop()
  }

  list(value: unknown, type: ListType): void {
    if (!Array.isArray(value)) {
      if (value !== null) this.report(`expected list, got &{${goValue(value)}}`)
      return
    }
    const seen = new Set<PathElement>()
    for (let i = 0; i < value.length; i++) {
      const problem = type.relation === 'atomic' ? undefined : itemProblem(type, value[i])
      if (problem !== undefined) {
        // Stops at this item, because paths below it could not be formatted.
        this.report(`element ${i}: ${problem}`)
        return
      }
      if (!this.allowDuplicates && type.relation !== 'atomic') this.unique(elementOf(type, value[i])!, seen)
      this.path.push([type, value, i])
      this.value(value[i], type.element)
      this.path.pop()
    }
  }

  unique(element: PathElement, seen: Set<PathElement>): void {
    if (seen.has(element)) this.report(`duplicate entries for key ${describeElement(element)}`)
    seen.add(element)
  }

  report(text: string | undefined): void {
    if (text !== undefined) this.problems.push({ path: [...this.path], text })
  }
}

function scalarProblem(value: unknown, kind: ScalarKind): string | undefined {
  if (value === null || value === undefined) return undefined
  switch (kind) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goTypeOf(value)}`
    case 'string':
      if (typeof value === 'string') return undefined
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goValue(value)}}`
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got &{${goValue(value)}}` : undefined
  }
}
