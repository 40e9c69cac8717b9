// SPDX-License-Identifier: Apache-2.0

// Resolves resource arguments and kinds of manifests on this cluster.
import {
  apiVersionOf,
  type Client,
  type DiscoveredResource,
  discover,
  resourceName,
} from '@grove/kube/client'
import { CommandError } from '../command-error.ts'
import { similarName } from '../manifests/similar-name.ts'

/** Maximum delay until a kind is served after its definition was applied, and the poll interval. */
const establishmentMs = 10_000
const lookEveryMs = 200

/** All resources that the cluster serves. Discovered once, and again when a new kind may be served. */
export class ServedKinds {
  readonly #client: Client
  #known: readonly DiscoveredResource[]

  private constructor(client: Client, known: readonly DiscoveredResource[]) {
    this.#client = client
    this.#known = known
  }

  static async of(client: Client): Promise<ServedKinds> {
    return new ServedKinds(client, await discover(client))
  }

  /**
   * The resources of an argument: a plural, singular, kind or short name, optionally with group and version, or a
   * category such as `all`.
   */
  named(arg: string): DiscoveredResource[] {
    const category = this.#known.filter(({ categories, preferred }) => preferred && categories.includes(arg))
    if (category.length > 0) return category.filter(({ verbs }) => verbs.includes('list'))
    const found = this.#find(arg)
    if (!found)
      throw new CommandError(`the server doesn't have a resource type "${arg}"${this.#nearest(arg)}`, 1)
    return [found]
  }

  /** The resources that can be listed, each in its preferred version. */
  listable(): DiscoveredResource[] {
    return this.#known.filter(({ preferred, verbs }) => preferred && verbs.includes('list'))
  }

  #find(arg: string): DiscoveredResource | undefined {
    const [name = '', ...rest] = arg.toLowerCase().split('.')
    const suffix = rest.join('.')
    const candidates = this.#known.filter(
      ({ resource, singular, kind, shortNames }) =>
        resource === name ||
        singular === name ||
        kind.toLowerCase() === name ||
        (suffix === '' && shortNames.includes(name)),
    )
    if (suffix === '') return candidates.find(({ preferred }) => preferred) ?? candidates[0]
    return (
      candidates.find(({ group, preferred }) => group === suffix && preferred) ??
      candidates.find(({ group, version }) => `${version}.${group}` === suffix) ??
      candidates.find(({ group, preferred }) => preferred && group.startsWith(`${suffix}.`))
    )
  }

  #nearest(arg: string): string {
    const meant = this.#known.find(({ resource, kind }) =>
      [resource, kind.toLowerCase()].some(name => isAtMostOneEditApart(name, arg.toLowerCase())),
    )
    return meant ? `; did you mean ${resourceName(meant)}?` : ''
  }

  /** The resource of a manifest's kind. Waits for it if its definition has just been applied. */
  async ofKind(
    apiVersion: string,
    kind: string,
    mayAppear: boolean,
  ): Promise<DiscoveredResource | undefined> {
    const find = () =>
      this.#known.find(candidate => candidate.kind === kind && apiVersionOf(candidate) === apiVersion)
    for (const until = Date.now() + establishmentMs; !find() && mayAppear && Date.now() < until; ) {
      this.#known = await discover(this.#client)
      if (!find()) await new Promise(done => setTimeout(done, lookEveryMs))
    }
    return find()
  }

  /** The served kind that a misspelt one probably means. Kinds of the same API version are preferred. */
  nearestKind(apiVersion: string, kind: string): string | undefined {
    const same = this.#known.filter(candidate => apiVersionOf(candidate) === apiVersion)
    for (const known of [same, this.#known]) {
      const lower = kind.toLowerCase()
      const meant =
        known.find(({ resource, shortNames }) => resource === lower || shortNames.includes(lower)) ??
        known.find(candidate => isAtMostOneEditApart(candidate.kind.toLowerCase(), lower))
      const found =
        meant?.kind ??
        similarName(
          kind,
          known.filter(isLong).map(each => each.kind),
        )
      if (found) return found
    }
    return undefined
  }

  /** Versions and groups in which a kind of this name is served. */
  versionsOf(kind: string): string[] {
    return this.#known.filter(candidate => candidate.kind === kind).map(apiVersionOf)
  }
}

/** `podcliqueset.grove.io/llm`: the printed name of an object. */
export function displayName({ singular, kind, group }: DiscoveredResource, name: string): string {
  return `${[singular || kind.toLowerCase(), group].filter(part => part !== '').join('.')}/${name}`
}

/** Two letters of difference make another word of a short one: Node is not Role. */
function isLong({ kind }: DiscoveredResource): boolean {
  return kind.length > 6
}

/** Reports whether at most one letter was added, removed, changed or swapped with its neighbour. */
function isAtMostOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [x, y] = [a.slice(start), b.slice(start)]
  return (
    x.slice(1) === y.slice(1) ||
    x.slice(1) === y ||
    x === y.slice(1) ||
    (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2))
  )
}
