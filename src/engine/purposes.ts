/** All purposes of runs, in the order in which they are asked whether they claim a run. */
import type { RunPurpose } from './base/purpose.ts'
import { Purposes } from './base/purposes.ts'
import { createTurnPurpose, type TurnPurposeDeps } from './conversations/purpose.ts'
import { createFollowUpPurpose } from './follow-ups/purpose.ts'
import { createJobPurpose, type JobPurposeDeps } from './jobs/purpose.ts'
import { createPlainPurpose, type PlainDeps } from './path/plain.ts'
import { createQueryPurpose, type QueryPurposeDeps } from './queries/purpose.ts'
import { createTierPurpose, type TierPurposeDeps } from './tiers/purpose.ts'

export type PurposesDeps = PlainDeps & TurnPurposeDeps & JobPurposeDeps & TierPurposeDeps & QueryPurposeDeps

/** Makes further purposes, which are asked first. They may build on `plain`, and on what the built-in ones use. */
export type FurtherPurposes = (plain: RunPurpose, deps: PurposesDeps) => readonly RunPurpose[]

export function createPurposes(deps: PurposesDeps, further: FurtherPurposes = () => []): Purposes {
  const plain = createPlainPurpose(deps)
  return new Purposes(
    [
      ...further(plain, deps),
      createTurnPurpose(deps, plain),
      createJobPurpose(deps, plain),
      createTierPurpose(deps, plain),
      createFollowUpPurpose(plain),
      createQueryPurpose(deps, plain),
    ],
    plain,
  )
}
