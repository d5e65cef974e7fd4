/** The public interface of trust in directories. */
import type { DecideTrust, DirectoryTrust, TrustedDirectory } from '../../contract/trust.ts'

export interface TrustEngine {
  inspectTrust: (dir: string) => Promise<DirectoryTrust>
  listTrust: () => Promise<TrustedDirectory[]>
  /** Throws `conflict` if the content is not the one that the person was shown. */
  decideTrust: (request: DecideTrust) => Promise<DirectoryTrust>
  revokeTrust: (dir: string) => Promise<void>
}
