// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { kubeconfigText } from './kubeconfig.ts'
import { copyKubeconfig, findRunning, forgetRunning, rememberRunning } from './running.ts'

const directory = mkdtempSync(join(tmpdir(), 'grove-running-test-'))
after(() => rmSync(directory, { recursive: true }))
const file = (name: string, content: string) => {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}
const text = kubeconfigText({ server: 'https://127.0.0.1:20001', ca: 'pem' })
const ours = file('ours', text)
const other = file('other', text)
const foreign = file('foreign', 'apiVersion: v1\nclusters: [{name: production}]\n')

test('uses the control plane that was started last, until it is stopped', () => {
  assert.equal(findRunning(directory, {}), undefined)
  rememberRunning(directory, ours)
  rememberRunning(directory, other)
  assert.equal(findRunning(directory, {}), other)
  forgetRunning(directory, ours)
  assert.equal(findRunning(directory, {}), other)
  forgetRunning(directory, other)
  assert.equal(findRunning(directory, {}), undefined)
})

test('uses KUBECONFIG only if this program wrote it', () => {
  rememberRunning(directory, other)
  assert.equal(findRunning(directory, { KUBECONFIG: ours }), ours)
  assert.equal(findRunning(directory, { KUBECONFIG: foreign }), other)
})

test('ignores a control plane that died', () => {
  rememberRunning(directory, join(directory, 'gone'))
  assert.equal(findRunning(directory, {}), undefined)
})

test('overwrites only a kubeconfig that this program wrote', () => {
  copyKubeconfig(ours, join(directory, 'copy'))
  copyKubeconfig(ours, join(directory, 'copy'))
  assert.equal(readFileSync(join(directory, 'copy'), 'utf8'), text)
  assert.throws(() => copyKubeconfig(ours, foreign), /name another file/)
})
