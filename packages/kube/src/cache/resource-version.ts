// SPDX-License-Identifier: Apache-2.0

/**
 * Compares two resourceVersions of one kind; negative if the first is older. They are decimal numbers without leading
 * zeros that may exceed a JavaScript number. Since Kubernetes 1.35 the API promises this order, and every older
 * server that stores in etcd has it too.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
