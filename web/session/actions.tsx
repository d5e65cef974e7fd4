/** The actions on a session: continue, fork, export, move, delete. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SessionDetail } from '../../src/contract/session.ts'
import { client } from '../data/client.ts'
import { useAct } from '../parts/act.ts'
import { Button, Copyable, Dialog, ErrorBox } from '../parts/base.tsx'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { Field } from '../parts/form.tsx'
import { Menu } from '../parts/menu.tsx'
import { MoveDialog } from '../parts/move.tsx'
import { exportSession } from './export.ts'

type Opened = 'continue' | 'move' | 'delete' | null

export function SessionActions({ session }: { session: SessionDetail }) {
  const act = useAct()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Opened>(null)
  const close = () => setOpen(null)
  const { id } = session
  const fork = () =>
    act.run(async () => {
      const fork = await client.forkSession(id)
      await navigate({ to: '/sessions/$id', params: { id: fork.session } })
    })
  return (
    <>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="main" onClick={() => setOpen('continue')}>
        Continue…
      </Button>
      <Button busy={act.busy} onClick={() => void fork()}>
        Fork
      </Button>
      <Button busy={act.busy} onClick={() => void act.run(() => exportSession(id))}>
        Export
      </Button>
      <Menu
        label="Session"
        choices={[
          { word: 'Move to another directory…', onChoose: () => setOpen('move') },
          { word: 'Delete…', danger: true, onChoose: () => setOpen('delete') },
        ]}
      />
      <Dialog title="Continue this session" open={open === 'continue'} onClose={close}>
        <Continue session={session} />
      </Dialog>
      <MoveDialog
        open={open === 'move'}
        onClose={close}
        from={session.workDir}
        plan={async (to) => [(await client.planSessionMove(id, to)).why]}
        move={(to) => client.moveSession(id, to)}
      />
      <ConfirmDialog
        title="Delete this session?"
        open={open === 'delete'}
        onClose={close}
        onConfirm={async () => {
          await client.deleteSession(id)
          await navigate({ to: '/sessions' })
        }}
      >
        The agent’s files of it and the copies of Reprise are deleted. Its runs stay. A conversation or watch
        that used it starts a new session the next time.
      </ConfirmDialog>
    </>
  )
}

/** In a conversation the next message continues it; otherwise a run does. */
function Continue({ session }: { session: SessionDetail }) {
  const act = useAct()
  const navigate = useNavigate()
  const [prompt, setPrompt] = useState('')
  const { id, agent, workDir, conversationId } = session
  const send = () =>
    act.run(async () => {
      if (conversationId) {
        await client.createTurn(conversationId, { text: prompt, agent })
        await navigate({ to: '/conversations/$id', params: { id: conversationId } })
      } else {
        const run = await client.createRun({ prompt, agent, workDir, sessionId: id })
        await navigate({ to: '/runs/$id', params: { id: run.id } })
      }
    })
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field
        name="Prompt"
        note={
          conversationId
            ? 'it becomes the next message of its conversation'
            : 'the agent knows what was said before'
        }
        rows={4}
        value={prompt}
        onChange={setPrompt}
        required
      />
      <p className="text-small text-muted">
        In a terminal: <Copyable text={`reprise run --session ${id} "…"`} shown="reprise run --session …" />
      </p>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="main" type="submit" busy={act.busy} disabled={prompt.trim() === ''} className="self-end">
        Continue
      </Button>
    </form>
  )
}
