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
  /** Aborted when the token is revoked, replaced or expires. */
  ended: AbortSignal
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

/** Every change names the caller who asks for it; null: the daemon itself. */
export interface Access {
  /** null: the credentials are not valid. `from` is the address of the sender. */
  authenticate: (shown: Shown, from: string | null) => Caller | null
  createLink: (request: CreateSignInLink, by: Caller | null) => Promise<{ code: string; expiresAt: string }>
  /** null: the link is unknown, expired, or was used before. */
  signIn: (code: string, by: { from: string | null; browser: string }) => Promise<SignedInPage | null>
  list: (current: TokenId | null) => Token[]
  create: (request: CreateToken, by: Caller | null) => Promise<CreatedToken>
  revoke: (id: TokenId, by: Caller | null) => Promise<void>
  /** If the token of the command line is replaced, all other tokens, sign-ins and links end, too. */
  rotate: (id: TokenId, by: Caller | null) => Promise<CreatedToken>
  record: (entry: Recorded) => Promise<void>
  listAudit: (query: ListQuery & { subject?: string | undefined }) => Promise<Page<AuditEntry>>
}
