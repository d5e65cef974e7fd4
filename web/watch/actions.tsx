/** The actions on a watch. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Watch } from '../../src/contract/watch.ts'
import { client } from '../data/client.ts'
import { useAct } from '../parts/act.ts'
import { Button, Dialog, ErrorBox } from '../parts/base.tsx'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { WatchForm } from './form.tsx'

/** `whole`: also those that are on the page of the watch only. */
export function WatchActions({ watch, whole = false }: { watch: Watch; whole?: boolean }) {
  const act = useAct()
  const navigate = useNavigate()
  const trigger = () =>
    act.run(async () => {
      const { cycleId } = await client.triggerWatch(watch.id)
      if (cycleId) await navigate({ to: '/cycles/$id', params: { id: cycleId } })
    })
  return (
    <span className="relative z-10 flex items-center gap-2 max-md:ml-auto">
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button busy={act.busy} onClick={() => void trigger()}>
        Trigger
      </Button>
      {watch.state === 'active' ? (
        <Button busy={act.busy} onClick={() => void act.run(() => client.pauseWatch(watch.id))}>
          Pause
        </Button>
      ) : (
        <Button kind="main" busy={act.busy} onClick={() => void act.run(() => client.resumeWatch(watch.id))}>
          Resume
        </Button>
      )}
      {whole && <FurtherActions watch={watch} />}
    </span>
  )
}

/** A watch of the configuration is changed there. */
function FurtherActions({ watch }: { watch: Watch }) {
  const navigate = useNavigate()
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null)
  const close = () => setOpen(null)
  if (watch.source === 'config') return null
  return (
    <>
      <Button onClick={() => setOpen('edit')}>Edit…</Button>
      <Button kind="danger" onClick={() => setOpen('remove')}>
        Remove…
      </Button>
      <Dialog title={`Watch ${watch.name}`} open={open === 'edit'} onClose={close}>
        <WatchForm watch={watch} onDone={close} />
      </Dialog>
      <ConfirmDialog
        title={`Remove watch ${watch.name}?`}
        word="Remove"
        open={open === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await client.removeWatch(watch.id)
          await navigate({ to: '/watches' })
        }}
      >
        Its open cycle is cancelled. Its cycles stay as records.
      </ConfirmDialog>
    </>
  )
}
