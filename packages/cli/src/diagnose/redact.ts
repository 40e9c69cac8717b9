// SPDX-License-Identifier: Apache-2.0

// Removes secrets from objects and logs before they are added to an archive that a user attaches to a bug report. Pure.
// Promised: values of environment variables, values of HTTP headers, values of annotations that hold a whole object,
// and everything that looks like a credential are removed. Not promised: that a secret in another field, such as a host
// name, is recognized. The archive therefore contains no Secret and only the ConfigMap of the operator.

export const removed = '(removed)'

/** Annotations with a copy of an object, which contains its environment variables. */
const copies = /last-applied-configuration$/
/** Names of flags, keys and variables whose value is a secret. */
const secretName =
  '[\\w.-]{0,64}(?:token|passw(?:or)?d|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\\w.-]{0,64}'
const credentials: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g, removed],
  // JSON Web Tokens, such as the tokens of service accounts.
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, removed],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${removed}`],
  // Tokens with the prefix of their issuer: Hugging Face, GitHub, NVIDIA, AWS, OpenAI and others.
  [/\b(?:hf_|gh[pousr]_|github_pat_|nvapi-|AKIA|ASIA|sk-|xox[abpr]-)[\w-]{12,}/g, removed],
  // User and password in a URL.
  [/(\w+:\/\/)[^\s/:@]+:[^\s/@]+@/g, `$1${removed}@`],
  // `--token=x`, `password: x`, `"apiKey":"x"`
  [new RegExp(`(${secretName}["']?\\s*[=:]\\s*["']?)[^\\s"',;}]+`, 'gi'), `$1${removed}`],
]
const secretFlag = new RegExp(`^--?${secretName}$`, 'i')

/** Replaces everything in the text that looks like a credential. */
export function redactedText(text: string): string {
  return credentials.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), text)
}

/** A copy of the object without secrets. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return redactedText(value)
  if (Array.isArray(value)) return withoutFlagValues(value).map(redacted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'managedFields')
      .map(([key, member]) => [key, memberOf(key, member)]),
  )
}

function memberOf(key: string, value: unknown): unknown {
  if (key === 'env' || key === 'httpHeaders') return withoutValues(value)
  if (copies.test(key)) return removed
  return redacted(value)
}

/** Keeps names and references such as `valueFrom`, which explain a failure. */
function withoutValues(entries: unknown): unknown {
  if (!Array.isArray(entries)) return redacted(entries)
  return entries.map(entry => {
    const kept = redacted(entry)
    return typeof kept === 'object' && kept !== null && 'value' in kept ? { ...kept, value: removed } : kept
  })
}

/** In `[--token, x]` of a command line, the second entry is the secret. */
function withoutFlagValues(entries: readonly unknown[]): readonly unknown[] {
  return entries.map((entry, at) => {
    const flag = entries[at - 1]
    return typeof entry === 'string' && typeof flag === 'string' && secretFlag.test(flag) ? removed : entry
  })
}
