// SPDX-License-Identifier: Apache-2.0

// `grove manifests` prints the objects of an installation for `kubectl apply`.
import { CommandError } from '../command-error.ts'
import { defaultNamespace, installManifests } from '../install/install-manifests.ts'
import { release } from '../install/release.ts'
import { printNote } from '../terminal/print.ts'
import { printObjects } from '../terminal/print-objects.ts'

export interface ManifestsOptions {
  readonly namespace?: string
  readonly createNamespace?: boolean
  readonly image?: string
  readonly waiterImage?: string
  readonly output: string
}

export function manifests(options: ManifestsOptions): void {
  const { namespace = defaultNamespace, createNamespace, image, waiterImage } = options
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
    throw new CommandError(`--namespace must be the name of a namespace, not ${JSON.stringify(namespace)}`)
  const reference = imageReference(image)
  const objects = installManifests({ namespace, release, image: reference, waiterImage })
  const development = [
    ...(image === undefined ? ['--image'] : []),
    ...(waiterImage === undefined ? ['--waiter-image'] : []),
  ]
  // Standard error, because standard output is for kubectl.
  if (!release && development.length > 0)
    printNote(
      'Warning: this grove was built without a registry, so the manifests name development images that no registry has. ' +
        `Set ${development.join(' and ')}.`,
    )
  const first = createNamespace
    ? [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]
    : []
  printObjects([...first, ...objects], options.output)
}

/** Rejects images without a tag: nodes would run whatever image was the latest when they pulled it. */
function imageReference(image: string | undefined): string | undefined {
  if (image === undefined || /[:@][^/]+$/.test(image)) return image
  throw new CommandError(`--image requires a tag or a digest: ${image}:TAG`)
}
