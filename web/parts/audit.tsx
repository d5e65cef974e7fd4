/** Who did what to this: answers, approvals, changes. */
import { useQuery } from '@tanstack/react-query'
import type { AuditEntry } from '../../src/contract/access.ts'
import { auditQuery } from '../data/queries.ts'
import { inert } from '../format/text.ts'
import { Ago } from './clock.tsx'

const WORDS: Readonly<Record<string, string>> = {
  answerRun: 'answered',
  decideApproval: 'decided',
  cancelRun: 'cancelled',
  continueRun: 'continued',
  cancelJob: 'cancelled',
  retryJob: 'retried',
  updateJob: 'changed',
  restoreCheckpoint: 'restored a checkpoint',
  rewindJob: 'rewound to a checkpoint',
  forkConversation: 'forked',
  forkSession: 'forked',
  exportSession: 'exported',
  importSession: 'imported',
  moveSession: 'moved',
  deleteSession: 'deleted',
  adoptSessions: 'adopted sessions',
  prune: 'deleted what was old',
  receiveEvents: 'sent an event',
  say: 'said something',
  createTurn: 'sent a message',
  editMessage: 'edited a message',
  truncateConversation: 'removed messages',
  retryTurn: 'asked again',
  updateConversation: 'changed',
  createJob: 'created',
  createRun: 'created',
  createConversation: 'created',
  cancelCycle: 'cancelled',
  triggerWatch: 'triggered',
  pauseWatch: 'paused',
  resumeWatch: 'resumed',
  updateWatch: 'changed',
  createWatch: 'created',
  removeWatch: 'removed',
  deleteConversation: 'deleted',
  createSignInLink: 'made a sign-in link',
  signIn: 'signed in',
  signOut: 'signed out',
  createToken: 'created a token',
  revokeToken: 'revoked a token',
  rotateToken: 'replaced a token',
  shutDown: 'stopped the daemon',
  cancelFollowUp: 'cancelled a follow-up',
  createFollowUp: 'planned a follow-up',
}

export const wordOf = ({ operation }: Pick<AuditEntry, 'operation'>) => WORDS[operation] ?? operation

export function Audit({ subject }: { subject: string }) {
  const { data = [] } = useQuery(auditQuery(subject))
  if (data.length === 0) return null
  return (
    <div className="mt-4">
      <h2 className="mb-1 text-label font-semibold tracking-wider text-muted uppercase">Who did what</h2>
      <ul className="text-small text-muted">
        {data.map((entry) => (
          <li key={entry.id} className="py-0.5">
            <span className="text-text">{inert(entry.who)}</span> {wordOf(entry)}
            {entry.summary && <span className="text-text"> “{inert(entry.summary)}”</span>}{' '}
            <Ago at={entry.at} />
            {entry.from && <span> from {entry.from}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
