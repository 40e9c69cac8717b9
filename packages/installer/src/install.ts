// SPDX-License-Identifier: Apache-2.0

// Creates or updates the CRDs and waits until the API server serves them. Promises: it changes nothing when a CRD would
// lose fields that objects may hold, and a second run changes nothing. Not promised: that stored objects are migrated.
import type { CustomResourceDefinition } from '@grove/api'
import { type Client, type Clock, defineResource, type KubeError, type Logger, outcome } from '@grove/kube'
import { droppedFields } from './dropped-fields.ts'
import { isUpgrade } from './release.ts'

/** Part of the contract: an upgrade from the Go operator must take over the fields of its installer. */
export const fieldManager = 'grove-crd-installer'

const pollMs = 250
/** The message names this many fields; a user who needs more compares the two CRDs. */
const namedFields = 10

const definitions = defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

export type CrdClient = Pick<Client, 'find' | 'apply'>

export interface InstallOptions {
  readonly client: CrdClient
  readonly crds: readonly CustomResourceDefinition[]
  readonly clock: Clock
  readonly log: Logger
  /** Installs CRDs even if they drop fields. */
  readonly force: boolean
  /** The timeout for all CRDs together to be established. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export type InstallResult =
  | { readonly outcome: 'installed' }
  | { readonly outcome: 'failed'; readonly message: string }
  | { readonly outcome: 'downgrade'; readonly message: string }
  | { readonly outcome: 'not-established'; readonly message: string }

export async function installCrds(options: InstallOptions): Promise<InstallResult> {
  const { crds, log } = options
  log.info('Installing Grove CRDs')
  // All CRDs are checked before the first is written, so that a rejected downgrade leaves a consistent state.
  for (const crd of crds) {
    const problem = await checkDowngrade(options, crd)
    if (problem) return problem
  }
  for (const crd of crds) {
    const applied = await outcome(
      options.client.apply(definitions, crd, { fieldManager, force: true, ...signalOf(options) }),
    )
    if (!applied.ok) return failed(crd, `server-side apply failed: ${applied.error.message}`)
    log.info('CRD applied', { name: crd.metadata.name })
  }
  const problem = await waitForEstablished(options)
  if (problem) return problem
  log.info('All Grove CRDs installed successfully')
  return { outcome: 'installed' }
}

async function checkDowngrade(
  options: InstallOptions,
  crd: CustomResourceDefinition,
): Promise<InstallResult | undefined> {
  const { client, force, log } = options
  const name = crd.metadata.name ?? ''
  const read = await outcome(client.find(definitions, { name }, signalOf(options)))
  if (!read.ok) return failed(crd, `reading the installed CRD failed: ${read.error.message}`)
  const installed = read.value
  if (!installed || isUpgrade(installed, crd)) return undefined
  const dropped = droppedFields(installed, crd)
  if (dropped.length === 0) return undefined
  const fields = dropped.slice(0, namedFields).join(', ')
  const more = dropped.length > namedFields ? ` and ${dropped.length - namedFields} more` : ''
  if (force) {
    log.warn('CRD loses fields, installing it because of --force', { name, fields: `${fields}${more}` })
    return undefined
  }
  return {
    outcome: 'downgrade',
    message:
      `CRD ${name} is installed with ${dropped.length} fields that this release does not have (${fields}${more}). ` +
      'Objects would lose their values. No CRD was changed. Install a newer release of Grove, or run the installer ' +
      'with --force (chart value crdInstaller.force) if no object uses these fields.',
  }
}

async function waitForEstablished(options: InstallOptions): Promise<InstallResult | undefined> {
  const { client, clock, crds, timeoutMs, signal } = options
  const deadline = clock.monotonic() + timeoutMs
  for (const crd of crds) {
    const name = crd.metadata.name ?? ''
    for (;;) {
      const read = await outcome(client.find(definitions, { name }, signalOf(options)))
      const state = read.ok ? stateOf(read.value) : describe(read.error)
      if (state === 'established') break
      if (clock.monotonic() >= deadline)
        return {
          outcome: 'not-established',
          message: `CRD ${name} is not served after ${timeoutMs / 1000} s: ${state}`,
        }
      await clock.sleep(pollMs, signal)
    }
  }
  return undefined
}

function stateOf(crd: CustomResourceDefinition | undefined): string {
  if (!crd) return 'it was deleted'
  const { conditions = [] } = crd.status ?? {}
  const rejected = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
  if (rejected) return `its names are not accepted: ${rejected.message ?? 'no reason given'}`
  const isEstablished = conditions.some(({ type, status }) => type === 'Established' && status === 'True')
  return isEstablished ? 'established' : 'the condition Established is not True'
}

function describe(error: KubeError): string {
  return `reading it failed: ${error.message}`
}

function failed(crd: CustomResourceDefinition, reason: string): InstallResult {
  return { outcome: 'failed', message: `failed to apply CRD "${crd.metadata.name}": ${reason}` }
}

function signalOf({ signal }: InstallOptions): { readonly signal?: AbortSignal } {
  return signal ? { signal } : {}
}
