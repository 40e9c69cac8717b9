// SPDX-License-Identifier: Apache-2.0

// The screen of a terminal after a program has written to it, and a picture of it.

export interface Piece {
  readonly text: string
  readonly style: Style | undefined
}

type Style = 'green' | 'yellow' | 'red' | 'dim'

const styles: Readonly<Record<number, Style | undefined>> = { 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals receive control characters
const sequence = /\u001b\[(\d*)([AJKm])|\n|[^\u001b\n]+|\u001b/g

/**
 * Executes the sequences that the live view writes: move up, erase below, erase the rest of a line, styles. Others
 * are an error. The live view writes whole lines, so the first text of a line replaces its former content.
 */
export function screenOf(output: string): Piece[][] {
  const lines: Piece[][] = [[]]
  let row = 0
  let isAtStart = true
  let style: Style | undefined
  for (const [text, number, command] of output.matchAll(sequence)) {
    if (command === 'A') {
      row -= Number(number)
      isAtStart = true
    } else if (command === 'J') lines.splice(row, lines.length, [])
    else if (command === 'K') {
      if (isAtStart) lines[row] = []
    } else if (command === 'm') style = styles[Number(number)]
    else if (text === '\n') {
      lines[++row] ??= []
      isAtStart = true
    } else if (text.startsWith('\u001b')) throw new Error('unknown control sequence in the output')
    else {
      if (isAtStart) lines[row] = []
      isAtStart = false
      lines[row]!.push({ text, style })
    }
  }
  return lines
}

export function textOf(line: readonly Piece[]): string {
  return line.map(({ text }) => text).join('')
}

const character = { width: 8.4, height: 19 }
const margin = 14

/** An SVG of a dark terminal with these lines. */
export function pictureOf(title: string, lines: readonly (readonly Piece[])[]): string {
  const columns = Math.max(...lines.map(line => [...textOf(line)].length))
  const width = Math.ceil(columns * character.width + 2 * margin)
  const height = lines.length * character.height + 2 * margin
  const rows = lines.map((line, row) => {
    let column = 0
    const pieces = line.map(({ text, style }) => {
      const x = margin + column * character.width
      column += [...text].length
      return `<tspan x="${x.toFixed(1)}"${style ? ` class="${style}"` : ''}>${escaped(text)}</tspan>`
    })
    return `<text y="${margin + row * character.height + 14}">${pieces.join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${title}</title>
<style>
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #e6edf3 }
.green { fill: #56d364 } .yellow { fill: #e3b341 } .red { fill: #ff7b72 } .dim { fill: #8b949e }
</style>
<rect width="100%" height="100%" rx="6" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0')
}
