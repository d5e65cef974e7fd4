/** The calls about tokens and sign-ins, and the record of who did what. */
import type {
  AuditEntry,
  CreatedToken,
  CreateSignInLink,
  CreateToken,
  SignedIn,
  SignInLink,
  Token,
} from '../contract/access.ts'
import type { Page } from '../contract/http.ts'
import type { PageOptions, Request } from './request.ts'

export interface AccessCalls {
  /** A link that signs a browser in, once. */
  createSignInLink: (request?: CreateSignInLink) => Promise<SignInLink>
  /** For the daemon's own page: sets its cookie. */
  signIn: (code: string) => Promise<SignedIn>
  signOut: () => Promise<void>
  listTokens: () => Promise<Token[]>
  createToken: (request: CreateToken) => Promise<CreatedToken>
  revokeToken: (id: string) => Promise<void>
  rotateToken: (id: string) => Promise<CreatedToken>
  /** Newest first. `subject` is the id of a run, a job, … */
  listAudit: (options?: PageOptions & { subject?: string | undefined }) => Promise<Page<AuditEntry>>
}

export function accessCalls(request: Request): AccessCalls {
  return {
    createSignInLink: (body = {}) => request('createSignInLink', { body }),
    signIn: (code) => request('signIn', { body: { code } }),
    signOut: () => request('signOut'),
    listTokens: async () => (await request('listTokens')).items,
    createToken: (body) => request('createToken', { body }),
    revokeToken: (id) => request('revokeToken', { params: { id } }),
    rotateToken: (id) => request('rotateToken', { params: { id } }),
    listAudit: (query) => request('listAudit', { query }),
  }
}
