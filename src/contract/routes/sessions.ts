import { z } from 'zod'
import { page } from '../http.ts'
import { Session, SessionDetail, SessionState } from '../session.ts'
import { PageQuery, SessionPath } from './parameters.ts'
import { type FeatureRoutes, json } from './route.ts'

export const sessionRoutes = {
  listSessions: {
    tag: 'sessions',
    summary: 'Lists sessions, newest first',
    query: PageQuery.extend({
      status: SessionState.optional(),
      agent: z.string().max(64).optional(),
      workDir: z.string().max(4096).optional().describe('Only sessions of this directory (its real path).'),
    }),
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
