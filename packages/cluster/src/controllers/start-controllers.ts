// SPDX-License-Identifier: Apache-2.0

import {
  type Client,
  type Clock,
  EventRecorder,
  eventSink,
  type Logger,
  silentLogger,
  systemClock,
} from '@grove/kube'
import { Heartbeats, type HeartbeatsOptions, Kubelet, type KubeletOptions } from '../kubelet/index.ts'
import { Fleet } from '../nodes/fleet.ts'
import { DefaultScheduler, type DefaultSchedulerOptions } from '../scheduling/default-scheduler.ts'
import { Autoscaler, type AutoscalerOptions } from './autoscaler/autoscaler.ts'
import { Caches } from './caches.ts'
import { ComponentEvents } from './component-events.ts'
import { DaemonSetController } from './daemon-sets/daemon-set-controller.ts'
import { DeploymentController } from './deployments/deployment-controller.ts'
import { DisruptionController } from './disruption/disruption-controller.ts'
import { EndpointSliceController } from './endpoints/endpoint-slice-controller.ts'
import { GarbageCollector } from './garbage-collector/garbage-collector.ts'
import { JobController } from './jobs/job-controller.ts'
import { MetadataMonitor } from './metadata-monitor.ts'
import { NamespaceController } from './namespaces/namespace-controller.ts'
import { NodeLifecycle, type NodeLifecycleOptions } from './node-lifecycle/node-lifecycle.ts'
import { PodCleaner } from './node-lifecycle/pod-cleaner.ts'
import { TaintEviction } from './node-lifecycle/taint-eviction.ts'
import { ReplicaSetController } from './replica-sets/replica-set-controller.ts'
import { DeviceEvents } from './resource-claims/device-events.ts'
import { DeviceScheduling } from './resource-claims/device-scheduling.ts'
import { ResourceClaimController } from './resource-claims/resource-claim-controller.ts'
import type { Component, Runtime } from './runtime.ts'
import {
  ServiceAccountController,
  type ServiceAccountOptions,
} from './service-accounts/service-account-controller.ts'
import { StatefulSetController } from './stateful-sets/stateful-set-controller.ts'

/** More than the default, because many events occur when a cluster fills up and the server is local. */
const eventWrites = 16
/** The maximum time that stop waits for unwritten events. */
const eventStopMs = 1_000

export type ControllerName =
  | 'scheduler'
  | 'kubelet'
  | 'heartbeats'
  | 'node-lifecycle'
  | 'garbage-collector'
  | 'namespaces'
  | 'service-accounts'
  | 'replica-sets'
  | 'deployments'
  | 'stateful-sets'
  | 'daemon-sets'
  | 'jobs'
  | 'endpoint-slices'
  | 'disruption-budgets'
  | 'autoscaler'
  | 'resource-claims'

export interface ControllersOptions {
  /** Default: all. */
  readonly run?: readonly ControllerName[]
  readonly clock?: Clock
  /** 0 ≤ r < 1. */
  readonly random?: () => number
  readonly log?: Logger
  readonly scheduler?: DefaultSchedulerOptions
  readonly kubelet?: KubeletOptions
  readonly heartbeats?: HeartbeatsOptions
  readonly nodeLifecycle?: NodeLifecycleOptions
  readonly serviceAccounts?: ServiceAccountOptions
  readonly autoscaler?: AutoscalerOptions
}

export interface RunningControllers {
  /** Changes the nodes of the cluster while it runs. */
  readonly fleet: Fleet
  readonly kubelet: Kubelet | undefined
  readonly scheduler: DefaultScheduler | undefined
  readonly components: readonly Component[]
  /** Stops gracefully, then stops the watches. */
  stop(): Promise<void>
}

/**
 * Runs the controllers of a cluster against any API server. Resolves when the caches are synced and the
 * controllers run.
 */
export async function startControllers(
  client: Client,
  options: ControllersOptions = {},
): Promise<RunningControllers> {
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const log = options.log ?? silentLogger
  const caches = new Caches({ client, clock, random, log })
  const recorder = new EventRecorder({
    sink: eventSink(client),
    clock,
    log,
    random,
    parallelWrites: eventWrites,
  })
  const events = new ComponentEvents(recorder)
  const runtime: Runtime = { client: caches.client, caches, events, clock, random, log }
  const has = (name: ControllerName) => options.run?.includes(name) ?? true

  const kubelet = has('kubelet') ? new Kubelet(runtime, options.kubelet) : undefined
  const devices = has('scheduler') && has('resource-claims') ? new DeviceScheduling(runtime) : undefined
  const schedulerOptions = { ...(devices && { extension: devices }), ...options.scheduler }
  const scheduler = has('scheduler') ? new DefaultScheduler(runtime, schedulerOptions) : undefined
  const monitor = has('garbage-collector') || has('namespaces') ? new MetadataMonitor(runtime) : undefined
  const components: Component[] = [
    ...(kubelet ? [kubelet] : []),
    ...(scheduler ? [scheduler] : []),
    ...(has('heartbeats') ? [new Heartbeats(runtime, options.heartbeats)] : []),
    ...(has('node-lifecycle')
      ? [
          new NodeLifecycle(runtime, options.nodeLifecycle),
          new TaintEviction(runtime),
          new PodCleaner(runtime),
        ]
      : []),
    ...(monitor ? [monitor] : []),
    ...(monitor && has('garbage-collector') ? [new GarbageCollector(runtime, monitor)] : []),
    ...(monitor && has('namespaces') ? [new NamespaceController(runtime, monitor)] : []),
    ...(has('service-accounts') ? [new ServiceAccountController(runtime, options.serviceAccounts)] : []),
    ...(has('replica-sets') ? [new ReplicaSetController(runtime)] : []),
    ...(has('deployments') ? [new DeploymentController(runtime)] : []),
    ...(has('stateful-sets') ? [new StatefulSetController(runtime)] : []),
    ...(has('daemon-sets') ? [new DaemonSetController(runtime)] : []),
    ...(has('jobs') ? [new JobController(runtime)] : []),
    ...(has('endpoint-slices') ? [new EndpointSliceController(runtime)] : []),
    ...(has('disruption-budgets') ? [new DisruptionController(runtime)] : []),
    ...(has('autoscaler') ? [new Autoscaler(runtime, options.autoscaler)] : []),
    ...(has('resource-claims') ? [new ResourceClaimController(runtime)] : []),
    ...(devices && scheduler ? [new DeviceEvents(runtime, scheduler)] : []),
  ]
  const hardStop = new AbortController()
  await caches.start(hardStop.signal)
  for (const component of components) await component.start(hardStop.signal)
  return {
    fleet: new Fleet(runtime.client, clock),
    kubelet,
    scheduler,
    components,
    async stop() {
      await Promise.all(components.map(component => component.stop()))
      await recorder.stop(eventStopMs)
      hardStop.abort(new Error('the controllers were stopped'))
      await caches.ended()
    },
  }
}
