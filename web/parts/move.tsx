/** Moving a session or a conversation to another directory: what it would mean is said before it is done. */
import { useState } from 'react'
import { inert } from '../format/text.ts'
import { useAct } from './act.ts'
import { Button, Dialog, ErrorBox, Middle } from './base.tsx'
import { Field } from './form.tsx'

interface Move {
  from: string
  /** Sentences about the effect of a move to that directory; nothing is changed. */
  plan: (to: string) => Promise<readonly string[]>
  move: (to: string) => Promise<unknown>
}

export function MoveDialog({ open, onClose, ...move }: Move & { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Move to another directory" open={open} onClose={onClose}>
      <MoveForm {...move} onClose={onClose} />
    </Dialog>
  )
}

function MoveForm({ from, plan, move, onClose }: Move & { onClose: () => void }) {
  const act = useAct()
  const [to, setTo] = useState(from)
  const [planned, setPlanned] = useState<{ to: string; effects: readonly string[] } | null>(null)
  const isPlanned = planned !== null && planned.to === to
  const submit = async () => {
    if (!isPlanned) {
      await act.run(async () => setPlanned({ to, effects: await plan(to) }))
    } else if (await act.run(() => move(to))) onClose()
  }
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <p className="text-muted">
        now in <Middle text={from} max={60} mono />
      </p>
      <Field name="Directory" value={to} onChange={setTo} mono required />
      {isPlanned && (
        <ul role="status" className="list-disc pl-5">
          {planned.effects.length === 0 && <li>There is no session to move with it.</li>}
          {planned.effects.map((effect) => (
            <li key={effect}>{inert(effect)}</li>
          ))}
        </ul>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind="main" type="submit" busy={act.busy} disabled={to.trim() === '' || to === from}>
          {isPlanned ? 'Move now' : 'What would happen?'}
        </Button>
      </div>
    </form>
  )
}
