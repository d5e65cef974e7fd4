/** Answers to the questions of the CLI's control protocol, and the messages that end a process. */
import type { EventOf } from '../../contract/events.ts'
import type { StopCause, ToolAnswer } from '../adapter.ts'
import type { Message } from '../protocol.ts'
import { controlRequest } from './plan.ts'

type Ask = EventOf<'permission-ask'> | EventOf<'question-ask'>

const DENIED = 'The person supervising this run refused this tool call.'

export function answerClaude(ask: Ask, answer: ToolAnswer): Message {
  const response = {
    type: 'control_response',
    response: { subtype: 'success', request_id: ask.requestId, response: replyTo(ask, answer) },
  }
  return { id: `answer-${ask.requestId}`, line: JSON.stringify(response) }
}

function replyTo(ask: Ask, answer: ToolAnswer): object {
  const allowed = answer.decision !== 'deny'
  const message = answer.message || DENIED
  if (ask.type === 'question-ask') {
    // The CLI expects its own input back, with the answers by question text.
    if (!allowed) return { behavior: 'deny', message }
    return { behavior: 'allow', updatedInput: { questions: ask.questions, answers: answer.answers ?? {} } }
  }
  if (ask.via === 'hook') {
    if (answer.decision === 'pass') return {}
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: allowed ? 'allow' : 'deny',
        permissionDecisionReason: allowed ? 'allowed through Reprise' : message,
        ...(allowed && answer.updatedInput ? { updatedInput: answer.updatedInput } : {}),
      },
    }
  }
  const { updatedInput = ask.input, native } = answer
  return { ...native, ...(allowed ? { behavior: 'allow', updatedInput } : { behavior: 'deny', message }) }
}

/**
 * After its turn the process waits for more input until it is told to end. A cancelled process is interrupted, which
 * the session records. For every other cause no message is sent and stdin stays open: when stdin closes, the CLI
 * refuses whatever it is waiting for in the user's name, continues, and reports success.
 */
export function farewellClaude(cause: StopCause | 'done') {
  const end = { id: 'end', line: controlRequest('reprise-end', { subtype: 'end_session' }) }
  if (cause === 'done' || cause === 'hung-after-result') return { messages: [end], closeInput: true }
  if (cause !== 'cancelled') return { messages: [], closeInput: false }
  const interrupt = { id: 'interrupt', line: controlRequest('reprise-interrupt', { subtype: 'interrupt' }) }
  return { messages: [interrupt, end], closeInput: false }
}
