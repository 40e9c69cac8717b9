// SPDX-License-Identifier: Apache-2.0
import { type CelDevice, celDevice } from '@grove/apimachinery'
import { compareText } from '../order.ts'
import type { ResourceSlice, SliceDevice } from '../types.ts'

/** A device that a driver offers. */
export interface Device {
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly name: string
  readonly node: string
  /** The field for which the core does not know how to allocate the device. */
  readonly unsupported: string | undefined
  readonly source: SliceDevice
  readonly cel: CelDevice
}

export function deviceId(device: { driver: string; pool: string; device: string }): string {
  return `${device.driver}/${device.pool}/${device.device}`
}

/** Fields of a slice and of a device that are read. Any other field may restrict the use of the devices. */
const sliceFields = new Set(['driver', 'pool', 'nodeName', 'devices'])
const deviceFields = new Set(['name', 'attributes', 'capacity', 'taints'])
/** Only these effects keep requests without tolerations away. */
const harmlessEffects = new Set(['None'])

/** Watch caches replace a slice when it changes, so its devices are converted once. */
const known = new WeakMap<ResourceSlice, readonly Device[]>()

/**
 * Returns the devices of the current generation of each pool, by name. Devices with a taint are left out, because the core
 * supports no request that tolerates one.
 */
export function devicesOf(slices: readonly ResourceSlice[]): readonly Device[] {
  // A manifest may have slices that the API server would reject.
  const readable = slices.filter(({ spec }) => spec?.driver && spec.pool?.name)
  const pools = Map.groupBy(readable, ({ spec }) => `${spec.driver}/${spec.pool.name}`)
  const found: Device[] = []
  for (const pool of pools.values()) {
    const newest = Math.max(...pool.map(generationOf))
    const devices = pool.filter(slice => generationOf(slice) === newest).flatMap(sliceDevices)
    const names = new Set(devices.map(({ id }) => id))
    const isInvalid = names.size < devices.length
    for (const device of devices)
      found.push(
        isInvalid ? { ...device, unsupported: `pool ${device.pool}, which lists a device twice,` } : device,
      )
  }
  return found.sort((left, right) => compareText(left.id, right.id))
}

function generationOf({ spec }: ResourceSlice): number {
  return spec.pool.generation ?? 0
}

function sliceDevices(slice: ResourceSlice): readonly Device[] {
  let devices = known.get(slice)
  if (!devices) {
    devices = newDevices(slice)
    known.set(slice, devices)
  }
  return devices
}

function newDevices({ spec }: ResourceSlice): Device[] {
  const { driver, pool, nodeName, devices = [] } = spec
  const ofSlice = nodeName ? unknownField(spec, sliceFields) : (unknownField(spec, sliceFields) ?? 'nodeName')
  return devices.flatMap((source): Device[] => {
    if (source.taints?.some(({ effect }) => !harmlessEffects.has(effect ?? ''))) return []
    const ofDevice = unknownField(source, deviceFields)
    const { attributes, capacity } = source
    return [
      {
        id: deviceId({ driver, pool: pool.name, device: source.name }),
        driver,
        pool: pool.name,
        name: source.name,
        node: nodeName ?? '',
        unsupported: ofSlice
          ? `spec.${ofSlice} of ResourceSlices`
          : ofDevice && `spec.devices[].${ofDevice} of ResourceSlices`,
        source,
        cel: celDevice({ driver, ...(attributes && { attributes }), ...(capacity && { capacity }) }),
      },
    ]
  })
}

/** The first field that is set and not read. */
export function unknownField(
  object: Readonly<Record<string, unknown>>,
  read: ReadonlySet<string>,
): string | undefined {
  return Object.keys(object)
    .filter(name => !read.has(name) && isSet(object[name]))
    .sort(compareText)[0]
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return !(Array.isArray(value) && value.length === 0)
}
