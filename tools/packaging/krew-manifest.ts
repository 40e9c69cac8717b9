// SPDX-License-Identifier: Apache-2.0

// `npm run krew -- --version VERSION --url URL --archives FOLDER` prints the Krew manifest of a release, with the
// checksums of the archives of the single executables.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { readArguments, rejectArguments } from '../arguments.ts'

const usage = `Usage: npm run krew -- --version VERSION --url URL --archives FOLDER

Prints the Krew manifest of the kubectl plugin. FOLDER has the archives kubectl-grove-OS-ARCH.tar.gz; URL is the address
from which users download them, without the name of the archive.`

/** The platforms that the release workflow builds on. */
export const platforms = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'darwin', arch: 'arm64' },
  { os: 'windows', arch: 'amd64' },
] as const

export interface PluginRelease {
  /** The tag of the release, for instance `v0.1.0`. */
  readonly version: string
  readonly url: string
  /** The content of an archive; undefined if there is none. */
  archive(name: string): Uint8Array | undefined
}

export function krewManifest({ version, url, archive }: PluginRelease): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'grove' },
    spec: {
      version,
      shortDescription: 'Validate, plan and inspect PodCliqueSets',
      description:
        'Validates and renders PodCliqueSets, plans where their pods would run, explains why gangs wait, shows sets as a ' +
        'tree, checks clusters, and runs a local cluster with simulated nodes.\n',
      homepage: new URL('../..', `${url}/`).href.replace(/\/$/, ''),
      platforms: platforms.map(({ os, arch }) => {
        const name = `kubectl-grove-${os}-${arch}.tar.gz`
        const content = archive(name)
        if (!content) throw new Error(`the archive ${name} is missing`)
        return {
          selector: { matchLabels: { os, arch } },
          uri: `${url}/${name}`,
          sha256: createHash('sha256').update(content).digest('hex'),
          bin: os === 'windows' ? 'kubectl-grove.exe' : 'kubectl-grove',
        }
      }),
    },
  }
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, {
    options: { version: { type: 'string' }, url: { type: 'string' }, archives: { type: 'string' } },
  })
  const { version, url, archives } = values
  if (!version || !url || !archives) rejectArguments('--version, --url and --archives are required', usage)
  const archive = (name: string) => {
    const path = join(resolve(archives), name)
    return existsSync(path) ? readFileSync(path) : undefined
  }
  process.stdout.write(stringify(krewManifest({ version, url, archive })))
}
