/** What an agent asks of a scheduler with its own tools, in words of ours. */
export type SchedulingCall =
  | {
      kind: 'create'
      prompt: string
      reason: string | null
      when: { cron: string; recurring: boolean } | { inMs: number }
    }
  | { kind: 'list' }
  | { kind: 'delete'; id: string }
  /** It is one of those calls, but what it asks for cannot be told. */
  | { kind: 'unclear'; problem: string }
