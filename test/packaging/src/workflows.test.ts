// SPDX-License-Identifier: Apache-2.0

// The workflows and the pages about them name commands, targets and files that exist.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { readImage } from './containerfile.ts'
import { repository } from './rendered-chart.ts'

interface Step {
  readonly name?: string
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

    test('pins every action to a commit, and names its version', () => {
      const text = readFileSync(join(repository, `.github/workflows/${name}.yaml`), 'utf8')
      const uses = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
      assert.equal(uses.length, steps.filter(step => step.uses).length)
      for (const action of uses) assert.match(action, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
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

describe('a release', () => {
  const { jobs } = parse(readFileSync(join(repository, '.github/workflows/release.yaml'), 'utf8')) as Workflow
  const steps = Object.values(jobs).flatMap(job => job.steps)

  /** Runs the script of a step with bash. `npm` prints its arguments. Returns stdout, then GITHUB_OUTPUT. */
  function runStep(name: string, version: string): string {
    const script = steps.find(step => step.name?.startsWith(name))?.run
    assert.ok(script, name)
    const folder = mkdtempSync(join(tmpdir(), 'release-step-'))
    try {
      const output = join(folder, 'output')
      const env = {
        ...process.env,
        REGISTRY: 'registry.example/grove',
        IMAGE: 'grove-operator',
        GITHUB_REF_NAME: version,
        GITHUB_OUTPUT: output,
      }
      const stdout = execFileSync('bash', ['-ec', `npm() { echo "$*"; }\n${script}`], {
        env,
        encoding: 'utf8',
      })
      return stdout + (existsSync(output) ? readFileSync(output, 'utf8') : '')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test('becomes the latest image and the latest npm package', () => {
    const image = 'registry.example/grove/grove-operator'
    assert.equal(runStep('Name the tags', 'v1.2.3'), `tags<<END\n${image}:v1.2.3\n${image}:latest\nEND\n`)
    assert.match(runStep('Publish the npm package', 'v1.2.3'), / --tag latest /)
  })

  test('does not become the latest one if it is a pre-release', () => {
    const tags = runStep('Name the tags', 'v1.2.3-rc.1')
    assert.match(tags, /grove-operator:v1\.2\.3-rc\.1\n/)
    assert.doesNotMatch(tags, /latest/)
    assert.match(runStep('Publish the npm package', 'v1.2.3-rc.1'), / --tag next /)
  })
})
