/** The simulator's own routes under `/simulator/`: list the requests, set the scenario, release held replies. */
import type { RequestFilter } from './recorder.ts'
import { parseScenario, ScenarioError } from './scenario.ts'
import { REQUEST_KINDS } from './scenario-types.ts'
import type { SimulatorState } from './state.ts'

export interface ControlAnswer {
  status: number
  body: object
}

export function answerControl(state: SimulatorState, method: string, url: URL, body: string): ControlAnswer {
  const [, , route = '', argument] = url.pathname.split('/')
  switch (`${method} ${route}`) {
    case 'GET requests': {
      const filter = filterOf(url.searchParams)
      if (typeof filter === 'string') return refusal(400, 'filter-invalid', filter)
      return { status: 200, body: { requests: state.recorder.list(filter) } }
    }
    case 'GET state':
      return { status: 200, body: describeState(state) }
    case 'PUT scenario':
      try {
        state.play(parseScenario(body, url.searchParams.get('file') ?? 'scenario.yaml'))
      } catch (error) {
        if (error instanceof ScenarioError) return refusal(400, error.code, error.message, error.problems)
        throw error
      }
      return { status: 200, body: describeState(state) }
    case 'POST release':
      if (!argument) return refusal(400, 'hold-missing', 'expected POST /simulator/release/NAME')
      return { status: 200, body: { released: state.holds.release(decodeURIComponent(argument)) } }
    case 'POST reset':
      state.reset()
      return { status: 200, body: describeState(state) }
    default:
      return refusal(404, 'route-unknown', `no ${method} ${url.pathname}; there are ${ROUTES.join(', ')}`)
  }
}

const ROUTES = [
  'GET /simulator/requests',
  'GET /simulator/state',
  'PUT /simulator/scenario',
  'POST /simulator/release/NAME',
  'POST /simulator/reset',
]

function refusal(status: number, code: string, message: string, details?: unknown): ControlAnswer {
  return { status, body: { error: { code, message, details } } }
}

function describeState(state: SimulatorState): object {
  return {
    scenario: state.scenario.name,
    rules: state.scenario.rules.map((rule) => ({
      name: rule.name,
      fired: state.fired.get(rule) ?? 0,
      times: Number.isFinite(rule.times) ? rule.times : null,
    })),
    requests: state.recorder.list().length,
    holds: state.holds.waiting(),
    cacheEntries: state.cache.size,
    otherRequests: Object.fromEntries(state.otherRequests),
  }
}

const FILTERS = ['contains', 'model', 'session', 'kind', 'since']

function filterOf(query: URLSearchParams): RequestFilter | string {
  const unknown = [...query.keys()].find((key) => !FILTERS.includes(key))
  if (unknown !== undefined) return `unknown filter "${unknown}": expected ${FILTERS.join(', ')}`
  const filter: RequestFilter = {}
  const [contains, model, session, kind, since] = FILTERS.map((key) => query.get(key) ?? undefined)
  if (contains !== undefined) filter.contains = contains
  if (model !== undefined) filter.model = model
  if (session !== undefined) filter.sessionId = session
  if (kind !== undefined) {
    const known = [...REQUEST_KINDS, 'count' as const].find((each) => each === kind)
    if (!known) return `unknown kind "${kind}": expected ${REQUEST_KINDS.join(', ')} or count`
    filter.kind = known
  }
  if (since !== undefined) {
    filter.since = /^\d+$/.test(since) ? Number(since) : new Date(since)
    if (filter.since instanceof Date && Number.isNaN(filter.since.getTime())) {
      return `since: expected a request number or an ISO 8601 time, found "${since}"`
    }
  }
  return filter
}
