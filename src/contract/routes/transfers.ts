/** Exporting, importing, forking and moving sessions. */
import { z } from 'zod'
import { WorkDir } from '../create-run.ts'
import {
  ExportSession,
  ForkedSession,
  ForkSession,
  ImportedSession,
  MoveSession,
  SessionMove,
} from '../session-transfer.ts'
import { SessionPath, YesOrNo } from './parameters.ts'
import { bytes, type FeatureRoutes, json } from './route.ts'

const ImportQuery = z.strictObject({
  workDir: WorkDir.optional().describe(
    'The directory in which the session continues. By default that of the export, if it exists here.',
  ),
  agent: z
    .string()
    .max(64)
    .optional()
    .describe('By default the agent of the same name, or one of the same kind.'),
  asCopy: YesOrNo.optional().describe(
    '`true`: give the session a new id, so that it can be imported beside itself.',
  ),
})

export const transferRoutes = {
  exportSession: {
    tag: 'sessions',
    summary: 'Exports a session as one file',
    description:
      'The file has the transcript and the other files of the session, what Reprise knows of it, the messages of its conversation, and checksums. A session in use is exported up to its last complete record.',
    params: SessionPath,
    body: ExportSession,
    bodyOptional: true,
    responses: { 200: bytes('The file', 'application/gzip') },
    errors: ['not-found', 'session-unusable', 'agent-unknown'],
  },
  importSession: {
    tag: 'sessions',
    summary: 'Imports an exported session',
    description:
      'The body is the file. It is verified as a whole before anything is placed where the agent looks for its sessions; a file that is damaged, incomplete or of a newer format leaves nothing behind.',
    query: ImportQuery,
    bodyBytes: 'application/gzip',
    responses: { 201: json('The session, which can be continued', ImportedSession) },
    errors: [
      'bad-request',
      'conflict',
      'session-unusable',
      'agent-unknown',
      'agent-unavailable',
      'work-dir-unusable',
      'payload-too-large',
      'home-unusable',
    ],
  },
  forkSession: {
    tag: 'sessions',
    summary: 'Forks a session at its end or at an earlier message',
    description:
      'The fork is a session of its own with the same past. Both continue independently. What the past has cost stays with the original.',
    params: SessionPath,
    body: ForkSession,
    bodyOptional: true,
    responses: { 201: json('The fork', ForkedSession) },
    errors: ['not-found', 'conflict', 'session-unusable', 'agent-unknown'],
  },
  planSessionMove: {
    tag: 'sessions',
    summary: 'Describes what moving a session to another work directory would mean',
    params: SessionPath,
    query: z.strictObject({ workDir: WorkDir }),
    responses: { 200: json('What would happen', SessionMove) },
    errors: ['not-found', 'work-dir-unusable'],
  },
  moveSession: {
    tag: 'sessions',
    summary: 'Moves a session to another work directory, with the conversation or job that continues in it',
    params: SessionPath,
    body: MoveSession,
    responses: { 200: json('What happened', SessionMove) },
    errors: ['not-found', 'conflict', 'work-dir-unusable', 'agent-unknown'],
  },
} satisfies FeatureRoutes
