// SPDX-License-Identifier: Apache-2.0
import { isIP } from 'node:net'
import type { Environment } from '@marcbachmann/cel-js'
import { parseRequestUri, type RequestUri } from '../request-uri.ts'
import { formatCheck } from '../structural-schema/formats.ts'

class CelUrl {
  readonly uri: RequestUri

  constructor(uri: RequestUri) {
    this.uri = uri
  }
}

const URL_TYPE = 'kubernetes.URL'

/** URL functions. For IP addresses and CIDRs only the checks for validity. */
export function registerNetworkFunctions(environment: Environment): void {
  environment
    .registerType(URL_TYPE, CelUrl)
    .registerFunction('isURL(string): bool', (text: string) => parseRequestUri(text) !== undefined)
    .registerFunction(`url(string): ${URL_TYPE}`, (text: string) => {
      const uri = parseRequestUri(text)
      if (uri === undefined) throw new SyntaxError(`URL parse error during conversion from string: ${text}`)
      return new CelUrl(uri)
    })
    .registerFunction(`${URL_TYPE}.getScheme(): string`, (url: CelUrl) => url.uri.scheme)
    .registerFunction(`${URL_TYPE}.getHost(): string`, (url: CelUrl) => url.uri.host)
    .registerFunction(`${URL_TYPE}.getHostname(): string`, (url: CelUrl) => url.uri.hostname)
    .registerFunction(`${URL_TYPE}.getPort(): string`, (url: CelUrl) => url.uri.port)
    .registerFunction(`${URL_TYPE}.getEscapedPath(): string`, (url: CelUrl) => url.uri.path)
    .registerFunction(`${URL_TYPE}.getQuery(): map<string, list<string>>`, (url: CelUrl) =>
      queryOf(url.uri.query),
    )
    .registerOperator(
      `${URL_TYPE} == ${URL_TYPE}`,
      (a: CelUrl, b: CelUrl) => JSON.stringify(a.uri) === JSON.stringify(b.uri),
    )
    .registerFunction('isIP(string): bool', (text: string) => !text.includes('%') && isIP(text) !== 0)
    .registerFunction('isCIDR(string): bool', (text: string) => formatCheck('cidr')!(text))
}

function queryOf(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query)) {
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return values
}
