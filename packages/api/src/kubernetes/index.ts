// SPDX-License-Identifier: Apache-2.0

// Types of the Kubernetes kinds in use. scheduling.k8s.io reuses names of other gang schedulers and changes between
// versions, so its types carry their version as a prefix.
export type * from './admissionregistration-v1.generated.ts'
export type * from './apiextensions-v1.generated.ts'
export type * from './apps-v1.generated.ts'
export type * from './authentication-v1.generated.ts'
export type * from './authorization-v1.generated.ts'
export type * from './autoscaling-v1.generated.ts'
export type * from './autoscaling-v2.generated.ts'
export type * from './coordination-v1.generated.ts'
export type * from './core-v1.generated.ts'
export type * from './meta-v1.generated.ts'
export type * from './policy-v1.generated.ts'
export type * from './rbac-v1.generated.ts'
export type * from './resource-v1.generated.ts'
export type * from './scheduling-v1.generated.ts'
export type * as schedulingV1alpha3 from './scheduling-v1alpha3.generated.ts'
export type * as schedulingV1beta1 from './scheduling-v1beta1.generated.ts'
