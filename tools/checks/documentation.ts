// SPDX-License-Identifier: Apache-2.0

// Pages are easy to read and to verify: short table cells, commands that a test executes, figures with their command.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentationPages, fencedBlocks, withoutBlocks } from './markdown.ts'

const longestCell = 200

export function checkDocumentation(root: string): string[] {
  const read = (page: string) => readFileSync(join(root, page), 'utf8')
  const everyPage = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**'] }).sort()
  return [
    ...everyPage.flatMap(page => checkCells(page, read(page))),
    ...documentationPages(root).flatMap(page => [
      ...checkBlocks(root, page, read(page)),
      ...checkFigures(page, read(page)),
    ]),
  ]
}

function checkCells(page: string, text: string): string[] {
  return withoutBlocks(text)
    .split('\n')
    .flatMap((line, index) => {
      if (!line.startsWith('|')) return []
      const longest = Math.max(...line.split(/(?<!\\)\|/).map(cell => cell.trim().length))
      if (longest <= longestCell) return []
      return [
        `${page}:${index + 1}: a table cell has ${longest} characters; write at most ${longestCell}, and the rest below the table`,
      ]
    })
}

/**
 * Tests execute every `sh` block without a reason. The language of every other block shows that it is not a command.
 */
function checkBlocks(root: string, page: string, text: string): string[] {
  return fencedBlocks(text).flatMap(({ line, language, notRun, test }) => {
    const at = `${page}:${line}`
    if (language === '')
      return [
        `${at}: name the language of the block: sh, sh test="FILE", sh not-run="reason", text, yaml, ts, json or promql`,
      ]
    if (['bash', 'shell', 'console', 'zsh'].includes(language))
      return [`${at}: use sh instead of ${language}, so that a test executes the block`]
    if ((notRun !== undefined || test !== undefined) && language !== 'sh')
      return [`${at}: only sh blocks are executed`]
    if (test !== undefined && !executesPage(root, test, page))
      return [`${at}: ${test} does not execute blocks of this page`]
    return []
  })
}

/** A test finds its blocks by its own file name, and names the pages that it expects. */
function executesPage(root: string, test: string, page: string): boolean {
  const file = join(root, test)
  if (!existsSync(file)) return false
  const source = readFileSync(file, 'utf8')
  return source.includes('blocksOfTest(') && source.includes(page)
}

const figure =
  /(?<![\w.])\d[\d.,]*(?: | )?(?:(?:[mµ]?s|min|minutes?|seconds?|[kMG]B|[KMG]iB|times|pods\/s|requests|lines)\b|%)/
const command = /`[^`]*\b(?:npm (?:run|test)|npx grove|grove )|bench\/results/
const isGenerated = /^<!-- Generated/ // from the defaults of the code
const notMeasured = /<!-- figures: \S[^>]*-->/

/** A measurement without a command cannot be repeated. A comment marks sections whose figures are settings. */
function checkFigures(page: string, text: string): string[] {
  if (isGenerated.test(text)) return []
  let line = 1
  return withoutBlocks(text)
    .split(/^(?=#+ )/m)
    .flatMap(section => {
      const at = line
      line += section.split('\n').length - 1
      const [found] = figure.exec(section.replace(/`[^`]*`/g, '')) ?? []
      if (found === undefined || command.test(section) || notMeasured.test(section)) return []
      return [
        `${page}:${at}: the section has the figure "${found}" but no command that measures it; if it is a setting, add <!-- figures: settings -->`,
      ]
    })
}
