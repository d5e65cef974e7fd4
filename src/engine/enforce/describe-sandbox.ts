import type { SandboxStatus } from '../../contract/sandbox.ts'
import type { DetectedSandbox } from '../../process/sandbox/detect.ts'

export const describeSandbox = ({ means, refused }: DetectedSandbox): SandboxStatus => ({
  kind: means.kind,
  problems: refused.map(({ kind, message }) => `${kind}: ${message}`),
  advice: means.kind === 'none' ? (refused[0]?.advice ?? null) : null,
})
