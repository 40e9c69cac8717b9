// SPDX-License-Identifier: Apache-2.0

// The nodes of `grove up --topology FILE`. playground/topology/topology.yaml is a commented sample.
import { QuantityError, readQuantity } from '@grove/apimachinery'
import { defaultTopologyLabels, type NodePlan, planNodes, type Topology } from '@grove/cluster'
import { CommandError } from '../../command-error.ts'
import { type ManifestDocument, readManifests } from '../../manifests/manifest.ts'
import { isObject } from '../../manifests/manifest-value.ts'

/** More nodes are most likely a typo. */
const mostNodes = 20_000

const counts = ['count', 'zones', 'blocks', 'racks', 'hosts', 'gpus', 'pods'] as const
const quantities = ['cpu', 'memory'] as const
const known = new Set<string>([
  ...counts,
  ...quantities,
  'name',
  'gpuResource',
  'resources',
  'labels',
  'taints',
])
const effects = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
const nodeName = /^[a-z0-9]([a-z0-9.-]{0,50}[a-z0-9])?$/

export async function readTopologyFile(path: string): Promise<NodePlan[]> {
  const documents = await readManifests([path])
  if (documents.length !== 1)
    throw new CommandError(`${path} must contain exactly one document, not ${documents.length}`)
  const reader = new Reader(documents[0]!)
  const plans = planNodes(reader.topology())
  if (plans.length > mostNodes)
    reader.fail('nodes', `define ${plans.length} nodes; the maximum is ${mostNodes}`)
  return plans
}

/** Reports every mistake with its position. */
class Reader {
  readonly #document: ManifestDocument

  constructor(document: ManifestDocument) {
    this.#document = document
  }

  topology(): Topology {
    const { value } = this.#document
    if (!isObject(value)) this.fail('', 'the file must contain the key nodes')
    this.#onlyKeys('', value, new Set(['nodes', 'labels']))
    const { nodes } = value
    if (!Array.isArray(nodes) || nodes.length === 0) this.fail('nodes', 'must be a list of groups of nodes')
    const groups = nodes.map((group, at) => this.#group(`nodes[${at}]`, group))
    if (value.labels !== undefined) {
      this.#strings('labels', value.labels)
      this.#onlyKeys('labels', value.labels as object, new Set(Object.keys(defaultTopologyLabels)))
    }
    return { ...value, nodes: groups } as Topology
  }

  #group(field: string, group: unknown): object {
    if (!isObject(group)) this.fail(field, 'must be an object that describes its nodes')
    this.#onlyKeys(field, group, known)
    for (const key of counts) {
      const count = group[key]
      if (count !== undefined && (!Number.isSafeInteger(count) || Number(count) < 0))
        this.fail(`${field}.${key}`, `must be a whole number, not ${JSON.stringify(count)}`)
    }
    if (group.name !== undefined && !(typeof group.name === 'string' && nodeName.test(group.name)))
      this.fail(`${field}.name`, 'must consist of lower case letters, digits, - and .')
    if (group.count !== undefined && ['zones', 'blocks', 'racks', 'hosts'].some(key => key in group))
      this.fail(`${field}.count`, 'cannot be combined with zones, blocks, racks or hosts')
    if (group.labels !== undefined) this.#strings(`${field}.labels`, group.labels)
    if (group.gpuResource !== undefined && typeof group.gpuResource !== 'string')
      this.fail(`${field}.gpuResource`, 'must be the name of a resource')
    if (group.taints !== undefined) this.#taints(`${field}.taints`, group.taints)
    const { resources } = group
    if (resources !== undefined && !isObject(resources))
      this.fail(`${field}.resources`, 'must map resources to quantities')
    return {
      ...group,
      ...this.#quantities(field, group, quantities),
      ...(resources && {
        resources: this.#quantities(`${field}.resources`, resources, Object.keys(resources)),
      }),
    }
  }

  #taints(field: string, taints: unknown): void {
    if (!Array.isArray(taints)) this.fail(field, 'must be a list')
    taints.forEach((taint, at) => {
      if (!isObject(taint) || typeof taint.key !== 'string')
        this.fail(`${field}[${at}]`, 'must have a key and an effect')
      if (!effects.has(String(taint.effect)))
        this.fail(`${field}[${at}].effect`, `must be one of ${[...effects].join(', ')}`)
    })
  }

  /** Quantities are texts, but YAML may have parsed a number. */
  #quantities(field: string, map: Readonly<Record<string, unknown>>, keys: readonly string[]) {
    const found: Record<string, string> = {}
    for (const key of keys) {
      const value = map[key]
      if (value === undefined) continue
      if (readQuantity(value) instanceof QuantityError)
        this.fail(`${field}.${key}`, `must be a quantity such as 8 or 64Gi, not ${JSON.stringify(value)}`)
      found[key] = String(value)
    }
    return found
  }

  #strings(field: string, map: unknown): void {
    if (!isObject(map)) this.fail(field, 'must map keys to strings')
    for (const [key, value] of Object.entries(map))
      if (typeof value !== 'string') this.fail(`${field}.${key}`, 'must be a string; put it in quotes')
  }

  #onlyKeys(field: string, map: object, allowed: ReadonlySet<string>): void {
    const unknown = Object.keys(map).find(key => !allowed.has(key))
    if (unknown !== undefined)
      this.fail(
        [field, unknown].filter(part => part).join('.'),
        `is unknown; the allowed keys are ${[...allowed].join(', ')}`,
      )
  }

  fail(field: string, text: string): never {
    const { source, line } = this.#document
    const at = field === '' ? undefined : this.#document.locate(field)
    throw new CommandError(`${source}:${at?.line ?? line}: ${[field, text].filter(part => part).join(' ')}`)
  }
}
