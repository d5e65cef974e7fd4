/** Removes the folders (/tmp and the like, and the agent's own) of sessions that can no longer be resumed. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeUntrusted } from '../../agents/remove-untrusted.ts'
import { SessionId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { Store } from '../../store/store.ts'
import { readDisposable } from './session-dir.ts'

export interface SweepSandboxesDeps {
  store: Pick<Store, 'getSession' | 'findLeaseHolder'>
  clock: Clock
  /** The directory with one folder per session. */
  sandboxes: string
  settings: { resume: Pick<ResumeLimits, 'maxAgeMs'> }
}

export async function sweepSandboxes({
  store,
  clock,
  sandboxes,
  settings,
}: SweepSandboxesDeps): Promise<void> {
  const oldest = clock.now().getTime() - settings.resume.maxAgeMs
  for (const name of await readdir(sandboxes).catch(() => [])) {
    const id = SessionId.schema.safeParse(name)
    if (!id.success) continue
    const session = await store.getSession(id.data)
    const isUsable = session !== null && session.lastUsedAt.getTime() >= oldest
    if (isUsable || (await store.findLeaseHolder(id.data)) !== null) continue
    const dir = join(sandboxes, name)
    // One that cannot be removed must not keep the others.
    for (const path of [...readDisposable(dir), dir]) await removeUntrusted(path).catch(() => {})
  }
}
