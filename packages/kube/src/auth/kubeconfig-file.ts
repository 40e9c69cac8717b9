// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import { ConfigError } from './config-error.ts'

// The part of the kubeconfig format that connecting needs, and the merge of several files.

export interface KubeconfigCluster {
  readonly server?: string
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
  readonly 'insecure-skip-tls-verify'?: boolean
  readonly 'tls-server-name'?: string
  readonly 'proxy-url'?: string
  readonly 'disable-compression'?: boolean
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[]
}

export interface KubeconfigExec {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
}

export interface KubeconfigUser {
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly as?: string
  readonly 'as-uid'?: string
  readonly 'as-groups'?: readonly string[]
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>
  readonly exec?: KubeconfigExec
  readonly 'auth-provider'?: { readonly name?: string }
}

export interface KubeconfigContext {
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
}

export interface Kubeconfig {
  readonly currentContext?: string
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>
  readonly users: ReadonlyMap<string, KubeconfigUser>
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

/**
 * Reads one file and makes its paths absolute; relative paths start at the file's folder. Returns undefined if the
 * file is missing and `mayBeMissing` is set.
 */
export function readKubeconfigFile(path: string, mayBeMissing: boolean): Kubeconfig | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (mayBeMissing && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError(`the kubeconfig ${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
  return parseKubeconfig(text, path)
}

export function parseKubeconfig(text: string, path: string): Kubeconfig {
  let raw: RawKubeconfig | null
  try {
    raw = parse(text) as RawKubeconfig | null
  } catch {
    // Drops the parser's message, because it quotes the text, which may contain a secret.
    throw new ConfigError(`the kubeconfig ${path} is not valid YAML`)
  }
  if (raw !== null && typeof raw !== 'object') throw new ConfigError(`${path} is not a kubeconfig`)
  const absolute = (file: string | undefined) =>
    file && !isAbsolute(file) ? join(dirname(path), file) : file
  return {
    currentContext: raw?.['current-context'] || undefined,
    clusters: byName(raw?.clusters, 'cluster', cluster => ({
      ...cluster,
      'certificate-authority': absolute(cluster['certificate-authority']),
    })),
    users: byName(raw?.users, 'user', user => ({
      ...user,
      'client-certificate': absolute(user['client-certificate']),
      'client-key': absolute(user['client-key']),
      tokenFile: absolute(user.tokenFile),
      exec: user.exec && { ...user.exec, command: commandPath(user.exec.command, absolute) },
    })),
    contexts: byName(raw?.contexts, 'context', context => context),
  }
}

/** The first file that sets a value or names an entry wins. Entries of the same name are not merged. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const later = [...files].reverse()
  return {
    currentContext: files.find(file => file.currentContext)?.currentContext,
    clusters: new Map(later.flatMap(file => [...file.clusters])),
    users: new Map(later.flatMap(file => [...file.users])),
    contexts: new Map(later.flatMap(file => [...file.contexts])),
  }
}

interface RawKubeconfig {
  readonly 'current-context'?: string
  readonly clusters?: readonly RawEntry<'cluster', KubeconfigCluster>[] | null
  readonly users?: readonly RawEntry<'user', KubeconfigUser>[] | null
  readonly contexts?: readonly RawEntry<'context', KubeconfigContext>[] | null
}

type RawEntry<K extends string, V> = { readonly name?: string } & { readonly [key in K]?: V | null }

function byName<K extends string, V>(
  entries: readonly RawEntry<K, V>[] | null | undefined,
  key: K,
  prepare: (value: V) => V,
): Map<string, V> {
  const map = new Map<string, V>()
  for (const entry of entries ?? []) {
    if (entry.name === undefined || map.has(entry.name)) continue
    map.set(entry.name, prepare((entry[key] ?? {}) as V))
  }
  return map
}

/** Looks up a bare command in PATH. A command with a slash is relative to the file's folder. */
function commandPath(
  command: string | undefined,
  absolute: (file: string | undefined) => string | undefined,
): string | undefined {
  return command?.includes('/') ? absolute(command) : command
}
