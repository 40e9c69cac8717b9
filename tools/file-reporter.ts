// SPDX-License-Identifier: Apache-2.0

// A reporter for whole test runs: one line for each file, and the report of tests that fail. The names of thousands of
// tests that pass would hide them.
import { relative } from 'node:path'
import { spec } from 'node:test/reporters'

interface TestEvent {
  readonly type: string
  readonly data: {
    readonly file?: string
    readonly duration_ms?: number
    readonly counts?: { readonly tests: number }
  }
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures = new spec()
  for await (const event of withoutPassed(source)) {
    const { file, counts, duration_ms: duration = 0 } = event.data
    if (event.type === 'test:summary' && file !== undefined) {
      const tests = counts?.tests ?? 0
      yield `${relative('.', file)}: ${tests} ${tests === 1 ? 'test' : 'tests'}, ${(duration / 1000).toFixed(1)} s\n`
      continue
    }
    failures.write(event)
    for (let text = failures.read(); text !== null; text = failures.read()) yield String(text)
  }
  failures.end()
  for await (const text of failures) yield String(text)
}

/** Omits tests that pass. A suite that contains a failure fails itself, so its start is still shown. */
async function* withoutPassed(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const started: TestEvent[] = []
  for await (const event of source)
    if (event.type === 'test:start') started.push(event)
    else if (event.type === 'test:pass') started.pop()
    else if (event.type === 'test:fail') {
      yield* started.splice(0)
      yield event
    } else yield event
}
