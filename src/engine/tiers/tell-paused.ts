/** What people are told of a run at a tier that is paused until one of them makes it go on. */
import { noticeOfChain } from '../../core/notify/chain.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { RunRecord } from '../../store/base/records.ts'
import type { EngineParts } from '../parts.ts'

/** Whoever asked for a run at no tier follows it, and is told by the run itself. */
export async function noticesOfPause(
  { store, notifications }: Pick<EngineParts, 'store' | 'notifications'>,
  run: RunRecord,
  why: string,
): Promise<PlannedNotification[]> {
  const { tier } = run.links
  if (tier === null) return []
  const root = (await store.listChain(run.id))[0] ?? run
  const notice = noticeOfChain({
    id: root.id,
    runId: run.id,
    state: 'paused',
    message: why,
    tier,
    toTier: null,
    expiresAt: null,
    status: null,
    summary: '',
    services: [],
    prompt: root.prompt,
    workDir: run.workDir,
  })
  return notice ? notifications.plan(notice, null) : []
}
