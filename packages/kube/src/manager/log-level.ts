// SPDX-License-Identifier: Apache-2.0

// Reads and changes the log levels of the process: GET, or PUT with `level` and, for one area only, `area`.
import { type Logger, type LogLevel, type LogLevels, logLevels } from '../log/index.ts'
import { type EndpointResponse, text } from './endpoint.ts'

export const logLevelPath = '/debug/loglevel'
/** The value of `level` that returns an area to the default level. */
const asDefault = 'default'

export function logLevelResponse(
  levels: LogLevels,
  method: string,
  url: URL,
  log?: Logger,
): EndpointResponse {
  if (method === 'GET') return current(levels)
  if (method !== 'PUT') return text(405, 'use GET, or PUT with the parameters level and area\n')
  const area = url.searchParams.get('area') ?? undefined
  const given = url.searchParams.get('level') ?? ''
  const level = logLevels.find(known => known === given)
  const isReset = given === asDefault && area !== undefined
  if (!level && !isReset)
    return text(
      400,
      `level must be one of ${logLevels.join(', ')}, or ${asDefault} for an area; got "${given.slice(0, 20)}"\n`,
    )
  if (area !== undefined && !levels.hasArea(area))
    return text(404, `unknown area; areas: ${Object.keys(levels.current().areas).join(', ')}\n`)
  set(levels, area, level, log)
  return current(levels)
}

function set(levels: LogLevels, area: string | undefined, level: LogLevel | undefined, log?: Logger): void {
  levels.set(area, level)
  // A warning, so that the change itself is logged at nearly every level.
  log?.warn('Log level changed', { changed: area ?? asDefault, to: level ?? asDefault })
}

function current(levels: LogLevels): EndpointResponse {
  return {
    status: 200,
    body: `${JSON.stringify(levels.current())}\n`,
    headers: { 'content-type': 'application/json' },
  }
}
