/** The public interface of tokens and sign-ins. */
import type {
  AuditEntry,
  CreatedToken,
  CreateSignInLink,
  CreateToken,
  Scope,
  Token,
  TokenKind,
} from '../../contract/access.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { TokenId } from '../../contract/ids.ts'

/** The token that a request was made with. */
export interface Caller {
  tokenId: TokenId | null
  name: string
  scope: Scope
  kind: TokenKind
}

/** The credentials of a request: a bearer token, or the two parts of a browser's sign-in. */
export interface Shown {
  bearer?: string | undefined
  cookie?: string | undefined
  pageKey?: string | undefined
}

export interface Recorded extends Omit<AuditEntry, 'id' | 'at'> {}

export interface SignedInPage {
  token: Token
  cookie: string
  pageKey: string
  lastsMs: number
  caller: Caller
}

export interface Access {
  /** null: the credentials are not valid. `from` is the address of the sender. */
  authenticate: (shown: Shown, from: string | null) => Caller | null
  createLink: (request: CreateSignInLink) => Promise<{ code: string; expiresAt: string }>
  /** null: the link is unknown, expired, or was used before. */
  signIn: (code: string, by: { from: string | null; browser: string }) => Promise<SignedInPage | null>
  list: (current: TokenId | null) => Token[]
  create: (request: CreateToken) => Promise<CreatedToken>
  revoke: (id: TokenId) => Promise<void>
  rotate: (id: TokenId, current: TokenId | null) => Promise<CreatedToken>
  record: (entry: Recorded) => Promise<void>
  listAudit: (query: ListQuery & { subject?: string | undefined }) => Promise<Page<AuditEntry>>
}
