// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { at } from '../json.ts'
import { defineWidgets, definitionsPath, widget, widgetDefinition } from '../objects.ts'
import { chapter } from '../suite.ts'

export const customResources = chapter('custom resources', {
  'a definition gets default names, conversion and stored versions': async fixture => {
    const made = await fixture.http.post(definitionsPath, widgetDefinition(fixture))
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec.names'), {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
    })
    assert.deepEqual(made.at('spec.conversion'), { strategy: 'None' })
    assert.deepEqual(made.at('status.storedVersions'), ['v1'])
  },
  'a definition is established': async fixture => {
    await defineWidgets(fixture)
    const definition = await fixture.http.get(`${definitionsPath}/widgets.${fixture.id}.example.com`)
    const conditions = definition.at('status.conditions') as object[]
    assert.deepEqual(
      conditions.map(condition => [
        at(condition, 'type'),
        at(condition, 'status'),
        at(condition, 'reason'),
        at(condition, 'message'),
      ]),
      [
        ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'],
        ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'],
      ],
    )
    assert.deepEqual(definition.at('status.acceptedNames'), {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
    })
  },
  'the name of a definition is plural and group': async fixture => {
    const definition = widgetDefinition(fixture) as { metadata: object }
    const rejected = await fixture.http.post(definitionsPath, { ...definition, metadata: { name: 'other' } })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /metadata\.name: Invalid value: "other": must be spec\.names\.plural\+"\."\+spec\.group/,
    )
  },
  'a definition requires a schema': async fixture => {
    const rejected = await fixture.http.post(
      definitionsPath,
      widgetDefinition(fixture, { schema: undefined }),
    )
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value/)
  },
  'exactly one version is the storage version': async fixture => {
    const rejected = await fixture.http.post(definitionsPath, widgetDefinition(fixture, { storage: false }))
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /must have exactly one version marked as storage version/)
  },
  'a custom object is created, read, listed and deleted': async fixture => {
    const path = await defineWidgets(fixture)
    const made = await fixture.http.post(path, widget(fixture, 'w'))
    assert.equal(made.status, 201)
    assert.equal(made.at('metadata.generation'), 1)
    assert.equal((await fixture.http.get(`${path}/w`)).at('spec.size'), 2)
    const list = await fixture.http.get(path)
    assert.equal(list.at('kind'), 'WidgetList')
    assert.equal(list.at('items.0.kind'), 'Widget')
    assert.equal((await fixture.http.delete(`${path}/w`)).at('status'), 'Success')
    assert.equal(
      (await fixture.http.get(`${path}/w`)).at('message'),
      `widgets.${fixture.id}.example.com "w" not found`,
    )
  },
  'a custom object requires a kind': async fixture => {
    const rejected = await fixture.http.post(await defineWidgets(fixture), { metadata: { name: 'w' } })
    assert.equal(rejected.status, 400)
    assert.match(
      rejected.text('message'),
      /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing in/,
    )
  },
  'a custom object must have the kind of the path': async fixture => {
    const rejected = await fixture.http.post(await defineWidgets(fixture), {
      ...widget(fixture, 'w'),
      kind: 'Gadget',
    })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      `Gadget.${fixture.id}.example.com "w" is invalid: kind: Invalid value: "Gadget": must be Widget`,
    )
  },
  'ignores the status in a create request': async fixture => {
    const made = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1 }, { status: { phase: 'Done' } }),
    )
    assert.equal(made.at('status'), undefined)
  },
  'a status update changes only the status': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w'))
    const patched = await fixture.http.mergePatch(`${path}/w/status`, {
      spec: { size: 9 },
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Done' },
    })
    assert.equal(patched.status, 200)
    assert.deepEqual(patched.at('status'), { phase: 'Done' })
    assert.equal(patched.at('spec.size'), 2)
    assert.equal(patched.at('metadata.labels'), undefined)
    assert.equal(patched.at('metadata.generation'), 1)
  },
  'an update keeps the status': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w'))
    await fixture.http.mergePatch(`${path}/w/status`, { status: { phase: 'Done' } })
    const patched = await fixture.http.mergePatch(`${path}/w`, {
      spec: { size: 5 },
      status: { phase: 'Other' },
    })
    assert.equal(patched.at('status.phase'), 'Done')
    assert.equal(patched.at('metadata.generation'), 2)
  },
  'without the status subresource, the status is an ordinary field': async fixture => {
    const path = await defineWidgets(fixture, { subresources: undefined })
    const made = await fixture.http.post(
      path,
      widget(fixture, 'w', { size: 1 }, { status: { phase: 'Done' } }),
    )
    assert.equal(made.at('status.phase'), 'Done')
    assert.equal(
      (await fixture.http.mergePatch(`${path}/w`, { status: { phase: 'Other' } })).at('metadata.generation'),
      2,
    )
    assert.equal((await fixture.http.get(`${path}/w/status`)).status, 404)
  },
  'an update requires a resourceVersion': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w'))
    const rejected = await fixture.http.put(`${path}/w`, widget(fixture, 'w', { size: 3 }))
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      `widgets.${fixture.id}.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    )
  },
  'rejects strategic merge patches of custom objects': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w'))
    const rejected = await fixture.http.strategicPatch(`${path}/w`, { spec: { size: 3 } })
    assert.equal(rejected.status, 415)
    assert.equal(
      rejected.at('message'),
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
  },
  'all versions of a kind return the same objects': async fixture => {
    const path = await defineWidgets(fixture, {}, {})
    const definition = (
      await fixture.http.get(`${definitionsPath}/widgets.${fixture.id}.example.com`)
    ).object()
    const [version] = at(definition, 'spec.versions') as object[]
    const second = { ...version, name: 'v2', storage: false }
    await fixture.http.put(`${definitionsPath}/widgets.${fixture.id}.example.com`, {
      ...definition,
      spec: { ...(definition.spec as object), versions: [version, second] },
    })
    const other = path.replace('/v1/', '/v2/')
    await fixture.eventually(
      () => fixture.http.get(other),
      response => response.status === 200,
    )
    assert.equal((await fixture.http.post(path, widget(fixture, 'w'))).status, 201)
    const read = await fixture.eventually(
      () => fixture.http.get(`${other}/w`),
      response => response.status === 200,
    )
    assert.equal(read.at('apiVersion'), `${fixture.id}.example.com/v2`)
    assert.equal(read.at('spec.size'), 2)
  },
  'tables have the printer columns': async fixture => {
    const path = await defineWidgets(fixture, {
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 },
      ],
    })
    await fixture.http.post(path, widget(fixture, 'w'))
    const table = await fixture.http.get(path, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    assert.deepEqual(
      (table.at('columnDefinitions') as { name: string; type: string; priority: number }[]).map(
        ({ name, type, priority }) => [name, type, priority],
      ),
      [
        ['Name', 'string', 0],
        ['Size', 'integer', 0],
        ['Phase', 'string', 1],
      ],
    )
    assert.deepEqual(table.at('rows.0.cells'), ['w', 2, null])
  },
  'without printer columns, tables have an age': async fixture => {
    const path = await defineWidgets(fixture)
    const table = await fixture.http.get(path, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    assert.deepEqual(
      (table.at('columnDefinitions') as { name: string; type: string }[]).map(({ name, type }) => [
        name,
        type,
      ]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    )
  },
  'discovery lists a served kind': async fixture => {
    await defineWidgets(fixture)
    const list = await fixture.http.get(`/apis/${fixture.id}.example.com/v1`)
    assert.deepEqual((list.at('resources') as { name: string }[]).map(({ name }) => name).sort(), [
      'widgets',
      'widgets/scale',
      'widgets/status',
    ])
  },
  'the deletion of a definition deletes its objects': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w'))
    const name = `widgets.${fixture.id}.example.com`
    const deleted = await fixture.http.delete(`${definitionsPath}/${name}`)
    assert.equal(deleted.status, 200)
    await fixture.eventually(
      () => fixture.http.get(`${definitionsPath}/${name}`),
      response => response.status === 404,
    )
    await fixture.eventually(
      () => fixture.http.get(path),
      response => response.status === 404,
    )
  },
  'cluster-scoped kinds have no namespace': async fixture => {
    await fixture.http.post(definitionsPath, widgetDefinition(fixture, {}, { scope: 'Cluster' }))
    const path = `/apis/${fixture.id}.example.com/v1/widgets`
    await fixture.eventually(
      () => fixture.http.get(path),
      response => response.status === 200,
    )
    const made = await fixture.http.post(path, widget(fixture, 'w'))
    assert.equal(made.status, 201)
    assert.equal(made.at('metadata.namespace'), undefined)
  },
  'selects custom objects by their selectable fields': async fixture => {
    const path = await defineWidgets(fixture, { selectableFields: [{ jsonPath: '.spec.color' }] })
    await fixture.http.post(path, widget(fixture, 'a', { color: 'blue' }))
    await fixture.http.post(path, widget(fixture, 'b', {}))
    assert.deepEqual((await fixture.http.get(path, { query: { fieldSelector: 'spec.color=blue' } })).names, [
      'a',
    ])
  },
})
