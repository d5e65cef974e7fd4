/**
 * The simulator: a model server that plays scenarios to real agent CLIs.
 * Point Claude Code at it with `ANTHROPIC_BASE_URL` and any `ANTHROPIC_API_KEY`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiError } from './api-error.ts'
import { answerControl } from './control-routes.ts'
import { defaultScenario } from './default-scenario.ts'
import { newId } from './ids.ts'
import { answerMessages } from './messages-route.ts'
import type { RequestFilter } from './recorder.ts'
import { sendError, sendJson } from './reply-writer.ts'
import type { RequestRecord } from './request-record.ts'
import { defineScenario, parseScenario } from './scenario.ts'
import type { Scenario, ScenarioInput } from './scenario-types.ts'
import { SimulatorState } from './state.ts'

export interface SimulatorOptions {
  /** A validated scenario, a scenario object, or YAML text. By default the built-in scenario. */
  scenario?: Scenario | ScenarioInput | string
  host?: string
  /** 0 selects a free port. */
  port?: number
  now?: () => number
  /** How many request records are kept. */
  maxRecords?: number
}

export interface WaitOptions {
  timeoutMs?: number
}

export interface Simulator {
  readonly url: string
  readonly port: number
  /** Records of model requests, oldest first. */
  requests(filter?: RequestFilter): RequestRecord[]
  /** The first matching request, past or future; evaluated whenever a record appears or changes. */
  waitFor(predicate: (record: RequestRecord) => boolean, options?: WaitOptions): Promise<RequestRecord>
  /** The request whose reply waits at this hold. */
  waitForHold(name: string, options?: WaitOptions): Promise<RequestRecord>
  /** Releases the replies at this hold; if none waits yet, the next one. Returns how many were waiting. */
  release(name: string): number
  setScenario(scenario: Scenario | ScenarioInput | string): void
  /** Clears everything but the scenario: records, cache, rule counts, holds. */
  reset(): void
  /** Simulates an outage: destroys every connection, and refuses new ones until `comeBack`. */
  goAway(): Promise<void>
  comeBack(): Promise<void>
  /** Stops listening and destroys every connection. */
  close(): Promise<void>
}

/** A request may come late on a busy machine: the limit is only for one that never comes. */
const DEFAULT_WAIT_MS = 120_000
const MAX_BODY_BYTES = 32 * 1024 * 1024

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const state = new SimulatorState(toScenario(options.scenario ?? defaultScenario), {
    now: options.now ?? Date.now,
    maxRecords: options.maxRecords ?? 2000,
  })
  const server = createServer((request, response) => {
    answer(state, request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy()
      else sendError(response, apiError(500, `Simulator: ${String(error)}`), newId('req'))
    })
  })
  // An agent may think for minutes between requests; closing its idle connection would look like a network failure.
  server.keepAliveTimeout = 10 * 60_000
  const host = options.host ?? '127.0.0.1'
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.removeListener('error', reject)
        resolve()
      })
    })
  await listen(options.port ?? 0)
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests: (filter) => state.recorder.list(filter),
    waitFor: (predicate, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      state.recorder.waitFor(predicate, timeoutMs),
    waitForHold: (name, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      state.recorder.waitFor((record) => record.heldAt === name, timeoutMs),
    release: (name) => state.holds.release(name),
    setScenario: (scenario) => state.play(toScenario(scenario)),
    reset: () => state.reset(),
    goAway: stop,
    comeBack: () => comeBack(() => listen(port)),
    close: () => {
      state.recorder.close()
      return stop()
    },
  }
}

const COME_BACK_MS = 60_000

/** Tries again, because an outgoing connection of another process may use the port for a moment. */
async function comeBack(listen: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + COME_BACK_MS
  for (;;) {
    try {
      return await listen()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > deadline) throw error
      await new Promise((next) => setTimeout(next, 50))
    }
  }
}

function toScenario(scenario: Scenario | ScenarioInput | string): Scenario {
  if (typeof scenario === 'string') return parseScenario(scenario)
  return 'contextWindows' in scenario ? scenario : defineScenario(scenario)
}

async function answer(
  state: SimulatorState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? 'GET'
  const url = new URL(request.url ?? '/', 'http://simulator')
  const body = await readBody(request)
  if (body === undefined) {
    return sendError(response, apiError(413, 'Request exceeds the maximum size'), newId('req'))
  }
  if (url.pathname.startsWith('/simulator/')) {
    const control = answerControl(state, method, url, body)
    return sendJson(response, control.status, control.body)
  }
  if (method === 'POST' && url.pathname === '/v1/messages') {
    return answerMessages(state, 'messages', request, body, response)
  }
  if (method === 'POST' && url.pathname === '/v1/messages/count_tokens') {
    return answerMessages(state, 'count', request, body, response)
  }
  const asked = `${method} ${url.pathname}`
  state.otherRequests.set(asked, (state.otherRequests.get(asked) ?? 0) + 1)
  // Claude Code checks by HEAD /api/hello whether the server can be reached.
  if (method === 'HEAD' || url.pathname === '/api/hello') return sendJson(response, 200, { message: 'hello' })
  if (method === 'GET' && url.pathname === '/v1/models') return sendJson(response, 200, MODELS)
  sendError(response, apiError(404, `Not found: ${asked}`), newId('req'))
}

const MODELS = {
  data: ['claude-haiku-5-5', 'claude-sonnet-5-5', 'claude-opus-5-5'].map((id) => ({
    type: 'model',
    id,
    display_name: `${id} (simulated)`,
    created_at: '2026-01-01T00:00:00Z',
  })),
  has_more: false,
  first_id: 'claude-haiku-5-5',
  last_id: 'claude-opus-5-5',
}

/** The body as text, or undefined if it is larger than the real API accepts. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes <= MAX_BODY_BYTES) parts.push(part)
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(parts).toString('utf8')
}
