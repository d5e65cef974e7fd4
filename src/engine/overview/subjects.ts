/** The purposes of runs, with titles for people. */
import type { Subject } from '../../contract/overview.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export type SubjectStore = Pick<Store, 'getConversation' | 'getCycle' | 'getWatch'>

const TITLE_CHARS = 120

export const firstLine = (text: string) => text.trim().split('\n', 1)[0]?.slice(0, TITLE_CHARS) ?? ''

/** Remembers what it has looked up, so that one overview asks for each conversation and watch once. */
export function createSubjects(store: SubjectStore): (run: RunRecord) => Promise<Subject> {
  const known = new Map<string, Promise<string | null>>()
  const once = (id: string, read: () => Promise<string | null>) => {
    const title = known.get(id) ?? read()
    known.set(id, title)
    return title
  }
  return async ({ id, prompt, links: { jobId, conversationId, cycleId } }) => {
    if (jobId !== null) return { kind: 'job', id: jobId, title: firstLine(prompt) }
    if (conversationId !== null) {
      const title = await once(
        conversationId,
        async () => (await store.getConversation(conversationId))?.title ?? null,
      )
      if (title !== null)
        return { kind: 'conversation', id: conversationId, title: title || firstLine(prompt) }
    }
    if (cycleId !== null) {
      const title = await once(cycleId, async () => {
        const cycle = await store.getCycle(cycleId)
        const watch = cycle && (await store.getWatch(cycle.watchId))
        return cycle && `${watch?.name ?? 'watch'} #${cycle.number}`
      })
      if (title !== null) return { kind: 'cycle', id: cycleId, title }
    }
    return { kind: 'run', id, title: firstLine(prompt) }
  }
}
