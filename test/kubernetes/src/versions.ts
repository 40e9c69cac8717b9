// SPDX-License-Identifier: Apache-2.0

// The versions of the control plane. control-plane/go.mod pins Kubernetes and etcd; a file v1.N.P.mod next to it pins
// another version, which the environment variable KUBERNETES_VERSION selects. KWOK has its own module graph and is
// pinned here.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const kwokVersion = 'v0.7.0'
export const minimumGo = '1.26'
export const controlPlaneSource = join(import.meta.dirname, '..', 'control-plane')

export interface Versions {
  readonly kubernetes: string
  readonly etcd: string
  readonly kwok: string
}

/** Returns the name of the file that pins the selected version of Kubernetes. */
export function moduleFile(
  wanted: string | undefined = process.env.KUBERNETES_VERSION,
  files: readonly string[] = readdirSync(controlPlaneSource),
): string {
  const current = readVersions(readModule('go.mod')).kubernetes
  if (!wanted || wanted === current) return 'go.mod'
  const file = `${wanted}.mod`
  if (files.includes(file)) return file
  const others = files.filter(name => /^v.*\.mod$/.test(name)).map(name => name.slice(0, -'.mod'.length))
  throw new Error(
    `KUBERNETES_VERSION is ${wanted}, but test/kubernetes/control-plane pins only ${[current, ...others].join(', ')}. ` +
      'test/kubernetes/README.md says how to add a version.',
  )
}

export function readModule(name: string): string {
  return readFileSync(join(controlPlaneSource, name), 'utf8')
}

export function readVersions(goMod = readModule(moduleFile())): Versions {
  return {
    kubernetes: requiredVersion(goMod, 'k8s.io/kubernetes'),
    etcd: requiredVersion(goMod, 'go.etcd.io/etcd/server/v3'),
    kwok: kwokVersion,
  }
}

function requiredVersion(goMod: string, module: string): string {
  const escaped = module.replaceAll('.', '\\.')
  const found = new RegExp(`^\\s*(?:require\\s+)?${escaped}\\s+(v\\S+)`, 'm').exec(goMod)?.[1]
  if (!found) throw new Error(`go.mod requires no version of ${module}`)
  return found
}

/** A file name that changes with every input of the binary. */
export function cacheKey(
  name: string,
  version: string,
  inputs: readonly string[],
  platform: string = process.platform,
  arch: string = process.arch,
): string {
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(`${input.length}:`).update(input)
  return `${name}-${version}-${platform}-${arch}-${hash.digest('hex').slice(0, 12)}`
}
