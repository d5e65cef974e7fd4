/** The table of decisions about directories. */
export interface TrustDecisionsTable {
  dir: string
  decision: 'trust' | 'decline'
  digest: string
  /** JSON. */
  files: string
  decided_at: number
}

declare module '../base/schema.ts' {
  interface Tables {
    trust_decisions: TrustDecisionsTable
  }
}
