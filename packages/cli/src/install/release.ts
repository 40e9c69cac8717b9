// SPDX-License-Identifier: Apache-2.0

// The release that this `grove` belongs to. A clone, and a package that was built without a registry, belong to none.

export interface Release {
  /** Where the images are, without their names: `registry.example/grove`. */
  readonly registry: string
  /** The tag of the release, for instance `v0.1.0`. */
  readonly version: string
}

/** The builds of npm package and executable replace this name. */
declare const GROVE_RELEASE: Release | undefined

export const release: Release | undefined = typeof GROVE_RELEASE === 'undefined' ? undefined : GROVE_RELEASE

/** The images that the release workflow publishes, without their tag, which is the version. */
export function repositoriesOf({ registry }: Release): {
  readonly operator: string
  readonly waiter: string
} {
  return { operator: `${registry}/grove-operator`, waiter: `${registry}/grove-initc` }
}
