// SPDX-License-Identifier: Apache-2.0

// `--registry REGISTRY --version VERSION` of the commands that build `grove`. With them, `grove manifests` names the
// images of that release, as the chart of `npm run chart` does.
import about from '../../packages/cli/package.json' with { type: 'json' }
import type { Release } from '../../packages/cli/src/install/release.ts'
import { rejectArguments } from '../arguments.ts'

export const releaseOptions = { registry: { type: 'string' }, version: { type: 'string' } } as const

/** Returns undefined if neither is given: the build belongs to no release. */
export function releaseOf(
  { registry, version }: { readonly registry?: string | undefined; readonly version?: string | undefined },
  usage: string,
): Release | undefined {
  if (!registry && !version) return undefined
  if (!registry || !version) rejectArguments('--registry and --version require each other', usage)
  const problem = versionProblem(version)
  if (problem) rejectArguments(problem, usage)
  return { registry, version }
}

/** npm would publish another version than that of the images. */
function versionProblem(version: string): string | undefined {
  if (version === `v${about.version}`) return undefined
  return `--version ${version} is not that of packages/cli/package.json: v${about.version}`
}

/** The constants of the build. */
export function releaseDefinition(release: Release | undefined): Record<string, string> {
  return release ? { GROVE_RELEASE: JSON.stringify(release) } : {}
}
