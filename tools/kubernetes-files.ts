// SPDX-License-Identifier: Apache-2.0

// The order of the test files that use a real Kubernetes, and the files that run at the same time.
import { globSync } from 'node:fs'

/** The longest files, longest first: started late, they would delay the end of the whole run. */
export const longest: readonly string[] = [
  'test/scenarios/src/scenarios.kubernetes.test.ts',
  'test/conformance/kubectl/kubectl.kubernetes.test.ts',
  'packages/kube/src/cache/watch-chaos.kubernetes.test.ts',
  'test/conformance/conformance.kubernetes.test.ts',
  'test/kubernetes/src/options.kubernetes.test.ts',
  'packages/kube/src/lease/hand-over.kubernetes.test.ts',
  'packages/operator/src/process/process.kubernetes.test.ts',
  'test/scenarios/src/startup-order.kubernetes.test.ts',
]

/** These files run alone, after the others: one measures time, one starts hundreds of processes. */
export const alone: readonly string[] = [
  'packages/waiter/src/waiter.kubernetes.test.ts',
  'test/scenarios/src/fault-injection.kubernetes.test.ts',
]

/** The measured memory of a control plane with its nodes and the test, with a margin. */
const bytesPerFile = 3 * 1024 ** 3

export interface Order {
  readonly together: readonly string[]
  readonly alone: readonly string[]
}

export function allFiles(root: string): string[] {
  return globSync('{packages,test,tools}/**/*.kubernetes.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
}

export function ordered(files: readonly string[]): Order {
  const rank = (file: string) => {
    const at = longest.indexOf(file)
    return at < 0 ? longest.length : at
  }
  const sorted = files.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return {
    together: sorted.filter(file => !alone.includes(file)),
    alone: sorted.filter(file => alone.includes(file)),
  }
}

/** More would gain nothing: the longest file alone takes a quarter of the time. */
const most = 4

/** Returns the number of files that run at the same time: at most one per processor, and as many as fit into memory. */
export function howManyAtATime(processors: number, bytes: number): number {
  return Math.max(1, Math.min(most, processors, Math.floor(bytes / bytesPerFile)))
}
