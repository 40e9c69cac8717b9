// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/

/** A semantic version. Build metadata does not matter for comparisons. */
export class CelSemver {
  readonly numbers: readonly bigint[]
  readonly prerelease: readonly string[]

  private constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    this.numbers = numbers
    this.prerelease = prerelease
  }

  static parse(text: string): CelSemver | undefined {
    const [, major, minor, patch, prerelease] = pattern.exec(text) ?? []
    if (major === undefined || minor === undefined || patch === undefined) return undefined
    return new CelSemver([BigInt(major), BigInt(minor), BigInt(patch)], prerelease?.split('.') ?? [])
  }

  compareTo(other: CelSemver): number {
    for (let i = 0; i < 3; i++) {
      const [left, right] = [this.numbers[i]!, other.numbers[i]!]
      if (left !== right) return left < right ? -1 : 1
    }
    // A version without a prerelease comes after all of its prereleases.
    if (this.prerelease.length === 0 || other.prerelease.length === 0)
      return Number(this.prerelease.length === 0) - Number(other.prerelease.length === 0)
    for (let i = 0; i < Math.min(this.prerelease.length, other.prerelease.length); i++) {
      const order = comparePart(this.prerelease[i]!, other.prerelease[i]!)
      if (order !== 0) return order
    }
    return Math.sign(this.prerelease.length - other.prerelease.length)
  }
}

/** Numbers come before texts and are compared by value. */
function comparePart(left: string, right: string): number {
  const [isLeft, isRight] = [/^\d+$/.test(left), /^\d+$/.test(right)]
  if (isLeft !== isRight) return isLeft ? -1 : 1
  if (isLeft) return BigInt(left) < BigInt(right) ? -1 : BigInt(left) > BigInt(right) ? 1 : 0
  return left < right ? -1 : left > right ? 1 : 0
}

const TYPE = 'kubernetes.Semver'

/** `semver('1.2.3')` with comparison and parts. Versions that need normalization are not supported. */
export function registerSemverFunctions(environment: Environment): Environment {
  const part = (index: number) => (version: CelSemver) => version.numbers[index]!
  return environment
    .registerType(TYPE, CelSemver)
    .registerFunction(`semver(string): ${TYPE}`, (text: string) => {
      const version = CelSemver.parse(text)
      if (!version) throw new RangeError(`${text} is no semantic version`)
      return version
    })
    .registerFunction('isSemver(string): bool', (text: string) => CelSemver.parse(text) !== undefined)
    .registerFunction(`${TYPE}.major(): int`, part(0))
    .registerFunction(`${TYPE}.minor(): int`, part(1))
    .registerFunction(`${TYPE}.patch(): int`, part(2))
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: CelSemver, b: CelSemver) =>
      BigInt(a.compareTo(b)),
    )
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: CelSemver, b: CelSemver) => a.compareTo(b) < 0)
    .registerFunction(
      `${TYPE}.isGreaterThan(${TYPE}): bool`,
      (a: CelSemver, b: CelSemver) => a.compareTo(b) > 0,
    )
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelSemver, b: CelSemver) => a.compareTo(b) === 0)
}
