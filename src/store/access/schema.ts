/** The tables of tokens and of the record of who did what. */
import type { Scope, TokenKind } from '../../contract/access.ts'
import type { TokenId } from '../../contract/ids.ts'

export interface TokensTable {
  id: TokenId
  kind: TokenKind
  name: string
  scope: Scope
  /** SHA-256 of the secret, in hex. The secret itself is not stored. */
  hash: string
  created_at: number
  last_used_at: number | null
  last_used_from: string | null
  expires_at: number | null
}

export interface AuditTable {
  id: number
  at: number
  token_id: TokenId | null
  who: string
  from_address: string | null
  operation: string
  subject: string | null
  summary: string | null
}

declare module '../base/schema.ts' {
  interface Tables {
    tokens: TokensTable
    audit: AuditTable
  }
}
