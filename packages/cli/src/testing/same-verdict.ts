// SPDX-License-Identifier: Apache-2.0

// Sends the same manifests to a cluster, as kubectl does, and to `grove validate`. Both must return the same verdict.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import { type Client, isKubeError } from '@grove/kube'
import { resources } from '@grove/operator'
import { parse } from 'yaml'
import { call } from './grove-call.ts'
import { mistakes, soundSet } from './mistakes.ts'

/** The error of the cluster, or undefined if it accepts the manifest. A dry run: nothing is stored. */
async function rejection(client: Client, set: PodCliqueSet): Promise<string | undefined> {
  try {
    await client.create(resources.podCliqueSets, set, {
      dryRun: true,
      fieldValidation: 'Strict',
      attempts: 1,
    })
    return undefined
  } catch (error) {
    if (isKubeError(error) && error.status !== undefined) return error.message
    throw error
  }
}

interface Result {
  readonly allowed: boolean
  readonly message?: string
}

async function validated(manifest: string): Promise<Result> {
  const { stdout } = await call(['validate', '-o', 'json', '-f', '-'], { input: manifest })
  return JSON.parse(stdout)[0]
}

export function compareVerdicts(client: () => Client): void {
  const cases = [
    { title: 'a sound set', manifest: soundSet },
    { title: 'one clique without a roleName', manifest: soundSet.replace('roleName: lead', '') },
    ...mistakes.filter(({ stored, validate, apply }) => (stored ?? validate ?? apply) === undefined),
  ]
  for (const { title, manifest } of cases)
    it(title, async () => {
      const set = parse(manifest) as PodCliqueSet
      const inNamespace = { ...set, metadata: { ...set.metadata, namespace: 'default' } }
      const [theirs, ours] = [await rejection(client(), inNamespace), await validated(manifest)]
      assert.equal(ours.allowed, theirs === undefined, `cluster: ${theirs}, validate: ${ours.message}`)
      if (theirs !== undefined)
        assert.ok(theirs.includes(ours.message ?? ''), `cluster: ${theirs}\nvalidate: ${ours.message}`)
    })
}
