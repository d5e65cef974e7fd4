import { z } from 'zod'
import { Cycle, CycleDetail } from '../cycle.ts'
import { page } from '../http.ts'
import { CreateWatch, Triggered, TriggerWatch, UpdateWatch, Watch } from '../watch.ts'
import { CyclePath, HookPath, IdempotencyHeaders, PageQuery, WatchPath } from './parameters.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

export const watchRoutes = {
  createWatch: {
    tag: 'watches',
    summary: 'Creates a watch: a check that is repeated',
    description:
      'It is repeated at an interval (`every`) or by `cron`; without both it starts only when it is triggered.',
    body: CreateWatch,
    responses: { 201: json('The watch; it starts unless it is paused', Watch) },
    errors: ['conflict', 'agent-unknown', 'work-dir-unusable'],
  },
  listWatches: {
    tag: 'watches',
    summary: 'Lists watches, including those of the configuration',
    responses: { 200: json('All watches', page(Watch)) },
  },
  getWatch: {
    tag: 'watches',
    summary: 'Returns one watch, by id or name',
    params: WatchPath,
    responses: { 200: json('The watch', Watch) },
    errors: ['not-found'],
  },
  updateWatch: {
    tag: 'watches',
    summary: 'Changes a watch; one from the configuration can only be paused and resumed',
    params: WatchPath,
    body: UpdateWatch,
    responses: { 200: json('The watch', Watch) },
    errors: ['not-found', 'conflict', 'agent-unknown', 'work-dir-unusable'],
  },
  removeWatch: {
    tag: 'watches',
    summary: 'Removes a watch; its open cycle is cancelled, its cycles stay as records',
    params: WatchPath,
    responses: { 204: empty('The watch is removed') },
    errors: ['not-found', 'conflict'],
  },
  triggerWatch: {
    tag: 'watches',
    summary: 'Starts a cycle now, or as soon as the open one has ended',
    params: WatchPath,
    headers: IdempotencyHeaders,
    body: TriggerWatch,
    bodyOptional: true,
    bodyLimit: 'event',
    responses: {
      202: json('A cycle was created, or the event was added to a queued one', Triggered),
      200: json('This Idempotency-Key was used before: the cycle that it created', Triggered),
    },
    errors: ['not-found', 'conflict', 'rate-limited'],
  },
  pauseWatch: {
    tag: 'watches',
    summary: 'Pauses a watch: no further cycle starts by itself; an open one continues',
    params: WatchPath,
    responses: { 200: json('The watch', Watch) },
    errors: ['not-found'],
  },
  resumeWatch: {
    tag: 'watches',
    summary: 'Resumes a paused watch: cycles start by themselves again',
    params: WatchPath,
    responses: { 200: json('The watch', Watch) },
    errors: ['not-found'],
  },
  listCycles: {
    tag: 'watches',
    summary: 'Lists the cycles of a watch, newest first, with outcome and cost',
    params: WatchPath,
    query: PageQuery,
    responses: { 200: json('One page', page(Cycle)) },
    errors: ['not-found'],
  },
  receiveEvents: {
    tag: 'watches',
    summary: 'Receives an event of another system for a watch',
    description:
      "Accepts the payloads of Prometheus Alertmanager and any other JSON. An event that is sent repeatedly starts one cycle. The sender authenticates with the daemon's token, or with the watch's own secret: as a bearer token, as the password of basic authentication, or in X-Hub-Signature-256 as a signature of the body.",
    auth: 'hook',
    params: HookPath,
    body: z.unknown().describe("Alertmanager's payload, or any JSON"),
    bodyUnparsed: true,
    bodyLimit: 'event',
    responses: {
      202: json('A cycle was created, or the event was added to a queued one', Triggered),
      200: json('The event is known already, or it is resolved', Triggered),
    },
    errors: ['not-found', 'rate-limited'],
  },
  getCycle: {
    tag: 'watches',
    summary: 'Returns one cycle with its events, chain and follow-ups',
    params: CyclePath,
    responses: { 200: json('The cycle', CycleDetail) },
    errors: ['not-found'],
  },
  cancelCycle: {
    tag: 'watches',
    summary: 'Cancels a cycle: its runs are stopped, its follow-ups cancelled',
    params: CyclePath,
    responses: { 202: json('The request is stored; the cycle ends soon', Cycle) },
    errors: ['not-found', 'conflict'],
  },
} satisfies FeatureRoutes
