// SPDX-License-Identifier: Apache-2.0

// What the words of a command and the kinds of a manifest mean on this cluster.
import { apiVersionOf, type Client, type DiscoveredResource, discover, resourceName } from '@grove/kube'
import { CommandError } from '../command-error.ts'

/** How long a kind may take to be served after its definition was applied, and how often it is looked for. */
const establishmentMs = 10_000
const lookEveryMs = 200

/** Everything that the cluster serves, asked for once and again when something new may have come. */
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

  /** The resources that a word names: a plural, singular, kind or short name, with its group (and version) behind dots
   * if wanted, or a category such as `all`. */
  named(word: string): DiscoveredResource[] {
    const category = this.#known.filter(({ categories, preferred }) => preferred && categories.includes(word))
    if (category.length > 0) return category.filter(({ verbs }) => verbs.includes('list'))
    const found = this.#find(word)
    if (!found)
      throw new CommandError(`the server doesn't have a resource type "${word}"${this.#nearest(word)}`, 1)
    return [found]
  }

  #find(word: string): DiscoveredResource | undefined {
    const [name = '', ...rest] = word.toLowerCase().split('.')
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

  #nearest(word: string): string {
    const meant = this.#known.find(({ resource, kind }) =>
      [resource, kind.toLowerCase()].some(name => isOneEditApart(name, word.toLowerCase())),
    )
    return meant ? `; did you mean ${resourceName(meant)}?` : ''
  }

  /** The resource of a manifest's kind. Waits for it when its definition has just been applied. */
  async ofKind(apiVersion: string, kind: string, mayCome: boolean): Promise<DiscoveredResource | undefined> {
    const find = () =>
      this.#known.find(candidate => candidate.kind === kind && apiVersionOf(candidate) === apiVersion)
    for (const until = Date.now() + establishmentMs; !find() && mayCome && Date.now() < until; ) {
      this.#known = await discover(this.#client)
      if (!find()) await new Promise(done => setTimeout(done, lookEveryMs))
    }
    return find()
  }

  /** The kind that was meant, where one letter is wrong. */
  nearestKind(kind: string): string | undefined {
    return this.#known.find(known => isOneEditApart(known.kind.toLowerCase(), kind.toLowerCase()))?.kind
  }

  /** The kinds of this name that are served in another version or group. */
  versionsOf(kind: string): string[] {
    return this.#known.filter(candidate => candidate.kind === kind).map(apiVersionOf)
  }
}

/** `podcliqueset.grove.io/llm`: how commands call an object. */
export function spoken({ singular, kind, group }: DiscoveredResource, name: string): string {
  return `${[singular || kind.toLowerCase(), group].filter(part => part !== '').join('.')}/${name}`
}

/** Whether one letter was added, left out, changed or swapped with its neighbour. */
function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false
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
