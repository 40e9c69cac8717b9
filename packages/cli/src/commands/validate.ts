// SPDX-License-Identifier: Apache-2.0

import { type AdmissionResponse, admit, kinds, type OperatorConfiguration } from '@grove/api'
import { ClusterFromManifests } from '../cluster-from-manifests.ts'
import { CommandError } from '../command-error.ts'
import { readConfigurationFile } from '../configuration-file.ts'
import { type ManifestDocument, readManifests } from '../manifest.ts'
import { readManifestsOf } from '../manifest-folders.ts'
import { printJson, printLines } from '../print.ts'
import { isObject } from '../set-manifest.ts'
import { type Terminal, terminal } from '../terminal.ts'
import { type Judgement, judgedKinds, notJudged } from './validate/document-kind.ts'
import { folded } from './validate/fold.ts'
import { verdictLines } from './validate/verdict.ts'

export interface ValidateOptions {
  readonly filename: string[]
  readonly old?: string
  readonly config?: string
  readonly output: string
}

/** Answers for every document what admission would; 1 when one of them is refused. */
export async function validate(options: ValidateOptions): Promise<number> {
  const configuration = await readConfigurationFile(options.config)
  const stored = options.old === undefined ? undefined : await readManifests([options.old])
  const documents = await readManifestsOf(options.filename)
  // An empty file is a mistake on the way here, not something that was accepted.
  if (documents.length === 0) throw new CommandError(`nothing to check in ${options.filename.join(', ')}`)
  const cluster = new ClusterFromManifests()
  const judgements = documents.map(document => {
    const request = requestOf(document, stored)
    const judgement = judge(document, request, configuration, cluster)
    // What a document that is not a mere question creates is known to those after it.
    if (judgement.answer?.allowed !== false && !request.dryRun)
      cluster.add(judgement.answer?.object ?? request.object)
    return judgement
  })
  if (options.output === 'json') printJson(judgements.map(asJson))
  else printLines(verdictLines(judgements).flatMap(line => folded(line, columnsOf(terminal()))))
  return judgements.some(({ answer }) => answer?.allowed === false) ? 1 : 0
}

/** Files and other programs get every line as one. */
function columnsOf({ stdout }: Terminal): number {
  return stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY
}

interface Request {
  /** Where the object stands: its path in the document. */
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
    // As kubectl and `grove apply` send it.
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
    // Clients that do not say so are only warned.
    fieldValidation: options.fieldValidation === 'Strict' ? 'Strict' : 'Warn',
  }
}

function judge(
  document: ManifestDocument,
  request: Request,
  configuration: OperatorConfiguration,
  cluster: ClusterFromManifests,
): Judgement {
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
  const other = notJudged(request.apiVersion, request.kind)
  if (other) return { ...subject, ...other }
  const { operation, kind, namespace, name, object, oldObject, fieldValidation } = request
  const answer = admit(
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
  return { ...subject, answer }
}

function asJson({ uid, kind, name, answer, note }: Judgement) {
  const given: AdmissionResponse = answer ?? { allowed: true, code: 200, warnings: note ? [note] : [] }
  return { ...(uid !== undefined ? { uid } : { kind, name }), ...given }
}

function sameObject(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b) || !isObject(a.metadata) || !isObject(b.metadata)) return false
  const namespaced = a.kind !== kinds.clusterTopologyBinding.kind
  return (
    judgedKinds.has(String(a.kind)) &&
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
