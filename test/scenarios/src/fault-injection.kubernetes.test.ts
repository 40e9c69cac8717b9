// SPDX-License-Identifier: Apache-2.0

// Fault injection on a real control plane. The operator is a process, which signals kill and pause. A proxy rejects
// some of its writes and delays its watches. ROUNDS=50 runs more rounds; SEED repeats a failure.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Client, createClient, loadKubeconfig } from '@grove/kube'
import { ChaosProxy } from '@grove/kube/testing'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { Faults } from './fault-injection/faults.ts'
import { recoversWhilePaused } from './fault-injection/paused-operator.ts'
import { type OperatorUnderTest, round } from './fault-injection/round.ts'
import { installOperator, type OperatorProcess, operatorIdentity } from './operator-process.ts'
import { seeded } from './seeded.ts'

const rounds = Number(process.env.ROUNDS ?? 4)
const seed = Number(process.env.SEED ?? 1)

class OperatorInOwnProcess implements OperatorUnderTest {
  faults = new Faults(() => 0)
  readonly #start: () => Promise<OperatorProcess>
  #running: OperatorProcess | undefined
  #output = ''

  constructor(start: () => Promise<OperatorProcess>) {
    this.#start = start
  }

  get output(): string {
    return this.#output + (this.#running?.output ?? '')
  }

  async start(): Promise<void> {
    this.#running = await this.#start()
  }

  async kill(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async pause(ms: number): Promise<void> {
    this.#running!.child.kill('SIGSTOP')
    await new Promise(resolve => setTimeout(resolve, ms))
    this.#running!.child.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    const { child } = running
    const ended = new Promise(resolve => child.once('close', resolve))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await ended
    }
    this.#output = `${running.output}\n--- killed ---\n`
  }
}

describe(`${rounds} rounds of faults on real Kubernetes (SEED=${seed})`, () => {
  let kubernetes: Kubernetes
  let client: Client
  let proxy: ChaosProxy
  let operator: OperatorInOwnProcess

  before(async () => {
    kubernetes = await startKubernetes({
      nodes: 12,
      gpus: 8,
      flags: { 'kube-controller-manager': ['--kube-api-qps=300', '--kube-api-burst=600'] },
    })
    client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
    const { cert: certificate, key } = kubernetes.clientCertificate(operatorIdentity)
    proxy = await ChaosProxy.start({
      server: kubernetes.server,
      ca: kubernetes.ca,
      certificate,
      key,
      watchFault: () => ({ kind: 'none' }),
      watchDelayMs: () => operator.faults.lateness(),
      requestFault: request => operator.faults.outcomeOf(request),
    })
    const { start } = await installOperator(kubernetes, {
      // A new operator would wait until the lease of the killed one expires.
      configuration: { leaderElection: { enabled: false } },
      kubeconfig: kubeconfigOf(proxy, kubernetes.directory),
    })
    operator = new OperatorInOwnProcess(start)
    await operator.start()
  })
  after(async () => {
    await operator?.stop()
    await proxy?.stop()
    await client?.close()
    await kubernetes?.stop()
  })

  test('an operator that is paused past a termination deadline does not terminate a replica that has recovered', () =>
    recoversWhilePaused({ client, operator, newNamespace: () => kubernetes.newNamespace('faults') }))

  for (let number = 0; number < rounds; number++)
    test(`SEED=${seed + number} ROUNDS=1`, async () => {
      const below = seeded(seed + number)
      operator.faults = new Faults(below)
      await round({ client, operator, newNamespace: () => kubernetes.newNamespace('faults') }, below)
    })
})

function kubeconfigOf({ ca, port }: ChaosProxy, directory: string): string {
  const file = join(directory, 'proxy.kubeconfig')
  const cluster = {
    server: `https://localhost:${port}`,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
  }
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'proxy', cluster }],
      users: [{ name: 'operator', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'operator' } }],
      'current-context': 'proxy',
    }),
  )
  return file
}
