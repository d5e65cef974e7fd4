/** Parses what the CLI asks: permission to run a tool, questions to the user, and what to remember after a compaction. */
import { type EventBody, QuestionItem } from '../../contract/events.ts'
import { describeClaudeTool, QUESTION } from './describe-tool.ts'
import { parseReminderAsk } from './reminder.ts'
import { isRecord, type Json, optionalString } from './wire.ts'

export function parseControlRequest(value: Json): EventBody[] | undefined {
  const { request } = value
  if (!isRecord(request) || typeof value.request_id !== 'string') return undefined
  const requestId = value.request_id
  if (request.subtype === 'can_use_tool' && typeof request.tool_name === 'string') {
    const toolUseId = typeof request.tool_use_id === 'string' ? request.tool_use_id : requestId
    const questions = request.tool_name === QUESTION ? readQuestions(request.input) : undefined
    if (questions) return [{ type: 'question-ask', requestId, toolUseId, questions }]
    return [
      {
        type: 'permission-ask',
        requestId,
        toolUseId,
        tool: request.tool_name,
        input: request.input,
        via: 'prompt',
        ...describeClaudeTool(request.tool_name, request.input),
      },
    ]
  }
  if (request.subtype === 'hook_callback' && isRecord(request.input)) {
    const reminder = parseReminderAsk(requestId, request.input)
    if (reminder) return [reminder]
    const { tool_name: tool, tool_input: input, tool_use_id, cwd } = request.input
    if (typeof tool !== 'string') return undefined
    const toolUseId = typeof tool_use_id === 'string' ? tool_use_id : requestId
    const workDir = optionalString('workDir', cwd)
    const described = describeClaudeTool(tool, input)
    return [
      { type: 'permission-ask', requestId, toolUseId, tool, input, via: 'hook', ...workDir, ...described },
    ]
  }
  return undefined
}

function readQuestions(input: unknown): QuestionItem[] | undefined {
  const parsed = QuestionItem.array().safeParse(isRecord(input) ? input.questions : undefined)
  return parsed.success ? parsed.data : undefined
}
