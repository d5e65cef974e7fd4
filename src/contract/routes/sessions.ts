import { z } from 'zod'
import { AdoptSessions, FoundSession } from '../adopt.ts'
import { ListSort, page, SearchText } from '../http.ts'
import { Session, SessionDetail, SessionState } from '../session.ts'
import { PageQuery, SessionPath } from './parameters.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

export const sessionRoutes = {
  listSessions: {
    tag: 'sessions',
    summary: 'Lists sessions, newest first',
    query: PageQuery.extend({
      status: SessionState.optional(),
      agent: z.string().max(64).optional(),
      workDir: z.string().max(4096).optional().describe('Only sessions of this directory (its real path).'),
      q: SearchText.optional().describe('Only sessions with these words in their directory, agent or ids.'),
      sort: ListSort.optional(),
    }),
    responses: { 200: json('One page', page(Session)) },
  },
  listAdoptable: {
    tag: 'sessions',
    summary: "Lists the sessions in the agent's own files, most recently written first",
    description:
      'Sessions that people made with the agent itself, and whether Reprise can take them over. Only the beginning and the end of each file are read.',
    query: PageQuery.extend({
      agent: z.string().max(64).optional().describe('Default: the default agent.'),
      workDir: z.string().max(4096).optional().describe('Only sessions of this directory.'),
    }),
    responses: { 200: json('One page', page(FoundSession)) },
    errors: ['agent-unknown'],
  },
  adoptSessions: {
    tag: 'sessions',
    summary: 'Takes over sessions that were made without Reprise, each as a conversation',
    description:
      "The history is imported, and the next turn of the conversation resumes the session. Sessions that are open in a process, known already or damaged are left alone; the report says so. The agent's files are not changed. Repeating the request does nothing twice.",
    body: AdoptSessions,
    responses: {
      200: json('A report on each chosen session', z.object({ items: z.array(FoundSession) })),
    },
    errors: ['agent-unknown', 'agent-unavailable'],
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
