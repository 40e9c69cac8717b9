// SPDX-License-Identifier: Apache-2.0

import type { ApiRequest, ApiResponse } from './request.ts'

/** The version of Kubernetes whose behaviour this server follows. */
const servedVersion = {
  major: '1',
  minor: '37',
  emulationMajor: '1',
  emulationMinor: '37',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '36',
  gitVersion: 'v1.37.1+grove',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
}

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/

export function handleHealth({ path, query }: ApiRequest): ApiResponse | undefined {
  if (path === '/version' || path === '/version/')
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(servedVersion),
    }
  const match = healthPaths.exec(path)
  if (!match) return undefined
  const body = query.has('verbose') ? `[+]ping ok\n[+]store ok\n${match[1]} check passed\n` : 'ok'
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  }
}
