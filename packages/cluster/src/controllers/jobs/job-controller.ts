// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Stored } from '@grove/kube'
import { ownChangesOf, refOf } from '../changes.ts'
import { isTrue, withCondition } from '../conditions.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type Job, jobs, type Pod, pods } from '../kinds.ts'
import { deletePod, ownerChangesOf, podFrom } from '../owned-pods.ts'
import { isActive, isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { timestamp } from '../timestamp.ts'
import { deadlineOf, indexAnnotation, indexOf, type JobStep, planJob } from './plan.ts'

const workers = 4

/** Runs pods to completion. Counts existing pods, so users must not delete pods of a running Job. */
export class JobController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('job-controller', runtime, workers)
    this.watch(ownChangesOf(runtime.caches.of(jobs)), ownerChangesOf(runtime, 'Job'))
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const job = caches.of(jobs).get(refOf(key))
    if (!job || job.metadata.deletionTimestamp) return undefined
    if (isTrue(job.status?.conditions, 'Complete') || isTrue(job.status?.conditions, 'Failed'))
      return this.#expire(job)
    const owned = () => caches.pods.byIndex('controller', job.metadata.uid)
    const step = planJob(job, owned(), clock.now())
    if (step.do === 'run') {
      for (const pod of step.remove) await deletePod(this.runtime, pod)
      if (clock.now() >= step.notBefore) for (const index of step.create) await this.#create(job, index)
    } else for (const pod of owned().filter(isActive)) await deletePod(this.runtime, pod)
    await this.#writeStatus(job, owned(), step)
    const waits = [step.do === 'run' ? step.notBefore : 0, deadlineOf(job) ?? 0].filter(
      at => at > clock.now(),
    )
    return waits.length ? { requeueAt: Math.min(...waits) } : undefined
  }

  async #create(job: Stored<Job>, index: number | undefined): Promise<void> {
    const { name, uid } = job.metadata
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': name,
      'controller-uid': uid,
      'job-name': name,
    }
    if (index === undefined) {
      await this.runtime.client.create(pods, podFrom(jobs, job, job.spec?.template, { labels }))
      return
    }
    const own = { ...labels, [indexAnnotation]: String(index) }
    const pod = podFrom(jobs, job, job.spec?.template, { generateName: `${name}-${index}-`, labels: own })
    const env = { name: 'JOB_COMPLETION_INDEX', value: String(index) }
    const containers = pod.spec?.containers?.map(each => ({ ...each, env: [...(each.env ?? []), env] }))
    const annotations = { ...pod.metadata?.annotations, [indexAnnotation]: String(index) }
    await this.runtime.client.create(pods, {
      ...pod,
      metadata: { ...pod.metadata, annotations },
      spec: { ...pod.spec, hostname: `${name}-${index}`, containers },
    })
  }

  async #writeStatus(job: Stored<Job>, owned: readonly Stored<Pod>[], step: JobStep): Promise<void> {
    const { client, clock } = this.runtime
    const now = clock.now()
    const active = owned.filter(isActive)
    const succeeded = owned.filter(pod => pod.status?.phase === 'Succeeded')
    let conditions = job.status?.conditions ?? []
    const set = (type: string, status: 'True' | 'False', reason: string, message: string) => {
      conditions = [...withCondition(conditions, { type, status, reason, message }, now)]
    }
    if (step.do === 'complete') {
      set('SuccessCriteriaMet', 'True', 'CompletionsReached', 'Reached expected number of succeeded pods')
      set('Complete', 'True', 'CompletionsReached', 'Reached expected number of succeeded pods')
    } else if (step.do === 'fail') {
      set('FailureTarget', 'True', step.reason, step.message)
      set('Failed', 'True', step.reason, step.message)
    } else if (job.spec?.suspend) set('Suspended', 'True', 'JobSuspended', 'Job suspended')
    else if (isTrue(conditions, 'Suspended')) set('Suspended', 'False', 'JobResumed', 'Job resumed')
    const hasEnded = step.do !== 'run'
    const status = {
      startTime: job.spec?.suspend ? null : (job.status?.startTime ?? timestamp(now)),
      active: hasEnded ? 0 : active.length,
      ready: hasEnded ? 0 : active.filter(isReady).length,
      terminating: owned.filter(({ metadata }) => metadata.deletionTimestamp).length,
      succeeded: succeeded.length,
      failed: owned.filter(pod => pod.status?.phase === 'Failed').length,
      ...(job.spec?.completionMode === 'Indexed' && { completedIndexes: ranges(succeeded.map(indexOf)) }),
      ...(step.do === 'complete' && { completionTime: timestamp(now) }),
      conditions,
    }
    if (sameStatus(status, job.status)) return
    try {
      await client.patch(jobs, job.metadata, { merge: { status } }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #expire(job: Stored<Job>): Promise<{ requeueAt: number } | undefined> {
    const { client, clock } = this.runtime
    const ttl = job.spec?.ttlSecondsAfterFinished
    if (ttl === undefined) return undefined
    const end = job.status?.conditions?.find(
      ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
    )
    const at = Date.parse(end?.lastTransitionTime ?? '') + ttl * 1_000
    if (clock.now() < at) return { requeueAt: at }
    try {
      const preconditions = { uid: job.metadata.uid }
      await client.delete(jobs, job.metadata, { propagationPolicy: 'Foreground', preconditions })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return undefined
  }
}

/** Formats completed indexes like Kubernetes: `0-2,5`. */
export function ranges(indexes: readonly number[]): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b)
  const parts: string[] = []
  for (let start = 0; start < sorted.length; ) {
    let end = start
    while (sorted[end + 1] === sorted[end]! + 1) end++
    const joint = end === start + 1 ? ',' : '-'
    parts.push(start === end ? `${sorted[start]}` : `${sorted[start]}${joint}${sorted[end]}`)
    start = end + 1
  }
  return parts.join(',')
}
