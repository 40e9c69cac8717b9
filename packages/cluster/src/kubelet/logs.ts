// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '../controllers/kinds.ts'

/** The number of lines kept per container. */
const keptLines = 1_000

interface Line {
  readonly at: number
  readonly text: string
}

/** Returns the lines that a container wrote before any line was appended. */
export type LineSource = (pod: Pod, container: string) => readonly string[]

/**
 * Container logs: simulated lines from a source, then appended lines. `follow` is not supported: a reader
 * gets the current lines.
 */
export class ContainerLogs {
  readonly #lines = new Map<string, Map<string, Line[]>>()
  readonly #source: LineSource

  constructor(source: LineSource = () => []) {
    this.#source = source
  }

  append(podUid: string, container: string, text: string, at: number): void {
    const containers = this.#lines.get(podUid) ?? new Map<string, Line[]>()
    this.#lines.set(podUid, containers)
    const lines = containers.get(container) ?? []
    containers.set(container, lines)
    lines.push({ at, text })
    if (lines.length > keptLines) lines.shift()
  }

  forget(podUid: string): void {
    this.#lines.delete(podUid)
  }

  /**
   * Returns the text for `kubectl logs`; undefined if the container has not started. Supports `tailLines`,
   * `limitBytes`, `timestamps` and `sinceTime`.
   */
  readonly read = (pod: Pod, container: string, options: URLSearchParams): string | undefined => {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
    const status = statuses.find(({ name }) => name === container)
    if (!status?.containerID) return undefined
    const started = Date.parse(status.state?.running?.startedAt ?? pod.status?.startTime ?? '') || 0
    const simulated = this.#source(pod, container).map(text => ({ at: started, text }))
    let lines = [...simulated, ...(this.#lines.get(pod.metadata?.uid ?? '')?.get(container) ?? [])]
    const since = Date.parse(options.get('sinceTime') ?? '')
    if (!Number.isNaN(since)) lines = lines.filter(({ at }) => at >= since)
    const tail = Number(options.get('tailLines') ?? Number.NaN)
    if (tail >= 0) lines = tail === 0 ? [] : lines.slice(-tail)
    const stamped = options.get('timestamps') === 'true'
    const text = lines
      .map(({ at, text }) => `${stamped ? `${new Date(at).toISOString()} ` : ''}${text}\n`)
      .join('')
    const limit = Number(options.get('limitBytes') ?? Number.NaN)
    return limit > 0 ? text.slice(0, limit) : text
  }
}
