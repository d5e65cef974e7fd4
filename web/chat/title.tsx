/** The title of a conversation, and what one can do with it as a whole. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConversationDetail } from '../../src/contract/conversation.ts'
import { client } from '../data/client.ts'
import { shorten } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import { Button, Dialog, ErrorBox, Middle } from '../parts/base.tsx'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { Field } from '../parts/form.tsx'
import { Menu } from '../parts/menu.tsx'
import { MoveDialog } from '../parts/move.tsx'
import { exportSession } from '../session/export.ts'

type Opened = 'settings' | 'move' | 'delete' | null

export function Title({ conversation }: { conversation: ConversationDetail }) {
  const act = useAct()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Opened>(null)
  const close = () => setOpen(null)
  const { id, workDir, agents } = conversation
  const fork = () =>
    act.run(async () => {
      const fork = await client.forkConversation(id)
      await navigate({ to: '/conversations/$id', params: { id: fork.id } })
    })
  return (
    <div className="flex items-center gap-3 border-b border-line px-4 py-2">
      <h1 className="min-w-0 truncate font-semibold">
        {shorten(conversation.title, 90) || 'New conversation'}
      </h1>
      <span className="truncate text-muted max-sm:hidden">
        <Middle text={workDir} max={46} mono />
      </span>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Menu
        label="Conversation"
        className="ml-auto"
        choices={[
          { word: 'Settings…', onChoose: () => setOpen('settings') },
          { word: 'Fork', onChoose: () => void fork() },
          { word: 'Move to another directory…', onChoose: () => setOpen('move') },
          ...agents.flatMap(({ agent, session }) =>
            session
              ? [
                  {
                    word: `Export the session of ${agent}`,
                    onChoose: () => void act.run(() => exportSession(session)),
                  },
                ]
              : [],
          ),
          { word: 'Delete…', danger: true, onChoose: () => setOpen('delete') },
        ]}
      />
      <Dialog title="Conversation" open={open === 'settings'} onClose={close}>
        <Settings conversation={conversation} onClose={close} />
      </Dialog>
      <MoveDialog
        open={open === 'move'}
        onClose={close}
        from={workDir}
        plan={async (to) =>
          (await client.planMove(id, to)).sessions.map(({ agent, why }) => `${agent}: ${why}`)
        }
        move={(to) => client.updateConversation(id, { workDir: to })}
      />
      <ConfirmDialog
        title="Delete this conversation?"
        open={open === 'delete'}
        onClose={close}
        onConfirm={async () => {
          await client.deleteConversation(id)
          await navigate({ to: '/conversations' })
        }}
      >
        Its messages are deleted, and the sessions that only it used. What runs for it is cancelled. Totals of
        costs stay.
      </ConfirmDialog>
    </div>
  )
}

function Settings({ conversation, onClose }: { conversation: ConversationDetail; onClose: () => void }) {
  const act = useAct()
  const [title, setTitle] = useState(conversation.title)
  const [instructions, setInstructions] = useState(conversation.instructions ?? '')
  const save = async () => {
    const done = await act.run(() =>
      client.updateConversation(conversation.id, {
        ...(title.trim() ? { title: title.trim() } : {}),
        instructions: instructions.trim() === '' ? null : instructions,
      }),
    )
    if (done) onClose()
  }
  return (
    <div className="flex flex-col gap-3">
      <Field name="Title" value={title} maxLength={200} onChange={setTitle} />
      <Field
        name="Instructions"
        note="every agent of this conversation gets them"
        rows={6}
        value={instructions}
        onChange={setInstructions}
      />
      {act.error !== null && <ErrorBox error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind="main" busy={act.busy} onClick={() => void save()}>
          Save
        </Button>
      </div>
    </div>
  )
}
