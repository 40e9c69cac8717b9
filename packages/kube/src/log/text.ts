// SPDX-License-Identifier: Apache-2.0

// Readable log lines: `2026-01-01T00:00:00.000Z INFO  message key=value`. An error follows on separate lines, with its stack
// unless it has a code: such an error is no bug, and its message is complete. Not promised: that programs can parse it; use
// JSON for that.

/** A stream that takes JSON lines and writes text lines. */
export function textStream(write: (line: string) => void): { write(line: string): void } {
  return { write: line => write(textOf(line)) }
}

function textOf(jsonLine: string): string {
  const { level, ts, msg, error, ...fields } = JSON.parse(jsonLine) as Record<string, unknown>
  const parts = [String(ts), String(level).toUpperCase().padEnd(5), String(msg)]
  for (const [key, value] of Object.entries(fields)) parts.push(`${key}=${quoted(value)}`)
  return `${parts.join(' ')}${errorOf(error)}\n`
}

function quoted(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value
  return JSON.stringify(value)
}

function errorOf(error: unknown): string {
  if (error === undefined) return ''
  if (typeof error !== 'object' || error === null) return ` error=${quoted(error)}`
  const { message, code, stack, cause } = error as Readonly<
    Record<'message' | 'code' | 'stack', string | undefined>
  > & {
    readonly cause?: unknown
  }
  const text = (code === undefined ? stack : undefined) ?? message ?? JSON.stringify(error)
  const causes = cause === undefined || repeats(text, cause) ? '' : `\n  caused by:${errorOf(cause)}`
  return `\n  ${text.replaceAll('\n', '\n  ')}${causes}`
}

function repeats(text: string, cause: unknown): boolean {
  const { message, code } = (cause ?? {}) as { readonly message?: string; readonly code?: string }
  return code !== undefined && message !== undefined && text.includes(message)
}
