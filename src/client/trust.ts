/** The calls about trust in directories. */
import type { DecideTrust, DirectoryTrust, TrustedDirectory } from '../contract/trust.ts'
import type { Request } from './request.ts'

export interface TrustCalls {
  /** Tells what the files of a directory would allow or start, and whether a person has trusted them. */
  inspectTrust: (dir: string) => Promise<DirectoryTrust>
  listTrust: () => Promise<TrustedDirectory[]>
  decideTrust: (request: DecideTrust) => Promise<DirectoryTrust>
  revokeTrust: (dir: string) => Promise<void>
}

export function trustCalls(request: Request): TrustCalls {
  return {
    inspectTrust: (dir) => request('inspectTrust', { query: { dir } }),
    listTrust: async () => (await request('listTrust')).items,
    decideTrust: (body) => request('decideTrust', { body }),
    revokeTrust: (dir) => request('revokeTrust', { query: { dir } }),
  }
}
