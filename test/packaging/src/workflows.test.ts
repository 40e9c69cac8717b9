// SPDX-License-Identifier: Apache-2.0

// The workflows and the pages about them name commands, targets and files that exist.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { readImage } from './containerfile.ts'
import { repository } from './rendered-chart.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string
        readonly 'timeout-minutes'?: number
        readonly strategy?: {
          readonly matrix: {
            readonly target?: string[]
            readonly include?: { readonly target: string; readonly image: string }[]
          }
        }
        readonly steps: readonly Step[]
      }
    >
  >
}

const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

for (const name of ['ci', 'release'])
  describe(`the workflow ${name}`, () => {
    const workflow = parse(
      readFileSync(join(repository, `.github/workflows/${name}.yaml`), 'utf8'),
    ) as Workflow
    const jobs = Object.entries(workflow.jobs)
    const steps = jobs.flatMap(([, job]) => job.steps)

    test('has only permissions that its jobs need, and has time limits', () => {
      assert.deepEqual(workflow.permissions, { contents: 'read' })
      for (const [job, { needs, 'timeout-minutes': minutes }] of jobs) {
        assert.ok(minutes, job)
        assert.ok(needs === undefined || workflow.jobs[needs], `${job} needs ${needs}`)
      }
    })

    test('runs commands that exist', () => {
      const run = steps.flatMap(step => step.run ?? []).join('\n')
      const commands = [...run.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, command = '']) => command)
      assert.ok(commands.length >= 2)
      for (const command of commands)
        assert.ok(['ci', 'publish'].includes(command) || scripts[command], command)
    })

    test('builds every image of the Containerfile', () => {
      const matrices = jobs.flatMap(([, { strategy }]) => strategy?.matrix ?? [])
      const targets = matrices.flatMap(({ target = [], include = [] }) => [
        ...target,
        ...include.map(each => each.target),
      ])
      assert.deepEqual(targets.toSorted(), ['installer', 'operator', 'waiter'])
      for (const { target, image } of matrices.flatMap(({ include = [] }) => include))
        assert.equal(readImage(target).labels['org.opencontainers.image.title'], image)
      for (const { with: options } of steps)
        if (options?.file) assert.ok(existsSync(join(repository, String(options.file))), String(options.file))
    })
  })
