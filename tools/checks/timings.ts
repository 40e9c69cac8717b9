// SPDX-License-Identifier: Apache-2.0

// A package keeps its literal times in one file, where each has its reason next to it. The check finds numbers that are
// assigned to a name of a time or passed as one. Zero is not a time: it means "now" or "none".
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** By package: the only file that may contain literal times. A package is added when it has such a file. */
const timingFiles: Readonly<Record<string, string>> = {
  'packages/operator': 'packages/operator/src/timings/timings.ts',
}

const testSupport = /\.test\.ts$|\.fixture\.ts$|\/testing\//
const number = String.raw`(?=[\d._]*[1-9])[\d._]+`
const literalTime = new RegExp(
  [
    // A name of a time: `delayMs = 100`, `{ timeoutSeconds: 10 }`, `delayMs: number = 100`.
    String.raw`\b\w*(?:[a-z]Ms|[sS]econds|[mM]inutes)\b\??(?:: number)?\s*[:=]\s*${number}`,
    // The result of a reconcile.
    String.raw`\brequeueAfter:\s*${number}`,
    // Calls that wait.
    String.raw`\b(?:setTimeout|setInterval)\([^;]*?,\s*${number}\s*\)`,
    String.raw`\b(?:AbortSignal\.timeout|sleep)\(\s*${number}`,
  ].join('|'),
)

export function checkTimings(root: string, files: Readonly<Record<string, string>> = timingFiles): string[] {
  return Object.entries(files).flatMap(([home, allowed]) =>
    globSync(`${home}/src/**/*.ts`, { cwd: root })
      .filter(file => file !== allowed && !testSupport.test(file))
      .sort()
      .flatMap(file =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => {
            const [found] = literalTime.exec(line) ?? []
            return found ? [`${file}:${index + 1}: literal time "${found}"; name it in ${allowed}`] : []
          }),
      ),
  )
}
