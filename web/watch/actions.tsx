/** The actions on a watch. */
import { useNavigate } from '@tanstack/react-router'
import type { Watch } from '../../src/contract/watch.ts'
import { client } from '../data/client.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox } from '../parts/base.tsx'

export function WatchActions({ watch }: { watch: Watch }) {
  const act = useAct()
  const navigate = useNavigate()
  const trigger = () =>
    act.run(async () => {
      const { cycleId } = await client.triggerWatch(watch.id)
      if (cycleId) await navigate({ to: '/cycles/$id', params: { id: cycleId } })
    })
  return (
    <span className="relative z-10 flex items-center gap-2">
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
    </span>
  )
}
