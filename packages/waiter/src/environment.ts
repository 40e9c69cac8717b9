// SPDX-License-Identifier: Apache-2.0

// The environment of the pod: mounted files, and variables that the kubelet sets.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** The operator mounts the pod's own fields here. The file `podgangname` in the same directory is not needed. */
const podInfoDirectory = '/var/grove/pod-info'
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Variables that override the directories, to run the program outside a pod. */
const podInfoVariable = 'GROVE_WAITER_POD_INFO'
const serviceAccountVariable = 'GROVE_WAITER_SERVICE_ACCOUNT'

/** The program does not run in a suitable pod, and waiting would not help. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

export function namespaceIn(environment: Environment): string {
  const file = join(environment[podInfoVariable] || podInfoDirectory, 'namespace')
  let namespace: string
  try {
    namespace = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new EnvironmentError(`cannot read the namespace of the pod: ${(error as Error).message}`)
  }
  if (namespace === '') throw new EnvironmentError(`cannot read the namespace of the pod: ${file} is empty`)
  return namespace
}

export function serverIn(environment: Environment): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment
  if (!host || !port)
    throw new EnvironmentError(
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set; is this a pod?',
    )
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function serviceAccountDirectoryIn(environment: Environment): string {
  return environment[serviceAccountVariable] || serviceAccountDirectory
}
