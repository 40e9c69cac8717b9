// SPDX-License-Identifier: Apache-2.0

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a post-renderer for Helm that redirects the Services of a release to this machine, where the operator runs.
 * Returns its path. Helm applies it to installations and upgrades alike, so it causes no difference between them.
 * With a port, API servers call the webhooks there, for any port of the operator.
 */
export function servicesToThisMachine(folder: string, webhookPort?: number): string {
  const file = join(folder, 'to-this-machine.mjs')
  const program = `#!${process.execPath}
import { parseAllDocuments } from ${JSON.stringify(import.meta.resolve('yaml'))}
let text = ''
for await (const chunk of process.stdin) text += chunk
for (const document of parseAllDocuments(text)) {
  const object = document.toJS()
  for (const { clientConfig } of object?.webhooks ?? []) clientConfig.service.port = ${webhookPort} ?? clientConfig.service.port
  if (object?.kind === 'Service') object.spec = { type: 'ExternalName', externalName: 'localhost' }
  if (object) process.stdout.write('---\\n' + JSON.stringify(object) + '\\n')
}
`
  writeFileSync(file, program, { mode: 0o755 })
  return file
}
