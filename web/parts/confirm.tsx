/** Asks before something is deleted for good. */
import type { ReactNode } from 'react'
import { useAct } from './act.ts'
import { Button, Dialog, ErrorBox } from './base.tsx'

export function ConfirmDialog({
  title,
  word = 'Delete',
  open,
  onClose,
  onConfirm,
  children,
}: {
  title: string
  /** The word on the button. */
  word?: string
  open: boolean
  onClose: () => void
  onConfirm: () => Promise<unknown>
  /** The consequences. */
  children: ReactNode
}) {
  const act = useAct()
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p>{children}</p>
        {act.error !== null && <ErrorBox error={act.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep</Button>
          <Button kind="danger" busy={act.busy} onClick={() => void act.run(onConfirm)}>
            {word}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
