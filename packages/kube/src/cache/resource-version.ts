// SPDX-License-Identifier: Apache-2.0

/** Orders two resourceVersions of one kind of object: negative when the first is older. They are decimal numbers
 * without leading zeros that may exceed what a JavaScript number holds; since Kubernetes 1.35 the API promises that
 * they compare so, and every older server that stores in etcd does the same. */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
