// SPDX-License-Identifier: Apache-2.0

// Reads the start command of an image from deploy/Containerfile, so that tests start programs in the same way.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './rendered-chart.ts'

export interface Image {
  readonly entrypoint: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly user: { readonly uid: number; readonly gid: number }
  readonly labels: Readonly<Record<string, string>>
  /** The folder below dist/ that is copied, and its destination. */
  readonly copied: { readonly from: string; readonly to: string }
}

interface Stage {
  readonly base: string
  readonly lines: readonly string[]
}

export function readImage(target: string): Image {
  const stages = readStages()
  const lines = linesOf(stages, target)
  const last = (instruction: string) =>
    lines.findLast(line => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ?? ''
  const args = pairs(lines, 'ARG')
  const [uid = 0, gid = 0] = last('USER').split(':').map(Number)
  const [, from = '', to = ''] = /--from=bundles \/src\/dist\/(\S+?)\/ (\S+)/.exec(last('COPY')) ?? []
  return {
    entrypoint: JSON.parse(last('ENTRYPOINT')) as string[],
    env: substituted(pairs(lines, 'ENV'), args),
    user: { uid, gid },
    labels: substituted(pairs(lines, 'LABEL'), args),
    copied: { from, to },
  }
}

function readStages(): ReadonlyMap<string, Stage> {
  const text = readFileSync(join(repository, 'deploy/Containerfile'), 'utf8').replace(/\\\n\s*/g, '')
  const stages = new Map<string, Stage>()
  for (const part of text.split(/^(?=FROM )/m).slice(1)) {
    const [from = '', ...lines] = part.split('\n')
    const [, base = '', name = ''] = /(\S+) AS (\S+)$/.exec(from) ?? []
    stages.set(name, { base, lines: lines.filter(line => line !== '') })
  }
  return stages
}

/** The lines of a stage after those of the stages that it starts from. */
function linesOf(stages: ReadonlyMap<string, Stage>, name: string): string[] {
  const stage = stages.get(name)
  return stage ? [...linesOf(stages, stage.base), ...stage.lines] : []
}

function pairs(lines: readonly string[], instruction: string): Record<string, string> {
  const found = lines
    .filter(line => line.startsWith(`${instruction} `))
    .flatMap(line => [...line.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)])
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, value.replaceAll('"', '')]))
}

function substituted(
  values: Readonly<Record<string, string>>,
  args: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    value.replace(/\$\{(\w+)\}/g, (_, arg: string) => args[arg] ?? ''),
  ])
  return Object.fromEntries(entries)
}
