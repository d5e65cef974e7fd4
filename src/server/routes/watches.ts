/** Making, looking at, changing, triggering and removing watches. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { WatchEngine } from '../../engine/watches/api.ts'
import { optionalBody } from '../base/optional-body.ts'
import {
  CreateWatch,
  Cycle,
  failure,
  IdempotencyHeaders,
  json,
  PageQuery,
  page,
  Triggered,
  TriggerWatch,
  UpdateWatch,
  Watch,
  WatchPath,
} from '../base/schemas.ts'
import { isNews } from '../base/triggered.ts'
import { withEveryMs } from '../base/watch-request.ts'

const create = createRoute({
  method: 'post',
  path: '/api/watches',
  summary: 'Has something looked at again and again',
  description: 'At an interval (`every`), by `cron`, or without both only when it is triggered.',
  request: { body: { required: true, content: { 'application/json': { schema: CreateWatch } } } },
  responses: { 201: json('It is stored, and begins unless it is paused', Watch), default: failure },
})

const list = createRoute({
  method: 'get',
  path: '/api/watches',
  summary: 'Watches, those of the configuration too',
  responses: { 200: json('All of them', page(Watch)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/watches/{id}',
  summary: 'One watch, by id or name',
  request: { params: WatchPath },
  responses: { 200: json('The watch', Watch), default: failure },
})

const update = createRoute({
  method: 'patch',
  path: '/api/watches/{id}',
  summary: 'Changes a watch; one from the configuration can only be paused and resumed',
  request: {
    params: WatchPath,
    body: { required: true, content: { 'application/json': { schema: UpdateWatch } } },
  },
  responses: { 200: json('The watch', Watch), default: failure },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/watches/{id}',
  summary: 'Removes a watch; what it is doing is cancelled, its cycles stay as records',
  request: { params: WatchPath },
  responses: { 204: { description: 'It is gone' }, default: failure },
})

const trigger = createRoute({
  method: 'post',
  path: '/api/watches/{id}/trigger',
  summary: 'A cycle now; while one is open, as soon as that has ended',
  middleware: [optionalBody] as const,
  request: {
    params: WatchPath,
    headers: IdempotencyHeaders,
    body: { required: false, content: { 'application/json': { schema: TriggerWatch } } },
  },
  responses: {
    202: json('A cycle was made, or one that waits takes this along', Triggered),
    200: json('This Idempotency-Key was seen before: the cycle that it made', Triggered),
    default: failure,
  },
})

const change = (action: 'pause' | 'resume', summary: string) =>
  createRoute({
    method: 'post',
    path: `/api/watches/{id}/${action}`,
    summary,
    request: { params: WatchPath },
    responses: { 200: json('The watch', Watch), default: failure },
  })

const pause = change('pause', 'No further cycle begins by itself; an open one goes on')
const resume = change('resume', 'Cycles begin by themselves again')

const cycles = createRoute({
  method: 'get',
  path: '/api/watches/{id}/cycles',
  summary: 'Cycles of a watch, newest first, with outcome and cost',
  request: { params: WatchPath, query: PageQuery },
  responses: { 200: json('One page', page(Cycle)), default: failure },
})

export function addWatchRoutes(app: OpenAPIHono, engine: WatchEngine): void {
  app.openapi(create, async (c) => {
    const watch = await engine.createWatch(withEveryMs(c.req.valid('json')))
    c.header('Location', `/api/watches/${watch.id}`)
    return c.json(watch, 201)
  })
  app.openapi(list, async (c) => c.json({ items: await engine.listWatches(), nextCursor: null }, 200))
  app.openapi(get, async (c) => c.json(await engine.getWatch(c.req.valid('param').id), 200))
  app.openapi(update, async (c) =>
    c.json(await engine.updateWatch(c.req.valid('param').id, withEveryMs(c.req.valid('json'))), 200),
  )
  app.openapi(remove, async (c) => {
    await engine.removeWatch(c.req.valid('param').id)
    return c.body(null, 204)
  })
  app.openapi(trigger, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const triggered = await engine.triggerWatch(c.req.valid('param').id, c.req.valid('json'), key)
    return isNews(triggered) ? c.json(triggered, 202) : c.json(triggered, 200)
  })
  app.openapi(pause, async (c) =>
    c.json(await engine.updateWatch(c.req.valid('param').id, { paused: true }), 200),
  )
  app.openapi(resume, async (c) =>
    c.json(await engine.updateWatch(c.req.valid('param').id, { paused: false }), 200),
  )
  app.openapi(cycles, async (c) =>
    c.json(await engine.listCycles(c.req.valid('param').id, c.req.valid('query')), 200),
  )
}
