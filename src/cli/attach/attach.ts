/** Shows a job, run, conversation, chain or cycle from its beginning, then live, until it ends or the person leaves. */
import { RepriseError } from '../../contract/errors.ts'
import { parseReference, type Referable, shortId } from '../../contract/reference.ts'
import { type CliContext, notify } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import { followJob } from '../jobs/follow.ts'
import { type Attachment, attach } from '../run/attachment.ts'
import { followChain } from '../run/follow-chain.ts'
import { firstLine, styleFor, widthOf } from '../terminal/terminal.ts'
import { followCycle } from '../watches/follow-cycle.ts'
import { followConversation } from './conversation.ts'
import { followRun } from './run.ts'

/** Something that can be attached to: how it is shown, followed and cancelled. */
interface Subject {
  noun: string
  id: string
  title: string
  cancel: () => Promise<unknown>
  follow: (attachment: Attachment) => Promise<void>
}

export async function attachTo(ask: AskDaemon, text: string, context: CliContext): Promise<void> {
  const { id, kind } = await find(ask, text)
  const subject = await subjectOf(ask, kind, id, context)
  const style = styleFor(context.stderr, context.env)
  if (!context.json) {
    const heading = `${shortId(subject.id)}  ${firstLine(subject.title, widthOf(context.stderr) - 14)}`
    notify(context, style.bold(style.safe(heading)))
  }
  const attachment = attach({ noun: subject.noun, cancel: subject.cancel }, context)
  try {
    await subject.follow(attachment)
  } finally {
    attachment.close()
  }
  if (!attachment.left.aborted) return
  if (!context.json) {
    notify(
      context,
      style.dim(`left; the ${subject.noun} continues. Come back with: reprise attach ${shortId(subject.id)}`),
    )
  }
  context.exitCode = EXIT.interrupted
}

/** The name of a watch means its open or newest cycle. */
async function find(ask: AskDaemon, text: string): Promise<{ id: string; kind: Referable }> {
  if (parseReference(text)) {
    try {
      return await ask((client) => client.resolveId(text))
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'not-found' || text.includes('_')) throw error
      if (text === 'last') throw error
    }
  }
  return { kind: 'watch', id: (await ask((client) => client.getWatch(text))).id }
}

async function subjectOf(ask: AskDaemon, kind: Referable, id: string, context: CliContext): Promise<Subject> {
  switch (kind) {
    case 'job': {
      const job = await ask((client) => client.getJob(id))
      return {
        noun: 'job',
        id,
        title: job.prompt,
        cancel: () => ask((client) => client.cancelJob(id)),
        follow: async (attachment) =>
          followJob(await ask(async (client) => client), job, context, { attachment }),
      }
    }
    case 'conversation': {
      const { title, workDir } = await ask((client) => client.getConversation(id))
      return {
        noun: 'conversation',
        id,
        title: title || workDir,
        cancel: () => cancelNewestRun(ask, id),
        follow: (attachment) => followConversation(ask, id, context, attachment),
      }
    }
    case 'cycle':
      return ofCycle(ask, id, context)
    case 'watch': {
      const { openCycleId, lastCycle, name } = await ask((client) => client.getWatch(id))
      const cycleId = openCycleId ?? lastCycle?.id
      if (cycleId) return ofCycle(ask, cycleId, context)
      throw new RepriseError('not-found', `the watch ${name} has no cycle yet`, {
        hint: `Start one now with: reprise watch trigger ${name} --follow`,
      })
    }
    case 'session':
    case 'follow-up': {
      const { id: runId } = await ask((client) => client.resolveId(id, 'run'))
      return subjectOf(ask, 'run', runId, context)
    }
    case 'run':
      return ofRun(ask, id, context)
  }
}

async function ofCycle(ask: AskDaemon, id: string, context: CliContext): Promise<Subject> {
  const { watch, number } = await ask((client) => client.getCycle(id))
  return {
    noun: 'cycle',
    id,
    title: `${watch}, cycle ${number}`,
    cancel: () => ask((client) => client.cancelCycle(id)),
    follow: (attachment) => followCycle(ask, id, context, attachment),
  }
}

/** A run is shown with what it belongs to: its job, conversation, cycle, or the other tiers. */
async function ofRun(ask: AskDaemon, id: string, context: CliContext): Promise<Subject> {
  const run = await ask((client) => client.getRun(id))
  if (run.jobId !== null) return subjectOf(ask, 'job', run.jobId, context)
  if (run.conversationId !== null) return subjectOf(ask, 'conversation', run.conversationId, context)
  if (run.cycleId !== null) return ofCycle(ask, run.cycleId, context)
  const root = run.tier === null ? null : ((await ask((client) => client.getChain(id))).runs[0]?.id ?? id)
  return {
    noun: root === null ? 'run' : 'investigation',
    id: root ?? id,
    title: run.prompt,
    cancel: () => ask((client) => client.cancelRun(root ?? id)),
    follow: (attachment) =>
      root === null ? followRun(ask, id, context, attachment) : followChain(ask, root, context, attachment),
  }
}

/** A conversation itself does not end; what is cancelled is the answer that is being written. */
async function cancelNewestRun(ask: AskDaemon, conversationId: string): Promise<void> {
  const [run] = (await ask((client) => client.listRuns({ conversationId, limit: 1 }))).items
  if (run) await ask((client) => client.cancelRun(run.id))
}
