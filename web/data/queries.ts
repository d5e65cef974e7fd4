/** The queries of the page. The first part of a key says what is shown; live.ts invalidates by it. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Job, JobFilters } from '../../src/contract/job.ts'
import type { SessionFilters } from '../../src/contract/session.ts'
import { noteDaemonTime, startOfToday } from '../format/time.ts'
import { client } from './client.ts'

/** Lists are asked for page by page. */
const PAGES = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor ?? undefined,
}

/** The change feed does not tell of everything here: it is asked again when it is opened, and when its window is. */
const WHEN_LOOKED_AT = { staleTime: 0, refetchOnWindowFocus: true }

/** Empty filters are not sent. */
const asked = <Filters extends object>(filters: Filters) =>
  Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== '' && value !== undefined),
  ) as Filters

export const overviewQuery = () =>
  queryOptions({
    queryKey: ['overview'],
    queryFn: async () => {
      const overview = await client.overview({ since: startOfToday() })
      noteDaemonTime(overview.at)
      return overview
    },
    // The present activity of agents is not a change, so it is requested while any agent is at work.
    refetchInterval: ({ state }) => ((state.data?.atWork.length ?? 0) > 0 ? 3000 : false),
  })

export const statusQuery = () => queryOptions({ queryKey: ['status'], queryFn: () => client.status() })
export const agentsQuery = () =>
  queryOptions({ queryKey: ['agents'], queryFn: () => client.listAgents(), staleTime: 60_000 })
export const configurationQuery = () =>
  queryOptions({ queryKey: ['configuration'], queryFn: () => client.configuration() })
export const tokensQuery = () =>
  queryOptions({ queryKey: ['tokens'], queryFn: () => client.listTokens(), ...WHEN_LOOKED_AT })
export const trustQuery = () =>
  queryOptions({ queryKey: ['trust'], queryFn: () => client.listTrust(), ...WHEN_LOOKED_AT })
export const auditQuery = (subject?: string) =>
  queryOptions({
    queryKey: ['audit', subject ?? ''],
    queryFn: async () => (await client.listAudit({ subject, limit: 50 })).items,
    ...WHEN_LOOKED_AT,
  })

export const runQuery = (id: string) =>
  queryOptions({ queryKey: ['run', id], queryFn: () => client.getRun(id) })

export const conversationsQuery = (q = '') =>
  infiniteQueryOptions({
    queryKey: ['conversations', q],
    queryFn: ({ pageParam }) =>
      client.listConversations({ cursor: pageParam, limit: 50, sort: 'activity', ...asked({ q }) }),
    ...PAGES,
    placeholderData: keepPreviousData,
  })
export const conversationQuery = (id: string) =>
  queryOptions({ queryKey: ['conversation', id], queryFn: () => client.getConversation(id) })
export const runsOfConversationQuery = (conversationId: string) =>
  queryOptions({
    queryKey: ['runs', 'conversation', conversationId],
    queryFn: async () => (await client.listRuns({ conversationId, limit: 200 })).items,
  })
export const planQuery = (id: string, agent: string, forceFreshSession: boolean) =>
  queryOptions({
    queryKey: ['plan', id, agent, forceFreshSession],
    queryFn: () => client.planTurn(id, { agent, forceFreshSession }),
    placeholderData: keepPreviousData,
  })

export const jobsQuery = (filters: JobFilters = {}) =>
  infiniteQueryOptions({
    queryKey: ['jobs', filters],
    queryFn: ({ pageParam }) => client.listJobs({ cursor: pageParam, limit: 100, ...asked(filters) }),
    ...PAGES,
    placeholderData: keepPreviousData,
  })
/** All jobs that fit, whatever page they are on. */
export async function listAllJobs(filters: JobFilters): Promise<Job[]> {
  const jobs: Job[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.listJobs({ ...asked(filters), cursor, limit: 200 })
    jobs.push(...page.items)
    if (page.nextCursor === null) return jobs
    cursor = page.nextCursor
  }
}
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: () => client.getJob(id),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 3000 : false),
  })
export const diffQuery = (id: string, from: number | undefined, to: number | undefined) =>
  queryOptions({ queryKey: ['diff', id, from, to], queryFn: () => client.diffJob(id, { from, to }) })

export const watchesQuery = () => queryOptions({ queryKey: ['watches'], queryFn: () => client.listWatches() })
export const watchQuery = (id: string) =>
  queryOptions({ queryKey: ['watch', id], queryFn: () => client.getWatch(id) })
export const cyclesQuery = (watch: string, limit: number) =>
  queryOptions({
    queryKey: ['cycles', watch, limit],
    queryFn: async () => (await client.listCycles(watch, { limit })).items,
  })
export const cycleQuery = (id: string) =>
  queryOptions({ queryKey: ['cycle', id], queryFn: () => client.getCycle(id) })

export const sessionsQuery = (filters: SessionFilters = {}) =>
  infiniteQueryOptions({
    queryKey: ['sessions', filters],
    queryFn: ({ pageParam }) =>
      client.listSessions({ cursor: pageParam, limit: 100, sort: 'activity', ...asked(filters) }),
    ...PAGES,
    placeholderData: keepPreviousData,
  })
export const sessionQuery = (id: string) =>
  queryOptions({ queryKey: ['session', id], queryFn: () => client.getSession(id) })
export const runsOfSessionQuery = (session: string | undefined) =>
  queryOptions({
    queryKey: ['runs', 'session', session],
    queryFn: async () => (await client.listRuns({ session, limit: 200 })).items,
    enabled: session !== undefined,
  })
export const costsQuery = (since: string) =>
  queryOptions({
    queryKey: ['costs', since],
    queryFn: () => client.listCosts({ since }),
    placeholderData: keepPreviousData,
  })
