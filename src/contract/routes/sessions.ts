import { page } from '../http.ts'
import { Session, SessionDetail } from '../session.ts'
import { PageQuery, SessionPath } from './parameters.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

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
  deleteSession: {
    tag: 'sessions',
    summary: "Deletes a session, the agent's files of it, and Reprise's copies of them",
    description: 'Its runs stay. A conversation or watch that used it starts a new session the next time.',
    params: SessionPath,
    responses: { 204: empty('The session is deleted') },
    errors: ['not-found', 'conflict'],
  },
} satisfies FeatureRoutes
