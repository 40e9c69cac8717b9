// SPDX-License-Identifier: Apache-2.0

// What cases on whole clusters wait for before they begin.
import type { Answer } from '../../http.ts'
import type { Ground } from '../../suite.ts'

export const isGone = (answer: Answer) => answer.status === 404

/** Pods need the account of their namespace, which comes a moment after it. */
export async function withAccount(ground: Ground): Promise<Ground> {
  await ground.eventually(
    () => ground.http.get(ground.core('serviceaccounts/default')),
    answer => answer.status === 200,
  )
  return ground
}

export async function rolledOut(
  { http, group, eventually }: Ground,
  path: string,
  replicas: number,
): Promise<Answer> {
  return eventually(
    () => http.get(group('apps/v1', path)),
    answer => answer.at('status.readyReplicas') === replicas,
  )
}
