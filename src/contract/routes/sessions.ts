import { page } from '../http.ts'
import { Session, SessionDetail } from '../session.ts'
import { PageQuery, SessionPath } from './parameters.ts'
import { type FeatureRoutes, json } from './route.ts'

export const sessionRoutes = {
  listSessions: {
    tag: 'sessions',
    summary: 'Lists sessions, most recently used first',
    query: PageQuery,
    responses: { 200: json('One page', page(Session)) },
  },
  getSession: {
    tag: 'sessions',
    summary: "Returns one session, by Reprise's id or the agent's own",
    params: SessionPath,
    responses: { 200: json('The session', SessionDetail) },
    errors: ['not-found'],
  },
} satisfies FeatureRoutes
