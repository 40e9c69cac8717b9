// SPDX-License-Identifier: Apache-2.0

import type { ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ResourceQuota, Secret, Service, ServiceAccount } from '../../schema/types.generated.ts'
import { type BuiltInKind, kind, objectVerbs } from '../built-in.ts'
import {
  defaultClaim,
  defaultEndpoints,
  defaultNamespace,
  defaultSecret,
  defaultService,
  defaultVolume,
} from '../defaults/core.ts'
import { defaultPod, defaultPodTemplate } from '../defaults/pod.ts'
import { configMapStrategy, secretStrategy } from '../strategies/configuration.ts'
import { eventSelectableFields, eventStrategy } from '../strategies/event.ts'
import { namespaceStrategy } from '../strategies/namespace.ts'
import { defaultNode, nodeStrategy } from '../strategies/node.ts'
import { podSelectableFields, podStrategy } from '../strategies/pod.ts'
import { serviceStrategy } from '../strategies/service.ts'
import {
  configMapColumns,
  eventColumns,
  namespaceColumns,
  nodeColumns,
  secretColumns,
  serviceColumns,
} from '../tables/core.ts'
import { podColumns } from '../tables/pod.ts'

export const coreKinds: readonly BuiltInKind[] = [
  kind<Namespace>({
    type: 'core/v1.Namespace',
    group: '',
    plural: 'namespaces',
    namespaced: false,
    shortNames: ['ns'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: { finalize: { kind: 'Namespace', verbs: ['update'] } },
    defaults: defaultNamespace,
    strategy: namespaceStrategy,
    columns: namespaceColumns,
    selectableFields: { 'status.phase': object => object.status?.phase ?? '' },
  }),
  kind<Node>({
    type: 'core/v1.Node',
    group: '',
    plural: 'nodes',
    namespaced: false,
    shortNames: ['no'],
    strategy: nodeStrategy,
    defaults: defaultNode,
    columns: nodeColumns,
    selectableFields: {
      'spec.unschedulable': object => String(object.spec?.unschedulable ?? false),
    },
  }),
  kind<Pod>({
    type: 'core/v1.Pod',
    group: '',
    plural: 'pods',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    subresources: {
      attach: { kind: 'PodAttachOptions', verbs: ['create', 'get'] },
      binding: { kind: 'Binding', verbs: ['create'] },
      ephemeralcontainers: { kind: 'Pod', verbs: objectVerbs },
      eviction: { kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      exec: { kind: 'PodExecOptions', verbs: ['create', 'get'] },
      log: { kind: 'Pod', verbs: ['get'] },
      portforward: { kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
      proxy: { kind: 'PodProxyOptions', verbs: ['create', 'delete', 'get', 'patch', 'update'] },
      resize: { kind: 'Pod', verbs: objectVerbs },
    },
    defaults: defaultPod,
    strategy: podStrategy,
    columns: podColumns,
    selectableFields: podSelectableFields,
  }),
  kind<PodTemplate>({
    type: 'core/v1.PodTemplate',
    group: '',
    plural: 'podtemplates',
    namespaced: true,
    strategy: { returnsDeleted: true },
    defaults: draft => defaultPodTemplate(draft.template),
  }),
  kind<Service>({
    type: 'core/v1.Service',
    group: '',
    plural: 'services',
    namespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    defaults: defaultService,
    strategy: serviceStrategy,
    columns: serviceColumns,
    selectableFields: {
      'spec.clusterIP': object => object.spec?.clusterIP ?? '',
      'spec.type': object => object.spec?.type ?? '',
    },
  }),
  kind<Endpoints>({
    type: 'core/v1.Endpoints',
    group: '',
    plural: 'endpoints',
    namespaced: true,
    shortNames: ['ep'],
    singular: 'endpoints',
    defaults: defaultEndpoints,
    strategy: { createOnUpdate: true },
  }),
  kind<ConfigMap>({
    type: 'core/v1.ConfigMap',
    group: '',
    plural: 'configmaps',
    namespaced: true,
    shortNames: ['cm'],
    strategy: configMapStrategy,
    columns: configMapColumns,
  }),
  kind<Secret>({
    type: 'core/v1.Secret',
    group: '',
    plural: 'secrets',
    namespaced: true,
    defaults: defaultSecret,
    strategy: secretStrategy,
    columns: secretColumns,
    selectableFields: { type: object => object.type ?? '' },
  }),
  kind<ServiceAccount>({
    type: 'core/v1.ServiceAccount',
    group: '',
    plural: 'serviceaccounts',
    namespaced: true,
    shortNames: ['sa'],
    subresources: {
      token: { kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
    },
    strategy: { returnsDeleted: true },
  }),
  kind<Event>({
    type: 'core/v1.Event',
    group: '',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    strategy: eventStrategy,
    columns: eventColumns,
    selectableFields: eventSelectableFields,
  }),
  kind<PersistentVolumeClaim>({
    type: 'core/v1.PersistentVolumeClaim',
    group: '',
    plural: 'persistentvolumeclaims',
    namespaced: true,
    shortNames: ['pvc'],
    strategy: { returnsDeleted: true, prepareForCreate: defaultClaim },
    defaults: defaultClaim,
  }),
  kind<PersistentVolume>({
    type: 'core/v1.PersistentVolume',
    group: '',
    plural: 'persistentvolumes',
    namespaced: false,
    shortNames: ['pv'],
    strategy: { returnsDeleted: true, prepareForCreate: defaultVolume },
    defaults: defaultVolume,
  }),
  kind<LimitRange>({
    type: 'core/v1.LimitRange',
    group: '',
    plural: 'limitranges',
    namespaced: true,
    shortNames: ['limits'],
    strategy: { createOnUpdate: true },
  }),
  kind<ResourceQuota>({
    type: 'core/v1.ResourceQuota',
    group: '',
    plural: 'resourcequotas',
    namespaced: true,
    shortNames: ['quota'],
    strategy: { returnsDeleted: true },
  }),
]
