// SPDX-License-Identifier: Apache-2.0

// The version of this build. The release build sets these values; a clone has the defaults.
export const version = {
  gitVersion: process.env.GROVE_VERSION ?? 'v0.1.0-dev',
  gitCommit: process.env.GROVE_COMMIT ?? 'unknown',
  gitTreeState: process.env.GROVE_TREE_STATE ?? 'dirty',
  buildDate: process.env.GROVE_BUILD_DATE ?? '1970-01-01T00:00:00Z',
  runtimeVersion: `node-${process.version}`,
  compiler: 'typescript',
  platform: `${process.platform}/${process.arch}`,
} as const

export function versionLine(): string {
  return `grove-operator {${Object.values(version).join(' ')}}`
}
