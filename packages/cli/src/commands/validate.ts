// SPDX-License-Identifier: Apache-2.0

import { type AdmissionResponse, admit, kinds, type OperatorConfiguration } from '@grove/api'
import { CommandError } from '../command-error.ts'
import { ClusterFromManifests } from '../manifests/cluster-from-manifests.ts'
import { readConfigurationFile } from '../manifests/configuration-file.ts'
import { type ManifestDocument, readManifests } from '../manifests/manifest.ts'
import { readManifestsOf } from '../manifests/manifest-folders.ts'
import { isObject } from '../manifests/manifest-value.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { columnsOf, terminal } from '../terminal/terminal.ts'
import { wrapped } from '../terminal/wrap.ts'
import { type CheckedDocument, notValidated, validatedKinds } from './validate/document-kind.ts'
import { errorLines, verdictLines } from './validate/verdict.ts'

export interface ValidateOptions {
  readonly filename: string[]
  readonly old?: string
  readonly config?: string
  readonly output: string
}

/** Prints the result of admission for every document. The exit code is 1 if one of them is rejected. */
export async function validate(options: ValidateOptions): Promise<number> {
  const configuration = await readConfigurationFile(options.config)
  const stored = options.old === undefined ? undefined : await readManifests([options.old])
  const documents = await readManifestsOf(options.filename)
  // An empty file is most likely a mistake, so it is not reported as accepted.
  if (documents.length === 0) throw new CommandError(`no documents in ${options.filename.join(', ')}`)
  const cluster = new ClusterFromManifests()
  const checkedDocuments = documents.map(document => {
    const request = requestOf(document, stored)
    const checked = check(document, request, configuration, cluster)
    // Objects of accepted requests without dryRun are visible to the documents after them.
    if (checked.response?.allowed !== false && !request.dryRun)
      cluster.add(checked.response?.object ?? request.object)
    return checked
  })
  if (options.output === 'json') printJson(checkedDocuments.map(asJson))
  else printLines(verdictLines(checkedDocuments).flatMap(line => wrapped(line, columnsOf(terminal()))))
  return checkedDocuments.some(({ response }) => response?.allowed === false) ? 1 : 0
}

/** Server-side apply reports wrong fields and types by this, before admission. */
const typedPatchError = 'failed to create typed patch object'

/**
 * Returns the mistakes in a document that a cluster rejected with this message, with their lines. Returns undefined if
 * the cluster has another reason: it may have another configuration, and objects that this process does not know.
 */
export async function mistakesIn(
  document: ManifestDocument,
  oldObject: unknown,
  message: string,
): Promise<readonly string[] | undefined> {
  const request = requestOf(document, undefined)
  const update = oldObject === undefined ? request : { ...request, operation: 'UPDATE', oldObject }
  const configuration = await readConfigurationFile(undefined)
  const checked = check(document, update, configuration, new ClusterFromManifests())
  const { response } = checked
  if (response?.allowed !== false || response.message === undefined) return undefined
  const isSame = message.startsWith(typedPatchError)
    ? response.reason !== 'Forbidden'
    : message.includes(response.message)
  return isSame ? errorLines(checked) : undefined
}

interface Request {
  /** Path of the object in its document. */
  readonly path: string
  readonly uid: string | undefined
  readonly operation: string
  readonly kind: string
  readonly apiVersion: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly object: unknown
  readonly oldObject: unknown
  readonly dryRun: boolean
  readonly fieldValidation: 'Strict' | 'Warn'
}

function requestOf(document: ManifestDocument, stored: readonly ManifestDocument[] | undefined): Request {
  const value = isObject(document.value) ? document.value : {}
  if (value.kind === 'AdmissionReview' && isObject(value.request)) return reviewRequest(value.request)
  const oldObject = stored?.find(candidate => sameObject(candidate.value, value))?.value
  return {
    path: '',
    uid: undefined,
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    kind: text(value.kind) ?? '',
    apiVersion: text(value.apiVersion) ?? '',
    namespace: undefined,
    name: undefined,
    object: document.value,
    oldObject,
    dryRun: false,
    // As sent by kubectl and `grove apply`.
    fieldValidation: 'Strict',
  }
}

function reviewRequest(request: Readonly<Record<string, unknown>>): Request {
  const object = isObject(request.object) ? request.object : {}
  const gvk = isObject(request.kind) ? request.kind : {}
  const version = [text(gvk.group), text(gvk.version)].filter(part => part).join('/')
  const options = isObject(request.options) ? request.options : {}
  return {
    path: 'request.object.',
    uid: text(request.uid),
    operation: text(request.operation) ?? '',
    kind: text(gvk.kind) ?? text(object.kind) ?? '',
    apiVersion: version || (text(object.apiVersion) ?? ''),
    namespace: text(request.namespace),
    name: text(request.name),
    object: request.object,
    oldObject: request.oldObject,
    dryRun: request.dryRun === true,
    // Without this option an API server returns warnings only.
    fieldValidation: options.fieldValidation === 'Strict' ? 'Strict' : 'Warn',
  }
}

function check(
  document: ManifestDocument,
  request: Request,
  configuration: OperatorConfiguration,
  cluster: ClusterFromManifests,
): CheckedDocument {
  const { uid, path } = request
  const subject = {
    document: {
      ...document,
      line: document.line,
      locate: (field: string) => document.locate(`${path}${field}`),
    },
    uid,
    kind: request.kind,
    name: nameOf(request),
    object: request.object,
    oldObject: request.oldObject,
  }
  const other = notValidated(request.apiVersion, request.kind)
  if (other) return { ...subject, ...other }
  const { operation, kind, namespace, name, object, oldObject, fieldValidation } = request
  const response = admit(
    {
      operation,
      kind,
      object,
      fieldValidation,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(oldObject !== undefined && oldObject !== null && { oldObject }),
    },
    { configuration, cluster },
  )
  return { ...subject, response }
}

function asJson({ uid, kind, name, response, note }: CheckedDocument) {
  const given: AdmissionResponse = response ?? { allowed: true, code: 200, warnings: note ? [note] : [] }
  return { ...(uid !== undefined ? { uid } : { kind, name }), ...given }
}

function sameObject(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b) || !isObject(a.metadata) || !isObject(b.metadata)) return false
  const namespaced = a.kind !== kinds.clusterTopologyBinding.kind
  return (
    validatedKinds.has(String(a.kind)) &&
    a.kind === b.kind &&
    a.metadata.name === b.metadata.name &&
    (!namespaced || (a.metadata.namespace ?? 'default') === (b.metadata.namespace ?? 'default'))
  )
}

function nameOf({ object, name }: Request): string {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {}
  return text(metadata.name) ?? name ?? text(metadata.generateName) ?? ''
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
