// SPDX-License-Identifier: Apache-2.0

/** The part of a test runner event that is read here. */
export interface TestEvent {
  readonly type: string
  readonly data: { readonly nesting?: number; readonly message?: string }
}

const count = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/

/** Joins the events of several runs in order. The counts at the end are the sums over all runs. */
export async function* eventsOf(runs: readonly AsyncIterable<TestEvent>[]): AsyncGenerator<TestEvent> {
  const counts = new Map<string, number>()
  for (const run of runs)
    for await (const event of run) {
      const { nesting, message = '' } = event.data
      const [, what, number] =
        event.type === 'test:diagnostic' && nesting === 0 ? (count.exec(message) ?? []) : []
      if (what) counts.set(what, (counts.get(what) ?? 0) + Number(number))
      else yield event
    }
  for (const [what, number] of counts)
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${what} ${number}` } }
}
