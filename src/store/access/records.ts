import type { Scope, TokenKind } from '../../contract/access.ts'
import type { TokenId } from '../../contract/ids.ts'

export interface TokenRecord {
  id: TokenId
  kind: TokenKind
  name: string
  scope: Scope
  /** SHA-256 of the secret, in hex. */
  hash: string
  createdAt: Date
  lastUsedAt: Date | null
  lastUsedFrom: string | null
  expiresAt: Date | null
}

export interface AuditRecord {
  id: number
  at: Date
  tokenId: TokenId | null
  who: string
  from: string | null
  operation: string
  subject: string | null
  summary: string | null
}
