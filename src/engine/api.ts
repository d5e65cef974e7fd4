/** The engine's public interface. The server, and programs that embed Reprise, use nothing else of the engine. */
import type { Access, Caller } from './access/api.ts'
import type { AdoptEngine } from './adopt/adopt.ts'
import type { Changes } from './base/changes.ts'
import type { ConversationEngine } from './conversations/api.ts'
import type { FollowUpEngine } from './follow-ups/api.ts'
import type { JobEngine } from './jobs/api.ts'
import type { MessageEngine } from './messages/api.ts'
import type { OverviewEngine } from './overview/api.ts'
import type { ReferenceEngine } from './references/api.ts'
import type { RunEngine } from './runs/api.ts'
import type { TransferEngine } from './transfer/api.ts'
import type { TrustEngine } from './trust/api.ts'
import type { WatchEngine } from './watches/api.ts'

export type { Access, Caller, Changes }

export interface Engine
  extends RunEngine,
    AdoptEngine,
    ConversationEngine,
    JobEngine,
    WatchEngine,
    FollowUpEngine,
    MessageEngine,
    OverviewEngine,
    ReferenceEngine,
    TransferEngine,
    TrustEngine {}
