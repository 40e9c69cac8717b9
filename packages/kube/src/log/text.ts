// SPDX-License-Identifier: Apache-2.0

// Readable log lines: `2026-01-01T00:00:00.000Z INFO  message key=value`. The stack of an error follows on separate
// lines. Not promised: that programs can parse it; use JSON for that.

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
  const { message, stack, cause } = error as { message?: string; stack?: string; cause?: unknown }
  const text = stack ?? message ?? JSON.stringify(error)
  return `\n  ${text.replaceAll('\n', '\n  ')}${cause === undefined ? '' : `\n  caused by:${errorOf(cause)}`}`
}
