/** A call of an agent's own scheduling tool, in terms of Reprise. */
export type SchedulingCall =
  | {
      kind: 'create'
      prompt: string
      reason: string | null
      when: { cron: string; recurring: boolean } | { inMs: number }
    }
  | { kind: 'list' }
  | { kind: 'delete'; id: string }
  /** A scheduling call whose input cannot be understood. */
  | { kind: 'unclear'; problem: string }
