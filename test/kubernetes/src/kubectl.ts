// SPDX-License-Identifier: Apache-2.0

// Runs the kubectl that is part of the control plane binary.
import { spawn } from 'node:child_process'

export interface KubectlOptions {
  /** Given to kubectl on its standard input, for `-f -`. */
  readonly input?: string
  /** Another identity than the administrator: the path of a kubeconfig. */
  readonly kubeconfig?: string
}

export interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The environment in which kubectl sees this control plane only, and leaves no cache in the home directory. */
export function kubectlEnvironment(kubeconfig: string, cacheDirectory: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: cacheDirectory, KUBECTL_KUBERC: 'false' }
}

export function runKubectl(
  binary: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<KubectlResult> {
  const { promise, resolve, reject } = Promise.withResolvers<KubectlResult>()
  const child = spawn(binary, ['kubectl', ...words], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  child.once('error', reject)
  child.once('close', code => resolve({ code: code ?? 1, stdout, stderr }))
  // kubectl may end without reading its input; its exit code tells why.
  child.stdin.once('error', () => {})
  child.stdin.end(input)
  return promise
}
