// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceAccountDirectory } from '@grove/kube'
import { exitCode, LaunchError } from './exit-code.ts'

/** Outside of a cluster, where no file tells: what stands in for it. */
const namespaceVariable = 'GROVE_OPERATOR_NAMESPACE'

/** The namespace that the operator runs in: that of its service account, else what it is told. */
export function ownNamespace(told: string | undefined): string {
  const fromFile = readNamespaceFile()
  if (fromFile === '') throw new LaunchError(exitCode.setUp, 'operator namespace is empty')
  return fromFile ?? process.env[namespaceVariable] ?? (told || 'default')
}

function readNamespaceFile(): string | undefined {
  try {
    return readFileSync(join(serviceAccountDirectory, 'namespace'), 'utf8').trim()
  } catch {
    return undefined
  }
}
