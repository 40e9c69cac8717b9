// SPDX-License-Identifier: Apache-2.0

// Relative links in the documentation resolve, including headings.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function checkLinks(root: string): string[] {
  const problems: string[] = []
  const pages = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**'] })
  for (const page of pages) {
    for (const link of linksOf(readFileSync(join(root, page), 'utf8'))) {
      if (/^[a-z]+:/i.test(link)) continue
      const [path = '', heading] = link.split('#')
      const target = path === '' ? page : join(dirname(page), decodeURIComponent(path))
      if (!existsSync(join(root, target))) problems.push(`${page}: the link ${link} does not resolve`)
      else if (heading && target.endsWith('.md') && !headingsOf(readPage(root, target)).has(heading))
        problems.push(`${page}: ${target} has no heading #${heading}`)
    }
  }
  return problems
}

function readPage(root: string, page: string): string {
  const path = join(root, page)
  return statSync(path).isFile() ? readFileSync(path, 'utf8') : ''
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

function linksOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(match => match[1]!)
}

function headingsOf(text: string): Set<string> {
  const plain = text.replace(/^```[\s\S]*?^```/gm, '')
  return new Set(
    [...plain.matchAll(/^#+\s+(.*)$/gm)].map(match =>
      match[1]!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}
