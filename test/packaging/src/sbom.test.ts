// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { type BillOfMaterials, billsOfMaterials, bundledPackages } from '../../../tools/packaging/sbom.ts'
import { repository } from './rendered-chart.ts'

describe('bills of materials', () => {
  let packages: ReadonlyMap<string, readonly string[]>
  let bills: ReadonlyMap<string, BillOfMaterials>
  before(async () => {
    packages = await bundledPackages()
    bills = billsOfMaterials(packages)
  })

  test('list exactly the packages that are part of the programs, in the installed versions', () => {
    const listed = bills.get('operator')!.components
    assert.deepEqual(
      listed.map(component => component.name),
      packages.get('operator'),
    )
    assert.ok(listed.some(({ name }) => name === 'undici'))
    assert.deepEqual(bills.get('waiter')!.components, [], 'the waiter has no dependency')
    for (const { name, version, licenses } of listed) {
      const file = join(repository, 'node_modules', name, 'package.json')
      const installed = JSON.parse(readFileSync(file, 'utf8')) as { version: string; license: string }
      assert.equal(version, installed.version, name)
      assert.deepEqual(licenses, [{ expression: installed.license }], name)
    }
  })

  test('have the members that CycloneDX 1.6 requires', () => {
    for (const [image, bill] of bills) {
      assert.equal(bill.bomFormat, 'CycloneDX')
      assert.match(
        bill.serialNumber,
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      assert.equal(bill.metadata.component.name, `grove-${image}`)
      const refs = bill.components.map(component => component['bom-ref'])
      assert.equal(new Set(refs).size, refs.length)
      assert.deepEqual(bill.dependencies[0]?.dependsOn, refs)
      for (const { purl, hashes } of bill.components) {
        assert.match(purl, /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/)
        assert.match(hashes[0]!.content, /^[0-9a-f]{128}$/)
      }
    }
    const serials = [...bills.values()].map(bill => bill.serialNumber)
    assert.equal(new Set(serials).size, serials.length)
  })

  test('are the same for the same packages, and report a package that the lock file does not have', () => {
    assert.equal(JSON.stringify([...billsOfMaterials(packages)]), JSON.stringify([...bills]))
    assert.throws(() => billsOfMaterials(new Map([['operator', ['unknown']]])), /no node_modules\/unknown/)
  })
})
