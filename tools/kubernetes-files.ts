// SPDX-License-Identifier: Apache-2.0

// Which test files of a real Kubernetes run side by side, and in which order.
import { globSync } from 'node:fs'

/** Those that take longest, longest first: begun late, they would be what everybody waits for at the end. */
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

/** These have the machine for themselves, after the rest: one judges by the clock, one starts hundreds of processes. */
export const alone: readonly string[] = [
  'packages/waiter/src/waiter.kubernetes.test.ts',
  'test/scenarios/src/fault-injection.kubernetes.test.ts',
]

/** A control plane with its nodes and the test itself, as measured, with room to spare. */
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

/** More would gain nothing: the longest file alone takes a good quarter of the time. */
const most = 4

/** As many as there are processors, and as fit into the memory. */
export function howManyAtATime(processors: number, bytes: number): number {
  return Math.max(1, Math.min(most, processors, Math.floor(bytes / bytesPerFile)))
}
