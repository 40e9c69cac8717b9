// SPDX-License-Identifier: Apache-2.0

export { Heartbeats, type HeartbeatsOptions } from './heartbeats.ts'
export {
  isStopped,
  Kubelet,
  type KubeletOptions,
  type RunContext,
  type RunResult,
} from './kubelet.ts'
export { ContainerLogs, type LineSource } from './logs.ts'
export { defaultKubeletSettings, type KubeletSettings } from './settings.ts'
