// SPDX-License-Identifier: Apache-2.0

// Preconditions of cases on complete clusters.
import type { Response } from '../../http.ts'
import type { Fixture } from '../../suite.ts'

export const isGone = (response: Response) => response.status === 404

/** Pods need the default service account, which a controller creates after the namespace. */
export async function withAccount(fixture: Fixture): Promise<Fixture> {
  await fixture.eventually(
    () => fixture.http.get(fixture.core('serviceaccounts/default')),
    response => response.status === 200,
  )
  return fixture
}

export async function rolledOut(
  { http, group, eventually }: Fixture,
  path: string,
  replicas: number,
): Promise<Response> {
  return eventually(
    () => http.get(group('apps/v1', path)),
    response => response.at('status.readyReplicas') === replicas,
  )
}
