// SPDX-License-Identifier: Apache-2.0

// The chart as Helm renders it, and the operator configuration that it contains.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { loadConfiguration, type OperatorConfiguration } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import type { Helm } from '@grove/test-kubernetes'
import { parse, parseAllDocuments } from 'yaml'

export const repository = resolve(import.meta.dirname, '../../..')
export const chartFolder = join(repository, 'charts/grove')
export const valuesFolder = resolve(import.meta.dirname, '../values')
export const goOperatorValues = join(valuesFolder, 'go-operator.yaml')
export const everyValue = join(valuesFolder, 'everything.yaml')
export const release = { name: 'grove-operator', namespace: 'grove-system' }

/** An object of a release. Tests look at fields of many kinds, so members are read through `at`. */
export type Rendered = KubeObject & Readonly<Record<string, unknown>>

export interface RenderOptions {
  /** A values file, or values. */
  readonly values?: string | object
  readonly chart?: string
}

export type Rendering =
  | { readonly ok: true; readonly objects: readonly Rendered[] }
  | { readonly ok: false; readonly message: string }

export async function render(helm: Helm, options: RenderOptions = {}): Promise<Rendering> {
  const folder = mkdtempSync(join(tmpdir(), 'grove-values-'))
  try {
    const { code, stdout, stderr } = await helm.run([
      'template',
      release.name,
      options.chart ?? chartFolder,
      '--namespace',
      release.namespace,
      ...valuesFlags(folder, options.values),
    ])
    return code === 0 ? { ok: true, objects: documents(stdout) } : { ok: false, message: stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function renderedObjects(helm: Helm, options: RenderOptions = {}): Promise<readonly Rendered[]> {
  const rendering = await render(helm, options)
  if (!rendering.ok) throw new Error(rendering.message)
  return rendering.objects
}

/** Flags that pass the values; writes values that are no file into the folder. */
export function valuesFlags(folder: string, values: string | object | undefined): string[] {
  if (values === undefined) return []
  if (typeof values === 'string') return ['--values', values]
  const file = join(folder, 'values.yaml')
  // JSON, because Helm reads YAML 1.1, where an unquoted yes is true.
  writeFileSync(file, JSON.stringify(values))
  return ['--values', file]
}

export function documents(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map(document => document.toJS() as Rendered | null)
    .filter(object => object !== null)
}

export function named(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter(
    each => each.kind === kind && (name === undefined || each.metadata?.name === name),
  )
  if (found.length !== 1)
    throw new Error(
      `${found.length} objects are ${kind} ${name ?? ''}: ${objects.map(each => `${each.kind} ${each.metadata?.name}`).join(', ')}`,
    )
  return found[0]!
}

export function configurationText(objects: readonly Rendered[]): string {
  const own = objects.filter(({ metadata }) => metadata?.name?.startsWith('grove-operator-cm-'))
  return (named(own, 'ConfigMap').data as Record<string, string>)['config.yaml']!
}

/**
 * The configuration that the operator loads from the ConfigMap. Fails on every reported problem, including unknown
 * keys.
 */
export function configurationOf(objects: readonly Rendered[]): OperatorConfiguration {
  const loaded = loadConfiguration(parse(configurationText(objects)))
  if (loaded.outcome !== 'loaded' || loaded.warnings.length > 0) throw new Error(JSON.stringify(loaded))
  return loaded.configuration
}

/** The value at a path such as `spec.template.spec.containers.0.args`. */
export function at(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object)
}
