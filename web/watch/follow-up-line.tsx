/** One follow-up: its state, who planned it, and when it is or was due. */
import { Link } from '@tanstack/react-router'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { client } from '../data/client.ts'
import { shorten } from '../format/text.ts'
import { formatClockSeconds } from '../format/time.ts'
import { useAct } from '../parts/act.ts'
import { Button, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'

export function FollowUpLine({ followUp }: { followUp: FollowUp }) {
  const act = useAct()
  const standing = { planned: 'wait', fired: 'done', missed: 'fail', cancelled: 'off' } as const
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-2 text-small">
      <StateWord standing={standing[followUp.state]}>follow-up {followUp.state}</StateWord>
      <span className="min-w-0">“{shorten(followUp.reason ?? followUp.prompt, 90)}”</span>
      <span className="text-muted">
        by {followUp.createdBy === 'agent' ? 'the agent' : 'a person'},{' '}
        {followUp.state === 'planned' ? '' : 'due '}
        <Ago at={followUp.dueAt} />
        {followUp.firedAt && <span> · fired {formatClockSeconds(followUp.firedAt)}</span>}
        {followUp.message && <span> · {shorten(followUp.message, 100)}</span>}
      </span>
      {followUp.firedRunId && (
        <Link to="/runs/$id" params={{ id: followUp.firedRunId }} className="text-accent hover:underline">
          run
        </Link>
      )}
      {followUp.state === 'planned' && (
        <Button
          kind="bare"
          busy={act.busy}
          onClick={() => void act.run(() => client.cancelFollowUp(followUp.id))}
        >
          Cancel
        </Button>
      )}
    </p>
  )
}
