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

/**
 * A regular expression of Go as one of JavaScript. The two agree on nearly everything that schemas use; translated
 * are leading flags, `\A`, `\z`, POSIX classes and one-letter Unicode classes. What still does not compile throws a
 * SyntaxError that names the pattern.
 *
 * Go guarantees linear time, JavaScript does not: patterns come from CRD authors, who are trusted not to be hostile.
 */
export function goRegExp(pattern: string): RegExp {
  let source = pattern
  let flags = ''
  const leading = /^\(\?([ims]+)\)/.exec(source)
  if (leading) {
    flags = [...new Set(leading[1])].join('')
    source = source.slice(leading[0].length)
  }
  source = source
    .replace(/\[:(\w+):\]/g, (whole, name: string) => posixClasses[name] ?? whole)
    .replace(/\\([pP])([A-Z])(?!\w*})/g, '\\$1{$2}')
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$')
  for (const mode of ['u', '']) {
    try {
      return new RegExp(source, flags + mode)
    } catch {
      // The Unicode mode refuses needless escapes such as `\-`, which Go allows; the plain mode takes them.
    }
  }
  throw new SyntaxError(`the pattern ${JSON.stringify(pattern)} has no counterpart in JavaScript`)
}
