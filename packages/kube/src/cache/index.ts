// SPDX-License-Identifier: Apache-2.0

export { type CachedClient, createCachedClient, type WriteRecorder } from './cached-client.ts'
export type { Change, ChangeHandler, ChangeSource } from './change.ts'
export type { IndexFunction } from './indexed-store.ts'
export type { Projection } from './object-cache.ts'
export { ObjectCache, type ObjectCacheOptions } from './object-cache.ts'
export {
  byControllerUid,
  byLabel,
} from './projection.ts'
export { compareResourceVersions } from './resource-version.ts'
export { fieldMatcher, labelMatcher, type Matcher } from './selector.ts'
export { type CacheStatus, WatchCache, type WatchCacheOptions } from './watch-cache.ts'
