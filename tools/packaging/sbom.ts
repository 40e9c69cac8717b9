// SPDX-License-Identifier: Apache-2.0

// `npm run sbom` writes a software bill of materials in CycloneDX format for each image: the packages that the bundler
// put into its programs, with version, licence and checksum from the lock file. The same sources yield the same bytes,
// so the document has no time stamp, and its serial number follows its content. The base image is not part of it; the
// release workflow attaches a bill of the whole image.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readArguments } from '../arguments.ts'
import { bundle, images, root } from './bundle.ts'

const usage = `Usage: npm run sbom [-- --out FOLDER]

Writes a CycloneDX document for the programs of each image. Default folder: dist/sbom.`

interface LockedPackage {
  readonly version: string
  readonly integrity: string
  readonly license: string
}

export interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses: readonly { readonly expression: string }[]
  readonly hashes: readonly { readonly alg: string; readonly content: string }[]
}

export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: string
  readonly serialNumber: string
  readonly version: number
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** Returns the names of the packages in the programs of each image. */
export async function bundledPackages(): Promise<ReadonlyMap<string, readonly string[]>> {
  const bundled = new Map<string, readonly string[]>()
  for (const entry of new Set(Object.values(images).flatMap(files => Object.values(files))))
    bundled.set(entry, (await bundle(entry)).packages)
  return new Map(
    Object.entries(images).map(([image, files]) => {
      const names = Object.values(files).flatMap(entry => bundled.get(entry) ?? [])
      return [image, [...new Set(names)].sort()]
    }),
  )
}

/** Returns the document of each image by the name of the image. */
export function billsOfMaterials(
  packages: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, BillOfMaterials> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const { version } = lock.packages['']!
  return new Map(
    [...packages].map(([image, names]) => [
      image,
      billOf(
        image,
        version,
        names.map(name => componentOf(name, lock.packages)),
      ),
    ]),
  )
}

function billOf(image: string, version: string, components: readonly Component[]): BillOfMaterials {
  const ref = `grove-${image}@${version}`
  const content = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': ref,
        name: `grove-${image}`,
        version,
        licenses: [{ expression: 'Apache-2.0' }],
      },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map(component => component['bom-ref']) }],
  }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  }
}

function componentOf(name: string, locked: Readonly<Record<string, LockedPackage>>): Component {
  const found = locked[`node_modules/${name}`]
  if (!found) throw new Error(`package-lock.json has no node_modules/${name}, which is part of a bundle`)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${found.version}`
  const [algorithm, digest = ''] = found.integrity.split('-')
  if (algorithm !== 'sha512') throw new Error(`the checksum of ${name} is not SHA-512: ${found.integrity}`)
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version: found.version,
    purl,
    licenses: [{ expression: found.license }],
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
  }
}

/** A UUID of version 8, whose bits are those of a checksum. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, { options: { out: { type: 'string' } } })
  const folder = resolve(values.out ?? join(root, 'dist/sbom'))
  mkdirSync(folder, { recursive: true })
  for (const [image, bill] of billsOfMaterials(await bundledPackages())) {
    const file = `grove-${image}.cdx.json`
    writeFileSync(join(folder, file), `${JSON.stringify(bill, null, 2)}\n`)
    console.log(`${file} ${bill.components.length} packages`)
  }
}
