// SPDX-License-Identifier: Apache-2.0

const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

/** The parts of a Go expression that JavaScript writes differently, besides what may stand anywhere. */
const token =
  /\\[pP][A-Z]|\\[AzZ]|\\.|\[:(\w+):\]|\[\^?\]?|\]|\(\?P<|\(\?([ims]*)(-[ims]+)?\)|\(|\)|[^\\[\]()]+/gsu

/**
 * A regular expression of Go as one of JavaScript. Translated are flags inside the expression, named groups, `\A` and
 * `\z`, POSIX classes and one-letter Unicode classes; the rest means the same in both. An expression that cannot be
 * translated throws a SyntaxError that names it.
 *
 * Go guarantees linear time, JavaScript does not: expressions come from CRD authors, who are trusted.
 */
export function goRegExp(pattern: string): RegExp {
  const source = translate(pattern)
  for (const mode of ['u', '']) {
    try {
      return new RegExp(source, mode)
    } catch {
      // The Unicode mode refuses needless escapes such as `\-`, which Go allows; the plain mode takes them.
    }
  }
  throw new SyntaxError(`the pattern ${JSON.stringify(pattern)} has no counterpart in JavaScript`)
}

function translate(pattern: string): string {
  let inClass = false
  /** Per open group, how many flag groups were opened inside it: Go's `(?i)` reaches to the end of its group. */
  const flagGroups = [0]
  let out = ''
  for (const [part, posixClass, flags, offFlags] of pattern.matchAll(token)) {
    if (inClass) {
      if (part === ']') inClass = false
      if (posixClass !== undefined) out += posixClasses[posixClass] ?? part
      else if (part.startsWith('[')) out += `\\${part}`
      else out += unicodeClass(part)
    } else if (part.startsWith('[')) {
      inClass = true
      out += part.endsWith(']') ? `${part.slice(0, -1)}\\]` : part
    } else if (flags !== undefined) {
      flagGroups[flagGroups.length - 1]!++
      out += `(?${flags}${offFlags ?? ''}:`
    } else if (part === '(' || part === '(?P<') {
      flagGroups.push(0)
      out += part.replace('P', '')
    } else if (part === ')') {
      out += ')'.repeat(1 + (flagGroups.pop() ?? 0))
    } else if (part === '\\A') out += '^'
    else if (part === '\\z') out += '$'
    else out += unicodeClass(part)
  }
  return out + ')'.repeat(flagGroups[0] ?? 0)
}

function unicodeClass(part: string): string {
  return /^\\[pP][A-Z]$/.test(part) ? `${part.slice(0, 2)}{${part[2]}}` : part
}
