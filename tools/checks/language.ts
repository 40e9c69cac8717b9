// SPDX-License-Identifier: Apache-2.0

// Comments, strings, identifiers and file names use the words of Kubernetes and plain technical English.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const everything: readonly string[] = [
  '*.md',
  ...['bench', 'charts', 'docs', 'packages', 'playground', 'test', 'tools'].map(
    folder => `${folder}/**/*.{ts,mjs,md,yaml}`,
  ),
]

interface Term {
  /** Matches whole words. Identifiers are split into words first: `podCount` is "pod Count". */
  readonly words: string
  readonly instead: string
}

const terms: readonly Term[] = [
  { words: 'tells?|telling|told', instead: 'report, record, emit or return' },
  { words: 'worlds?', instead: 'caches or snapshot' },
  { words: 'settles?|settled|settling', instead: 'converge or in sync' },
  { words: 'wakes?|woke|awake|waking', instead: 'enqueue, resume or start' },
  { words: 'news|worthy', instead: 'event, predicate or needsReconcile' },
  { words: 'calm|calmly', instead: 'debounce, coalesce or idle' },
  { words: 'fold|folds|folded|folding', instead: 'apply to the cache' },
  { words: 'judges?|judged|judging', instead: 'validate, evaluate or check' },
  { words: 'refuses?|refused|refusing|refusals?', instead: 'reject or rejection' },
  { words: 'answers?|answered|answering', instead: 'response or respond' },
  { words: 'words', instead: 'arguments or message' },
  { words: 'anew', instead: 'recreate or again' },
  { words: 'placed', instead: 'scheduled' },
  { words: 'mends?|mended|mending', instead: 'repair or revert' },
  { words: '(?:bring|brings|brought|come|comes|came) about', instead: 'sync, ensure, create or happen' },
  { words: '(?:take|takes|taken|took) down', instead: 'terminate or delete' },
  { words: 'on (?:its|their) way out', instead: 'terminating' },
  { words: 'goes', instead: 'is deleted, continues or is sent' },
  { words: 'life|lives', instead: 'lifecycle, run or exists' },
  { words: 'story|stories', instead: 'scenario' },
  { words: 'rehearses?|rehearsed|rehearsals?', instead: 'warm-up' },
  { words: 'campaigns?', instead: 'fault injection or chaos test' },
  { words: 'beds?|stages?', instead: 'harness or fixture' },
  { words: 'besides?', instead: 'next to, in addition to or compared with' },
  { words: 'occasions?', instead: 'fingerprint or moment' },
  {
    words: 'somebody|someone|nobody|anybody|everybody|whoever|whom',
    instead: 'the name of the actor: the user, the operator, another client',
  },
]

/** Names of other projects, which stay. */
const fixedTexts: readonly RegExp[] = [
  /\bconnection refused\b|ECONNREFUSED/g,
  /\ballSettled\b/g,
  /\bomitStages\b/g,
]

interface Exception {
  /** A file, or a folder with everything in it. */
  readonly path: string
  readonly words: RegExp
  readonly why: string
}

const exceptions: readonly Exception[] = [
  {
    path: 'packages/cli/src/placement',
    words: /^(placed|words)$/i,
    why: 'a placement is computed before any binding; words of a text are wrapped',
  },
  { path: 'packages/cli/src/commands/plan-commands.ts', words: /^placed$/i, why: 'a computed placement' },
  { path: 'packages/cli/src/completion/scripts.ts', words: /^words$/i, why: 'a variable of zsh' },
  { path: 'docs/placement.md', words: /^placed$/i, why: 'a computed placement' },
  { path: 'packages/cli/src/commands/plan.test.ts', words: /^placed$/i, why: 'a computed placement' },
  { path: 'tools/checks/language.ts', words: /./, why: 'the list itself' },
  { path: 'tools/checks/language.test.ts', words: /./, why: 'samples of the words' },
  {
    path: 'packages/scheduler',
    words: /^placed$/i,
    why: 'a placement is what the gang scheduler computes, before the pods are bound',
  },
  { path: 'packages/cli/src/terminal', words: /^words$/, why: 'text is wrapped between words' },
  {
    path: 'packages/waiter/src/waiter.kubernetes.test.ts',
    words: /^stages$/i,
    why: 'KWOK has a kind Stage',
  },
  { path: 'test/kubernetes', words: /^stages?$/i, why: 'KWOK has a kind Stage' },
  { path: 'bench/tenants.ts', words: /^stages$/i, why: 'KWOK has a kind Stage' },
  {
    path: 'test/scenarios/src/startup-order.kubernetes.test.ts',
    words: /^stages$/i,
    why: 'KWOK has a kind Stage',
  },
  {
    path: 'packages/cluster/src/controllers/deployments/status.kubernetes.test.ts',
    words: /^stages$/i,
    why: 'KWOK has a kind Stage',
  },
  {
    path: 'test/packaging/src/install.kubernetes.test.ts',
    words: /^stages$/i,
    why: 'KWOK has a kind Stage',
  },
  { path: 'test/packaging/src/containerfile.ts', words: /^stages?$/i, why: 'a Containerfile has stages' },
  { path: 'CHANGELOG.md', words: /^settled$/, why: 'an old name in the output of a command' },
]

const sentenceStart = /^\s*(?:\/\/|\/\*\*?|\*|#)\s+(What|Whatever|Who|Whom|Whose|Whether|Nobody)\s[^?]*$/
const anyTerm = new RegExp(`\\b(?:${terms.map(({ words }) => words).join('|')})\\b`, 'i')

/**
 * Returns one problem for each replaced word, as `file:line: use X instead of Y`, and one for each unused exception.
 */
export function checkLanguage(
  root: string,
  patterns: readonly string[] = everything,
  allowed: readonly Exception[] = exceptions,
): string[] {
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/*.generated.*'] })
  const used = new Set<Exception>()
  const problems = files.sort().flatMap(file => {
    const exempt = allowed.filter(({ path }) => file === path || file.startsWith(`${path}/`))
    const isExempt = (word: string) => {
      const matching = exempt.filter(({ words }) => words.test(word))
      for (const exception of matching) used.add(exception)
      return matching.length > 0
    }
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    return [
      ...replacedWords(file).map(use => ({ at: file, ...use })),
      ...lines.flatMap((line, index) =>
        [...replacedWords(line), ...clauseSubject(line)].map(use => ({ at: `${file}:${index + 1}`, ...use })),
      ),
    ]
      .filter(({ word }) => !isExempt(word))
      .map(({ at, word, instead }) => `${at}: use ${instead} instead of "${word}"`)
  })
  const unused = allowed.filter(exception => !used.has(exception))
  return [...problems, ...unused.map(({ path, words }) => `${path}: the exception for ${words} is unused`)]
}

interface Use {
  readonly word: string
  readonly instead: string
}

function replacedWords(line: string): Use[] {
  if (!anyTerm.test(inWords(line))) return []
  const text = inWords(fixedTexts.reduce((rest, fixed) => rest.replace(fixed, ''), line))
  return terms.flatMap(({ words, instead }) =>
    [...text.matchAll(new RegExp(`\\b(?:${words})\\b`, 'gi'))].map(([word]) => ({ word, instead })),
  )
}

function clauseSubject(line: string): Use[] {
  const [, word] = sentenceStart.exec(line) ?? []
  return word ? [{ word, instead: 'a noun as the subject of the sentence' }] : []
}

/** Splits identifiers and file names into words. */
function inWords(line: string): string {
  return line.replace(/([a-z0-9])(?=[A-Z])/g, '$1 ').replace(/[-_]/g, ' ')
}
