/** Imports a session that was exported here or on another machine. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client, isCode } from '../data/client.ts'
import { useAct } from '../parts/act.ts'
import { Button, Dialog, ErrorBox } from '../parts/base.tsx'
import { Field } from '../parts/form.tsx'

export function ImportButton() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Import…</Button>
      <Dialog title="Import a session" open={open} onClose={() => setOpen(false)}>
        <ImportForm />
      </Dialog>
    </>
  )
}

function ImportForm() {
  const act = useAct()
  const navigate = useNavigate()
  const [file, setFile] = useState<File | null>(null)
  const [workDir, setWorkDir] = useState('')
  const take = (asCopy: boolean) =>
    act.run(async () => {
      if (!file) return
      const options = { asCopy, ...(workDir.trim() ? { workDir: workDir.trim() } : {}) }
      const { session } = await client.importSession(file, options)
      await navigate({ to: '/sessions/$id', params: { id: session } })
    })
  const isKnown = isCode(act.error, 'conflict')
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void take(false)
      }}
    >
      <label>
        The exported file
        <input
          required
          type="file"
          className="mt-0.5 block w-full"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        />
      </label>
      <Field
        name="Directory in which it continues"
        note="that of the export otherwise, if it exists here"
        value={workDir}
        onChange={setWorkDir}
        mono
      />
      {act.error !== null && <ErrorBox error={act.error} />}
      <div className="flex justify-end gap-2">
        {isKnown && (
          <Button busy={act.busy} onClick={() => void take(true)}>
            Import as a copy
          </Button>
        )}
        <Button kind="main" type="submit" busy={act.busy} disabled={!file}>
          Import
        </Button>
      </div>
    </form>
  )
}
