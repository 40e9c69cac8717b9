// SPDX-License-Identifier: Apache-2.0

// One mistake, three commands: `grove validate`, `grove apply` and `kubectl apply` agree about every row of the table.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { call } from './grove-call.ts'
import { type Mistake, mistakes, soundSet } from './mistakes.ts'

export interface MistakeCluster {
  readonly kubeconfig: string
  /** The real kubectl on this cluster. Without it only the commands of `grove` are compared. */
  readonly kubectl?: (
    args: readonly string[],
    input: string,
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
}

/**
 * Namespaces in which the valid set exists, for updates. Each command updates the set that it has created: a field that
 * the other one has applied is not removed by server-side apply.
 */
const appliedBy = { grove: 'applied-by-grove', kubectl: 'applied-by-kubectl' }

export function testMistakes(cluster: () => MistakeCluster): void {
  const folder = mkdtempSync(join(tmpdir(), 'grove-mistakes-'))
  const stored = join(folder, 'stored.yaml')

  before(async () => {
    writeFileSync(stored, soundSet)
    const { kubeconfig, kubectl } = cluster()
    const namespaces = Object.values(appliedBy)
      .map(name => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`)
      .join('---\n')
    const created = await apply(['--kubeconfig', kubeconfig], namespaces)
    assert.equal(created.status, 0, created.stderr)
    const applied = await apply(['--kubeconfig', kubeconfig, '-n', appliedBy.grove], soundSet)
    assert.equal(applied.status, 0, applied.stderr)
    const byKubectl = await kubectl?.(['apply', '-n', appliedBy.kubectl, '-f', '-'], soundSet)
    assert.equal(byKubectl?.code ?? 0, 0, byKubectl?.stderr)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const mistake of mistakes)
    it(mistake.title, async () => {
      const { manifest, exitCodes } = mistake
      const { kubeconfig, kubectl } = cluster()
      const isUpdate = mistake.stored !== undefined
      const where = (namespace: string) => (isUpdate ? ['-n', namespace] : [])

      const old = isUpdate ? ['--old', stored] : []
      const validated = await call(['validate', '-f', '-', ...old], { input: manifest })
      assert.deepEqual(messageOf(validated.stdout, validated.stderr), validation(mistake))
      assert.equal(validated.status, exitCodes?.validate ?? 1)

      const applied = await apply(
        ['--kubeconfig', kubeconfig, '--dry-run=server', ...where(appliedBy.grove)],
        manifest,
      )
      assert.deepEqual(
        applied.stderr
          .trimEnd()
          .split('\n')
          .slice(mistake.apply ? 0 : 1),
        application(mistake),
      )
      assert.equal(applied.status, exitCodes?.apply ?? 1)

      if (!kubectl) return
      const { code, stderr } = await kubectl(
        ['apply', '--dry-run=server', '-f', '-', ...where(appliedBy.kubectl)],
        manifest,
      )
      const said = isUpdate ? stderr.trimEnd().split('\n').at(-1) : stderr.trimEnd()
      assert.equal(said, mistake.kubectl)
      assert.equal(code, exitCodes?.kubectl ?? 1)
    })
}

function apply(args: readonly string[], input: string) {
  return call(['apply', '-f', '-', ...args], { input })
}

/** The output without the name of the set above and the count below, or the error. */
function messageOf(stdout: string, stderr: string): string[] {
  return stdout === '' ? [stderr.trimEnd()] : stdout.split('\n').slice(1, -2)
}

function validation({ validate, lines }: Mistake): readonly string[] {
  return validate === undefined ? indented(lines) : [validate]
}

function application({ apply, lines }: Mistake): readonly string[] {
  return apply === undefined ? indented(lines) : [apply]
}

function indented(lines: readonly string[]): string[] {
  return lines.map(line => `    ${line}`)
}
