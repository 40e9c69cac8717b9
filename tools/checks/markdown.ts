// SPDX-License-Identifier: Apache-2.0

// The parts of Markdown pages that the checks and the tests of the documentation read.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface FencedBlock {
  /** Text of the heading above. */
  readonly heading: string
  /** Number of the opening line, from 1. */
  readonly line: number
  readonly language: string
  /** The reason in `not-run="reason"`. */
  readonly notRun: string | undefined
  /** The test file in `test="FILE"`, if another test than that of the page executes the block. */
  readonly test: string | undefined
  readonly text: string
}

/** A block with the page that it is on. */
export interface PageBlock extends FencedBlock {
  readonly page: string
}

/** Pages of the documentation for users. */
export function documentationPages(root: string): string[] {
  return ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]
}

/** Pages whose commands need a real control plane, Helm and kubectl. test/packaging executes them. */
export const pagesOnKubernetes: readonly string[] = [
  'docs/operations/configure.md',
  'docs/operations/install.md',
]

export function fencedBlocks(page: string): FencedBlock[] {
  const blocks: FencedBlock[] = []
  let open: { line: number; info: string; lines: string[] } | undefined
  let heading = ''
  page.split('\n').forEach((line, index) => {
    if (!/^\s*```/.test(line)) {
      if (open) open.lines.push(line)
      else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    } else if (open) {
      const [, language = '', notRun, test] =
        /^(\S*)(?: not-run="([^"]+)"| test="([^"]+)")?$/.exec(open.info) ?? []
      blocks.push({ heading, line: open.line, language, notRun, test, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else open = { line: index + 1, info: line.trim().slice(3).trim(), lines: [] }
  })
  return blocks
}

/** The blocks that the test of the page executes. */
export function executedBlocks(root: string, page: string): FencedBlock[] {
  return shellBlocks(root, page).filter(({ test }) => test === undefined)
}

/** The blocks of all pages that name this test file. */
export function blocksOfTest(root: string, file: string): PageBlock[] {
  return documentationPages(root).flatMap(page =>
    shellBlocks(root, page)
      .filter(({ test }) => test === file)
      .map(block => ({ page, ...block })),
  )
}

function shellBlocks(root: string, page: string): FencedBlock[] {
  const blocks = fencedBlocks(readFileSync(join(root, page), 'utf8'))
  return blocks.filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
}

/** All commands of a page that run, as one script that stops at the first error. Empty if there are none. */
export function shellScript(root: string, page: string): string {
  const commands = executedBlocks(root, page)
  return commands.length === 0 ? '' : `set -euo pipefail\n${commands.map(({ text }) => text).join('\n')}`
}

/** The page without code blocks. Line numbers stay the same. */
export function withoutBlocks(page: string): string {
  return page.replace(/^\s*```[\s\S]*?^\s*```/gm, block => block.replace(/[^\n]/g, ''))
}
