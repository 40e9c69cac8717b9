// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocumentation } from './documentation.ts'
import { checkLinks } from './links.ts'
import { blocksOfTest, executedBlocks } from './markdown.ts'
import { repository } from './repository.fixture.ts'

const check = (page: string) => checkDocumentation(repository({ 'README.md': '', 'docs/a.md': page }))

test('a table cell has at most 200 characters', () => {
  const table = (length: number) => `| A | B |\n|---|---|\n| a \\| b | ${'x'.repeat(length)} |\n`
  assert.deepEqual(check(table(200)), [])
  assert.deepEqual(check(table(201)), [
    'docs/a.md:3: a table cell has 201 characters; write at most 200, and the rest below the table',
  ])
  assert.deepEqual(check(`\`\`\`text\n${table(201)}\`\`\`\n`), [], 'a block is no table')
})

test('a block names its language, and commands are sh', () => {
  assert.deepEqual(check('```sh\nls\n```\n\n```yaml\na: 1\n```\n'), [])
  assert.match(check('Text\n\n```\nls\n```\n').join(), /^docs\/a\.md:3: name the language of the block/)
  assert.match(check('```bash\nls\n```\n').join(), /^docs\/a\.md:1: use sh instead of bash/)
})

test('a block runs unless it names a reason', () => {
  const page = '# Start\n\n```sh\nls\n```\n\n## Stop\n\n```sh not-run="needs a cluster"\nrm\n```\n'
  const root = repository({ 'README.md': '', 'docs/a.md': page })
  assert.deepEqual(checkDocumentation(root), [])
  assert.deepEqual(executedBlocks(root, 'docs/a.md'), [
    { heading: 'Start', line: 3, language: 'sh', notRun: undefined, test: undefined, text: 'ls\n' },
  ])
  assert.match(check('```sh not-run=""\nls\n```\n').join(), /^docs\/a\.md:1: name the language of the block/)
})

test('a block can name the test that executes it, and the test names the page', () => {
  const page = '# Start\n\n```sh test="a.test.ts"\nls\n```\n'
  const withTest = (source: string) => repository({ 'README.md': '', 'docs/a.md': page, 'a.test.ts': source })
  const root = withTest("for (const block of blocksOfTest(root, file)) run(block, 'docs/a.md')\n")
  assert.deepEqual(checkDocumentation(root), [])
  assert.deepEqual(executedBlocks(root, 'docs/a.md'), [])
  const [block] = blocksOfTest(root, 'a.test.ts')
  assert.deepEqual([block?.page, block?.text], ['docs/a.md', 'ls\n'])
  const problem = ['docs/a.md:3: a.test.ts does not execute blocks of this page']
  assert.deepEqual(check(page), problem, 'the file does not exist')
  assert.deepEqual(checkDocumentation(withTest('blocksOfTest(root, file)\n')), problem)
})

test('a section with a figure names a command, or says that the figure is a setting', () => {
  const problem = /^docs\/a\.md:3: the section has the figure "(.*)" but no command/
  for (const figure of ['12 ms', '1.5 s', '30 %', '140 MiB', '3,000 pods/s'])
    assert.equal(problem.exec(check(`# A\n\n## B\n\nTakes ${figure} here.\n`).join())?.[1], figure)
  assert.deepEqual(check('# A\n\n## B\n\nTakes 12 ms (`npm run bench -- cluster`).\n'), [])
  assert.deepEqual(check('# A\n\n## B\n\n<!-- figures: settings -->\n\nWaits 12 ms.\n'), [])
  assert.deepEqual(check('# A\n\nKubernetes 1.37 has `15s` and 12 pods.\n'), [])
})

test('relative links and anchors resolve', () => {
  const root = repository({
    'README.md': '[a](docs/a.md) [b](docs/a.md#the-first-part) [c](https://example.com/x)\n',
    'docs/a.md': '# A\n\n## The `first` part\n\n[x](missing.md) [y](#second) ![z](picture.svg)\n',
  })
  assert.deepEqual(checkLinks(root), [
    'docs/a.md: the link missing.md does not resolve',
    'docs/a.md: docs/a.md has no heading #second',
    'docs/a.md: the link picture.svg does not resolve',
  ])
})
