// SPDX-License-Identifier: Apache-2.0

// Runs the kubectl that is part of the control plane binary.
import { spawn } from 'node:child_process'

export interface KubectlOptions {
  /** Standard input of kubectl, for `-f -`. */
  readonly input?: string
  /** Path of a kubeconfig for another identity than the administrator. */
  readonly kubeconfig?: string
}

export interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Returns an environment in which kubectl uses only this control plane, and writes no cache to the home directory. */
export function kubectlEnvironment(kubeconfig: string, cacheDirectory: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: cacheDirectory, KUBECTL_KUBERC: 'false' }
}

export function runKubectl(
  binary: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<KubectlResult> {
  const { promise, resolve, reject } = Promise.withResolvers<KubectlResult>()
  const child = spawn(binary, ['kubectl', ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
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
  // kubectl may exit without reading its input; its exit code gives the reason.
  child.stdin.once('error', () => {})
  child.stdin.end(input)
  return promise
}
