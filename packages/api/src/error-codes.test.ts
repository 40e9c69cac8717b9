// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { cliqueErrorCode, reservedErrorCodes, scalingGroupErrorCode, setErrorCode } from './error-codes.ts'

const operator = resolve(import.meta.dirname, '../../operator/src')
const sources = globSync('**/*.ts', { cwd: operator })
  .filter(
    file =>
      !file.endsWith('.test.ts') && !file.endsWith('.fixture.ts') && !/(^|[/\\])testing[/\\]/.test(file),
  )
  .map(file => readFileSync(join(operator, file), 'utf8'))
  .join('\n')

const catalogues = {
  setErrorCode: { used: setErrorCode, reserved: reservedErrorCodes.set },
  cliqueErrorCode: { used: cliqueErrorCode, reserved: reservedErrorCodes.clique },
  scalingGroupErrorCode: { used: scalingGroupErrorCode, reserved: reservedErrorCodes.scalingGroup },
}

describe('the operator', () => {
  test('is found', () => assert.ok(sources.includes('@grove/api')))

  for (const [name, { used, reserved }] of Object.entries(catalogues)) {
    const usedKeys = new Set(
      [...sources.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, key]) => key),
    )

    test(`uses every code of ${name}`, () =>
      assert.deepEqual(
        Object.keys(used).filter(key => !usedKeys.has(key)),
        [],
        'move these codes to reservedErrorCodes',
      ))

    test(`uses no reserved code of ${name}`, () => {
      assert.deepEqual(
        Object.entries(reserved).filter(([key, code]) => usedKeys.has(key) || isLiteral(code)),
        [],
        `move these codes to ${name}`,
      )
    })
  }
})

/** A code of one catalogue may be reserved in another, so a literal counts only if no catalogue has it. */
function isLiteral(code: string): boolean {
  const everyCode: readonly string[] = Object.values(catalogues).flatMap(({ used }) => Object.values(used))
  return !everyCode.includes(code) && sources.includes(`'${code}'`)
}
